/** Queries of the bank's pages. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api, versioned } from '../api/client.ts'
import { useCampaignChanged as useChanged } from '../campaigns/detail/use-action.ts'
import { type HomeParams, partnersHomeQuery } from '../campaigns/home/query.ts'
import { groups } from '../campaigns/list/campaign-groups.ts'
import { periodParams } from '../campaigns/list/period-params.ts'
import type { ProfileSearch } from '../ui/profile-search.ts'
import type { CampaignsSearch, OrdersSearch } from './search.ts'

export const homeQuery = (params?: HomeParams) => partnersHomeQuery('bank', params)

/** @param timeZone the time zone of the days in the filters */
export const campaignsQuery = (search: CampaignsSearch, timeZone: string, pageSize: number) =>
  queryOptions({
    queryKey: ['bank', 'campaigns', search, timeZone, pageSize],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const { page = 1, after, sortBy, sortOrder = 'ASC' } = search
      const query = {
        ...exportParams(search, timeZone),
        page,
        pageSize,
        ...(after && { after }),
        ...(sortBy ? ({ sortBy, sortOrder } as const) : ({ sortBy: 'createdAt', sortOrder: 'DESC' } as const)),
      }
      return answer(api.GET('/portal/cashbacks', { params: { query }, signal }))
    },
  })

/** The filters, as parameters of the list and of the platform's export. */
export const exportParams = (search: CampaignsSearch, timeZone: string) => ({
  ...(search.name && { name: search.name }),
  ...(search.group && { status: [...groups[search.group]] }),
  ...(search.decision && { bankStatus: [search.decision] }),
  ...(search.author && { createdByType: search.author }),
  ...periodParams(search, timeZone),
})

export const campaignQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['bank', 'campaign', cashbackId],
    queryFn: ({ signal }) =>
      versioned(api.GET('/portal/cashbacks/{cashbackId}', { params: { path: { cashbackId } }, signal })),
  })

/** After a change of a campaign, reads again everything that shows this campaign. */
export const useCampaignChanged = (): ((cashbackId: string) => Promise<void>) => useChanged('bank')

/** The merchants for which the bank can create a campaign. */
export const retailersQuery = queryOptions({
  queryKey: ['bank', 'retailers'],
  staleTime: 60_000,
  queryFn: ({ signal }) => answer(api.GET('/retailers', { signal })),
})

export const stockQuery = queryOptions({
  queryKey: ['bank', 'stock'],
  queryFn: ({ signal }) => answer(api.GET('/portal/esim/stock', { signal })),
})

/**
 * Sales figures of the given days, or of the last 30 days. The days begin at midnight in the time zone of the bank's
 * statements; the answer contains this time zone.
 */
export const salesQuery = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  queryOptions({
    queryKey: ['bank', 'sales', { from, to }],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const query = { ...(from && { from }), ...(to && { to }) }
      return answer(api.GET('/portal/esim/sales', { params: { query }, signal }))
    },
  })

/** The statement that will be closed next. The read fails for a bank that has not sold anything yet. */
export const openStatementQuery = queryOptions({
  queryKey: ['bank', 'statements', 'open'],
  queryFn: ({ signal }) => answer(api.GET('/partner/v1/statements/open', { signal })),
  refetchInterval: 60_000,
})

/**
 * The statements of at most a month, so that one page contains all of them. Like `openStatementQuery`, it is read again
 * every minute, because the open day may be closed meanwhile.
 */
export const statementsQuery = (days: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['bank', 'statements', days],
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
    queryFn: ({ signal }) => answer(api.GET('/partner/v1/statements', { params: { query: days }, signal })),
  })

export const statementQuery = (statementId: string) =>
  queryOptions({
    queryKey: ['bank', 'statement', statementId],
    queryFn: ({ signal }) =>
      answer(api.GET('/partner/v1/statements/{statementId}', { params: { path: { statementId } }, signal })),
  })

export const statementLinesQuery = (statementId: string) =>
  infiniteQueryOptions({
    queryKey: ['bank', 'statement', statementId, 'lines'],
    initialPageParam: '',
    queryFn({ pageParam, signal }) {
      const query = pageParam ? { cursor: pageParam } : {}
      return answer(
        api.GET('/partner/v1/statements/{statementId}/lines', { params: { path: { statementId }, query }, signal }),
      )
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/**
 * The parameters of the search.
 * @param timeZone the time zone of the days
 */
export function ordersParams(search: Omit<OrdersSearch, 'page'>, timeZone: string) {
  const { externalId, exact, orderId, status, operator, tariff } = search
  return {
    ...(externalId && { externalId, ...(exact && { exact: true }) }),
    ...(orderId && { orderId: orderId.toLowerCase() }),
    ...(status && { status }),
    ...(tariff && { tariffCode: tariff, ...(operator && { operatorCode: operator }) }),
    ...periodParams(search, timeZone),
  }
}

/** One order. The read fails with 404 when the bank has no order with that id. */
export const orderQuery = (orderId: string) =>
  queryOptions({
    queryKey: ['bank', 'order', orderId],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/esim/orders/{orderId}', { params: { path: { orderId } }, signal })),
  })

/** Finds the bank's orders that hold the profile with this phone number or ICCID now. */
export const searchByProfile = async (body: ProfileSearch) =>
  (await answer(api.POST('/portal/esim/orders/search', { body }))).data

/** Orders, newest first; each further page continues where the previous one ended. */
export const ordersQuery = (search: Omit<OrdersSearch, 'page'>, timeZone: string) =>
  infiniteQueryOptions({
    queryKey: ['bank', 'orders', search, timeZone],
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn({ pageParam, signal }) {
      const query = { ...ordersParams(search, timeZone), limit: 50, ...(pageParam && { cursor: pageParam }) }
      return answer(api.GET('/portal/esim/orders', { params: { query }, signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
