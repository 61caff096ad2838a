import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import type { CampaignDetails } from '../campaigns/types.ts'
import type { AccountType } from '../session/session.ts'

const pageSize = 5

/** The field `retailer` is missing in a merchant's own list. */
export type FoundCampaign = Pick<CampaignDetails, 'cashbackId' | 'name' | 'status' | 'dateFrom' | 'dateTo'> & {
  retailer?: { name: string; nameEn: string | null }
}

/** A few campaigns with this text in their name, newest first, from the person's own list. */
export const foundCampaignsQuery = (typeAccount: AccountType, name: string) =>
  queryOptions({
    queryKey: ['found-campaigns', typeAccount, name],
    placeholderData: keepPreviousData,
    async queryFn({ signal }): Promise<FoundCampaign[]> {
      const newest = { sortBy: 'createdAt', sortOrder: 'DESC' } as const
      if (typeAccount === 'retailer') {
        const query = { name, pageSize }
        return (await answer(api.GET('/cashbacks/for-merchant', { params: { query }, signal }))).data
      }
      if (typeAccount === 'bank') {
        const query = { name, page: 1, pageSize, ...newest }
        return (await answer(api.GET('/portal/cashbacks', { params: { query }, signal }))).data
      }
      const query = { search: name, page: 1, pageSize }
      return (await answer(api.GET('/admin/campaigns', { params: { query }, signal }))).data
    },
  })
