/**
 * Queries about one campaign, for the pages of banks, merchants and the operator, and the directory of countries and payment
 * systems. The queries for lists of campaigns are in each area.
 */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api, linked, versioned } from '../api/client.ts'
import type { DifferenceSearch } from './reconciliation/difference-search.ts'
import type { ReconciledBank } from './types.ts'

/**
 * The history, the newest entries first, page by page. It is read again after a change of the campaign, which invalidates all keys
 * below `['campaigns', cashbackId]`.
 */
export const historyQuery = (cashbackId: string) =>
  infiniteQueryOptions({
    queryKey: ['campaigns', cashbackId, 'history'],
    initialPageParam: null as string | null,
    queryFn({ pageParam, signal }) {
      const params = { path: { cashbackId }, query: beforeOf(pageParam) }
      return linked(api.GET('/portal/cashbacks/{cashbackId}/history', { params, signal }))
    },
    getNextPageParam: ({ next }) => next,
  })

/** The query parameter that selects a page of a history. @param next where the page begins; null: at the newest entry */
export const beforeOf = (next: string | null): { before?: string } => (next === null ? {} : { before: next })

/** The time and the comment of each bank's decision on a campaign. */
export const decisionsQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'decisions'],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/decisions', { params: { path: { cashbackId } }, signal })),
  })

export const reconciliationQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'reconciliation'],
    async queryFn({ signal }) {
      const read = api.GET('/portal/cashbacks/{cashbackId}/reconciliation', {
        params: { path: { cashbackId } },
        signal,
      })
      const { etag, banks, ...rest } = await versioned(read)
      return { ...rest, etag, banks: banks.map(bank => ({ ...bank, etag })) }
    },
  })

/**
 * Reads one page of the differences between the reports of the merchant and a bank.
 *
 * @param input.bank the bank and its reports. After a new report, the query has another key, so the differences are
 *   read again
 */
export const differencesQuery = ({ cashbackId, bank, search }: DifferencesInput) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'differences', bank.id, bank.reports.at(-1)?.reportId, search],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const { page = 1, kind, find } = search
      const query = { page, pageSize: 25, ...(kind && { kind }), ...(find && { search: find }) }
      const path = { cashbackId, bankId: bank.id }
      return answer(
        api.GET('/portal/cashbacks/{cashbackId}/banks/{bankId}/differences', { params: { path, query }, signal }),
      )
    },
  })

type DifferencesInput = {
  cashbackId: string
  bank: Pick<ReconciledBank, 'id' | 'reports'>
  search: DifferenceSearch
}

/** The settlement act with one bank. */
export const settlementActQuery = ({ cashbackId, bankId }: { cashbackId: string; bankId: string }) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'settlement-act', bankId],
    queryFn({ signal }) {
      const params = { path: { cashbackId }, query: { bankId } }
      return answer(api.GET('/portal/cashbacks/{cashbackId}/settlement-act', { params, signal }))
    },
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

/** Reads all terminals of a campaign that has its own list of terminals. */
export const ownTerminalsQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'own-terminals'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/own-terminals', { params: { path: { cashbackId } }, signal })),
  })

export const segmentQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['campaigns', cashbackId, 'segment'],
    queryFn: ({ signal }) =>
      answer(api.GET('/portal/cashbacks/{cashbackId}/segment', { params: { path: { cashbackId } }, signal })),
  })

/** Countries and payment systems, which hardly ever change. */
export const directoryQuery = queryOptions({
  queryKey: ['directory'],
  staleTime: 10 * 60_000,
  queryFn: ({ signal }) => answer(api.GET('/portal/directory', { signal })),
})
