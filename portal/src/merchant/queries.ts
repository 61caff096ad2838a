/** Queries of the merchant's pages. A change of a campaign invalidates all of them: `useCampaignChanged`. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api, versioned } from '../api/client.ts'
import type { paths } from '../api/schema/perkline.ts'
import { useCampaignChanged as useChanged } from '../campaigns/detail/use-action.ts'
import { type HomeParams, partnersHomeQuery } from '../campaigns/home/query.ts'
import { groups } from '../campaigns/list/campaign-groups.ts'
import { periodParams } from '../campaigns/list/period-params.ts'
import type { CampaignDetails } from '../campaigns/types.ts'
import type { CampaignsSearch } from './search.ts'

export const homeQuery = (params?: HomeParams) => partnersHomeQuery('merchant', params)

export type ListedCampaign =
  paths['/cashbacks/for-merchant']['get']['responses'][200]['content']['application/json']['data'][number]

/** @param timeZone the time zone of the days in the filters */
export const campaignsQuery = (search: CampaignsSearch, timeZone: string, pageSize: number) =>
  queryOptions({
    queryKey: ['merchant', 'campaigns', search, timeZone, pageSize],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const { name, group, status, page, sortBy, sortOrder } = search
      const query = {
        ...(name && { name }),
        ...(group && { generalStatus: group }),
        ...(status && { status }),
        ...periodParams(search, timeZone),
        pageSize,
        ...(page && { page }),
        ...(sortBy && { sortBy, sortOrder: sortOrder ?? 'ASC' }),
      }
      return answer(api.GET('/cashbacks/for-merchant', { params: { query }, signal }))
    },
  })

/** The filters of the list, as parameters of the platform's export. */
export const exportParams = (search: CampaignsSearch, timeZone: string) => ({
  ...(search.name && { name: search.name }),
  ...(search.status ? { status: search.status } : search.group && { status: groups[search.group] }),
  ...periodParams(search, timeZone),
})

export type ReadCampaign = CampaignDetails

/** One campaign, with its version for an edit. */
export const campaignQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['merchant', 'campaign', cashbackId],
    queryFn: ({ signal }): Promise<ReadCampaign> =>
      versioned(api.GET('/cashbacks/for-merchant/{cashbackId}', { params: { path: { cashbackId } }, signal })),
  })

/** The banks that may be invited. */
export const banksQuery = queryOptions({
  queryKey: ['merchant', 'banks'],
  staleTime: 60_000,
  queryFn: ({ signal }) => answer(api.GET('/cashbacks/for-merchant/banks', { signal })),
})

/** After a change of a campaign, reads again everything that shows this campaign. */
export const useCampaignChanged = (): ((cashbackId: string) => Promise<void>) => useChanged('merchant')
