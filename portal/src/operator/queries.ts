/**
 * Queries of the operator's pages. A change of partners, tariffs or access invalidates all of `['operator']`:
 * `useOperatorChanged`.
 */
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answer, api, linked } from '../api/client.ts'
import { isApiError } from '../api/errors.ts'
import type { paths } from '../api/schema/operator.ts'
import { beforeOf } from '../campaigns/queries.ts'
import { periodOfDays } from '../i18n/time-zone.ts'
import { isOrderId } from '../ui/orders.ts'
import type { ProfileSearch } from '../ui/profile-search.ts'
import type { CampaignsSearch, OrdersSearch, PartnersSearch } from './search.ts'

type Read<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

type Partners = Read<'/admin/partners'>
export type Bank = Partners['banks'][number]
export type Merchant = Partners['merchants']['data'][number]
export type MobileOperator = Partners['mobileOperators'][number]
export type Tariff = MobileOperator['tariffs'][number]
/** The code of the partner that a list is limited to. */
type Partner = { bank?: string; merchant?: string }

/** A user, or somebody who is invited to become one. */
export type User = Read<'/admin/users'>[number] & { isInvited?: true }
export type Credential = Read<'/admin/credentials'>[number]
export type StockLine = Read<'/admin/stock-desk'>[number]
export type Order = Read<'/admin/orders'>['data'][number]
export type OrderWithTimeline = Read<'/admin/orders/{orderId}'>
export type AccountEndpoint = Read<'/admin/webhook-endpoints'>['data'][number]
type Statements = Read<'/admin/statements'>
export type BankStatement = Statements['data'][number]
export type MissingStatement = Statements['missing'][number]
export type Campaign = Read<'/admin/campaigns'>['data'][number]
/** `next` is the position at which older entries of the history begin; null if there are none. */
export type CampaignWithHistory = Read<'/admin/campaigns/{cashbackId}'> & { next: string | null }
export type Audits = Read<'/admin/audit/last'>
export type Audit = NonNullable<Audits['last']>
export type Applied = paths['/admin/directory']['post']['responses'][200]['content']['application/json']
export type Withdrawn = paths['/admin/profiles/withdraw']['post']['responses'][200]['content']['application/json']
export type Change = Applied['changes'][number]

const pageSize = 20

export const overviewQuery = queryOptions({
  queryKey: ['operator', 'overview'],
  queryFn: ({ signal }) => answer(api.GET('/admin/overview', { signal })),
})

/** Endpoints of all accounts: the disabled, the failing, then the others. In each group the largest lag comes first. */
export const allEndpointsQuery = queryOptions({
  queryKey: ['operator', 'endpoints'],
  async queryFn({ signal }) {
    const { data } = await answer(api.GET('/admin/webhook-endpoints', { signal }))
    return data.toSorted((one, other) => urgencyOf(one) - urgencyOf(other) || other.lag - one.lag)
  },
})

const urgencyOf = ({ status, failingSince }: AccountEndpoint): number =>
  status === 'disabled' ? 0 : failingSince !== null ? 1 : 2

export const eventsStatusQuery = queryOptions({
  queryKey: ['operator', 'events-status'],
  refetchInterval: 30_000,
  queryFn: ({ signal }) => answer(api.GET('/admin/events/status', { signal })),
})

/** All banks and mobile operators, and a page of the merchants. */
export const partnersQuery = ({ page, search }: Pick<PartnersSearch, 'page' | 'search'> = {}) =>
  queryOptions({
    queryKey: ['operator', 'partners', page, search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/admin/partners', {
          params: { query: { page: page ?? 1, pageSize, ...(search && { search }) } },
          signal,
        }),
      ),
  })

export const merchantQuery = (code: string) =>
  queryOptions({
    queryKey: ['operator', 'merchant', code],
    queryFn: ({ signal }) => answer(api.GET('/admin/merchants/{code}', { params: { path: { code } }, signal })),
  })

