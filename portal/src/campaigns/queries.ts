/** What every area reads of a campaign beside its own list. */
import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

/** Changes of a campaign invalidate `['campaigns', cashbackId]`. */
export const historyQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'history'],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/history', { params: { path: { cashbackId } }, signal })),
  })

export const reconciliationQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'reconciliation'],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/reconciliation', { params: { path: { cashbackId } }, signal })),
  })

export const terminalsQuery = (
  cashbackId: string,
  { page, find, since }: { page: number; find?: string | undefined; since?: string | undefined },
) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'terminals', { page, find, since }],
    queryFn({ signal }) {
      const query = { page, pageSize: 50, ...(find && { search: find }), ...(since && { since }) }
      return answer(
        api.GET('/portal/cashbacks/{cashbackId}/terminals', { params: { path: { cashbackId }, query }, signal }),
      )
    },
  })

export const segmentQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'segment'],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/segment', { params: { path: { cashbackId } }, signal })),
  })

/** Countries and payment systems: they hardly ever change. */
export const directoryQuery = queryOptions({
  queryKey: ['directory'],
  staleTime: 10 * 60_000,
  queryFn: ({ signal }) => answer(api.GET('/portal/directory', { signal })),
})
