/** Queries of the audit log page. Entries are read below `/partner/v1`. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import type { components } from '../../api/schema/partner.ts'
import { periodOfDays } from '../../i18n/time-zone.ts'
import type { AuditLogFilters } from './search.ts'

export type Entry = components['schemas']['AuditEntry']
export type Checkpoint = components['schemas']['AuditCheckpoint']

/** The filters' days as parameters of the API. @param timeZone the zone of these days */
const spanParams = ({ from, to }: AuditLogFilters, timeZone: string) => ({
  ...(from && { from: periodOfDays(from, from, timeZone).dateFrom }),
  ...(to && { to: periodOfDays(to, to, timeZone).dateTo }),
})

/** Entries page by page, the newest first. */
export const entriesQuery = (filters: AuditLogFilters, timeZone: string) =>
  infiniteQueryOptions({
    queryKey: ['account', 'audit-log', filters, timeZone],
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn({ pageParam, signal }) {
      const { from, to, ...others } = filters
      const defined = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
      const query = {
        ...defined,
        ...spanParams({ from, to }, timeZone),
        limit: 50,
        ...(pageParam && { cursor: pageParam }),
      }
      return answer(api.GET('/partner/v1/audit-log', { params: { query }, signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** The address from which the log of these days can be downloaded. */
export function exportPath(filters: AuditLogFilters, timeZone: string): string {
  const account = filters.account ? { account: filters.account } : {}
  return `/partner/v1/audit-log.jsonl?${new URLSearchParams({ ...spanParams(filters, timeZone), ...account })}`
}

/** The newest checkpoint; null: there is none yet. */
export const checkpointQuery = queryOptions({
  queryKey: ['account', 'checkpoint'],
  async queryFn({ signal }): Promise<Checkpoint | null> {
    const { data } = await answer(
      api.GET('/partner/v1/audit-log/checkpoints', { params: { query: { limit: 1 } }, signal }),
    )
    return data[0] ?? null
  },
})

/** The people of all accounts; only the platform's people may read them. */
export const allPeopleQuery = queryOptions({
  queryKey: ['account', 'all-people'],
  queryFn: ({ signal }) => answer(api.GET('/admin/users', { signal })),
})