/** A page of a merchant's terminals. */
export const terminalsQuery = (code: string, { page, search }: { page: number; search: string | undefined }) =>
  queryOptions({
    queryKey: ['operator', 'terminals', code, page, search],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const query = { page, pageSize, ...(search && { search }) }
      return answer(api.GET('/admin/merchants/{code}/terminals', { params: { path: { code }, query }, signal }))
    },
  })

/** @param partner the partner whose users are read; without it, the users of all accounts */
export const usersQuery = (partner: Partner = {}) =>
  queryOptions({
    queryKey: ['operator', 'users', partner],
    queryFn: ({ signal }) => answer(api.GET('/admin/users', { params: { query: partner }, signal })),
  })

/** The people who are invited to the partner's account and have not accepted yet. Only administrators may read them. */
export const invitationsQuery = (partner: Partner) =>
  queryOptions({
    queryKey: ['operator', 'invitations', partner],
    async queryFn({ signal }): Promise<User[]> {
      const { data } = await answer(api.GET('/portal/invitations', { params: { query: partner }, signal }))
      const { bank = null, merchant = null } = partner
      return data.map(({ userId, login, role, createdAt }) => {
        return { userId, login, role, bank, merchant, createdAt, disabledAt: null, isInvited: true }
      })
    },
  })

/** @param partner the partner whose credentials are read; without it, the credentials of all partners */
export const credentialsQuery = (partner: Partner = {}) =>
  queryOptions({
    queryKey: ['operator', 'credentials', partner],
    queryFn: ({ signal }) => answer(api.GET('/admin/credentials', { params: { query: partner }, signal })),
  })

export const stockQuery = queryOptions({
  queryKey: ['operator', 'stock'],
  queryFn: ({ signal }) => answer(api.GET('/admin/stock-desk', { signal })),
})

/**
 * Statements of all banks or of one bank, page after page, newest first, and the days whose statement is overdue.
 */
export const statementsQuery = (search: { from: string; to: string; bank: string | undefined }) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'statements', search],
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }: Statements) => nextCursor ?? undefined,
    queryFn({ signal, pageParam }) {
      const { from, to, bank } = search
      const query = { from, to, limit: 200, ...(bank && { bank }), ...(pageParam && { cursor: pageParam }) }
      return answer(api.GET('/admin/statements', { params: { query }, signal }))
    },
  })

/**
 * Orders of all banks, page after page, newest first.
 * @param search `externalId` may also be a complete order id
 * @param timeZone the time zone of the days in the filters
 */
export const ordersQuery = (search: Omit<OrdersSearch, 'page'>, timeZone: string) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'orders', search, timeZone],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }: Read<'/admin/orders'>) => nextCursor ?? undefined,
    queryFn({ signal, pageParam }) {
      const { externalId, bank, status, from, to } = search
      const query = {
        limit: 50,
        ...(externalId && (isOrderId(externalId) ? { orderId: externalId } : { externalId })),
        ...(bank && { bank }),
        ...(status && { status }),
        ...(from && { dateFrom: periodOfDays(from, from, timeZone).dateFrom }),
        ...(to && { dateTo: periodOfDays(to, to, timeZone).dateTo }),
        ...(pageParam && { cursor: pageParam }),
      }
      return answer(api.GET('/admin/orders', { params: { query }, signal }))
    },
  })

/** Finds the orders, of any bank, that hold the profile with this phone number or ICCID now. */
export const searchByProfile = async (body: ProfileSearch) =>
  (await answer(api.POST('/admin/orders/search', { body }))).data

export const orderQuery = (orderId: string) =>
  queryOptions({
    queryKey: ['operator', 'order', orderId],
    queryFn: ({ signal }) => answer(api.GET('/admin/orders/{orderId}', { params: { path: { orderId } }, signal })),
  })

export const campaignsQuery = ({ page, after, search, status }: CampaignsSearch) =>
  queryOptions({
    queryKey: ['operator', 'campaigns', page, after, search, status],
    placeholderData: keepPreviousData,
    queryFn({ signal }) {
      const query = {
        page: page ?? 1,
        pageSize,
        ...(after && { after }),
        ...(search && { search }),
        ...(status && { status: [status] }),
      }
      return answer(api.GET('/admin/campaigns', { params: { query }, signal }))
    },
  })

export const campaignQuery = (cashbackId: string) =>
  queryOptions({
    queryKey: ['operator', 'campaign', cashbackId],
    async queryFn({ signal }): Promise<CampaignWithHistory> {
      const read = api.GET('/admin/campaigns/{cashbackId}', { params: { path: { cashbackId } }, signal })
      const { data, next } = await linked(read)
      return { ...data, next }
    },
  })

/** The history of a campaign. The newest page is not requested, because the answer about the campaign contains it. */
export const campaignHistoryQuery = ({ cashbackId, updatedAt, history, next }: CampaignWithHistory) =>
  infiniteQueryOptions({
    queryKey: ['operator', 'campaign-history', cashbackId, updatedAt],
    staleTime: Number.POSITIVE_INFINITY,
    initialPageParam: null as string | null,
    initialData: { pages: [{ data: history, next }], pageParams: [null] },
    queryFn({ pageParam, signal }) {
      const params = { path: { cashbackId }, query: beforeOf(pageParam) }
      return linked(api.GET('/admin/campaigns/{cashbackId}/history', { params, signal }))
    },
    getNextPageParam: page => page.next,
  })

export const customersQuery = queryOptions({
  queryKey: ['operator', 'customers'],
  queryFn: ({ signal }) => answer(api.GET('/admin/customers', { signal })),
})

const readLastAudits = (signal?: AbortSignal) => answer(api.GET('/admin/audit/last', { signal: signal ?? null }))

/** Runs an audit. Closing the tab stops it; it can then be resumed. */
export const runAudit = ({ resume = false, signal }: { resume?: boolean; signal?: AbortSignal } = {}) =>
  answer(api.GET('/admin/audit', { params: { query: { resume } }, signal: signal ?? null }))

/** The last audit, and the current or interrupted audit. If no audit has ended yet and none is running, this runs an audit. */
export const auditsQuery = queryOptions({
  queryKey: ['operator', 'audits'],
  queryFn: async ({ signal }) => {
    const audits = await readLastAudits(signal)
    if (audits.last || audits.unfinished?.running) return audits
    await runAudit({ signal })
    return readLastAudits(signal)
  },
  refetchInterval: ({ state }) => (state.data?.unfinished?.running ? 1_000 : false),
})

/** After a change, reads again everything that the operator sees. */
export function useOperatorChanged(): () => Promise<void> {
  const client = useQueryClient()
  return useCallback(() => client.invalidateQueries({ queryKey: ['operator'] }), [client])
}

/**
 * Matches the path of an error in an entry of the directory, such as `banks[0].name`. The regular expression's group
 * captures the field.
 */
const placeOfError = /^(?:banks|merchants|esim\.operators)\[0\](?:\.tariffs\[0\])?\.(?:esim\.)?(\w+).*$/

type EntryOptions = { mode?: 'apply' | 'create'; dryRun?: boolean; files?: Record<string, string> }

/**
 * Creates an entry of the directory, or changes the given fields of an entry. Fields that are left out keep their values
 * (contract/operations.md, "The directory file").
 *
 * @param options.mode `create`: the code must be new
 * @param options.dryRun nothing is changed; the answer lists the changes
 * @throws ApiError whose errors name the entry's fields
 */
export async function applyEntry(entry: object, options: EntryOptions = {}): Promise<Applied> {
  const { mode = 'apply', dryRun = false, files = {} } = options
  // JSON is valid YAML.
  const body = { directory: JSON.stringify(entry), files, mode }
  try {
    return await answer(api.POST('/admin/directory', { params: { query: { dryRun } }, body }))
  } catch (error) {
    if (!isApiError(error, 400, 409)) throw error
    // Errors inside a terminals file are passed on unchanged.
    if (error.problems.length > 0) throw error
    throw error.with({
      fieldErrors: error.fieldErrors.map(fieldError => ({
        ...fieldError,
        field: fieldError.field.replace(placeOfError, '$1'),
      })),
    })
  }
}
