/** Queries of the webhook pages, below `/partner/v1`. After a change, `useWebhooksChanged` invalidates all of them. */
import { infiniteQueryOptions, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { answer, api, versioned } from '../api/client.ts'
import { isApiError } from '../api/errors.ts'
import { periodOfDays } from '../i18n/time-zone.ts'
import type { AccountType } from '../session/session.ts'
import type { Delivery } from '../webhooks/types.ts'
import type { DeliveriesSearch } from './search.ts'

const root = 'webhooks'

/**
 * How often a page reads deliveries again while an attempt is due. The platform makes attempts in the background, after it
 * has answered the person's request.
 */
const lookAgainMs = 2_000
/** How often a page reads the endpoint's counts again while events or deliveries are waiting. */
const lookAtCountsMs = 5_000

export const endpointsQuery = queryOptions({
  queryKey: [root, 'endpoints'],
  queryFn: async ({ signal }) => (await answer(api.GET('/partner/v1/webhook-endpoints', { signal }))).data,
})

/** The endpoint with its version, which a change must send. */
export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: [root, 'endpoint', endpointId],
    queryFn: ({ signal }) =>
      versioned(api.GET('/partner/v1/webhook-endpoints/{endpointId}', { params: { path: { endpointId } }, signal })),
    refetchInterval: ({ state: { data } }) => (data && data.pending + data.lag > 0 ? lookAtCountsMs : false),
  })

const eventTypesQuery = queryOptions({
  queryKey: [root, 'types'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => (await answer(api.GET('/partner/v1/event-types', { signal }))).data,
})

const recipientOf = { retailer: 'merchant', bank: 'bank', platform: 'platform' } as const

/**
 * The names of the event types that this kind of account gets; empty while loading. Dialogs have no access to the
 * session, so the account is a parameter.
 */
export function useEventTypeNames(typeAccount: AccountType): string[] {
  const { data = [] } = useQuery(eventTypesQuery)
  return data.filter(({ recipients }) => recipients.includes(recipientOf[typeAccount])).map(({ type }) => type)
}

const pageSize = 50

export type DeliveriesParams = Omit<DeliveriesSearch, 'page'> & { endpointId?: string; eventId?: string }

/** Deliveries, newest first. @param timeZone the zone of the days */
export const deliveriesQuery = ({ from, to, ...params }: DeliveriesParams, timeZone: string) =>
  infiniteQueryOptions({
    queryKey: [root, 'deliveries', params, from, to, timeZone],
    initialPageParam: '',
    queryFn({ pageParam, signal }) {
      const query = {
        limit: pageSize,
        ...known(params),
        ...(from && { from: periodOfDays(from, from, timeZone).dateFrom }),
        ...(to && { to: periodOfDays(to, to, timeZone).dateTo }),
        ...(pageParam && { cursor: pageParam }),
      }
      return answer(api.GET('/partner/v1/webhook-deliveries', { params: { query }, signal }))
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.length === 1 && state.data.pages[0]?.data.some(isUnderWay) ? lookAgainMs : false,
  })

/** Whether an attempt will come soon. A delivery that waits for hours need not be read again. */
const isUnderWay = ({ state, nextAttemptAt, attempts }: Delivery): boolean =>
  state === 'pending' && (attempts.length === 0 || (nextAttemptAt !== null && Date.parse(nextAttemptAt) <= Date.now()))

/** Removes undefined fields, because the types of the API do not allow them. */
const known = <Fields extends object>(fields: Fields): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

export const deliveryQuery = (deliveryId: string) =>
  queryOptions({
    queryKey: [root, 'delivery', deliveryId],
    queryFn: ({ signal }) =>
      answer(api.GET('/partner/v1/webhook-deliveries/{deliveryId}', { params: { path: { deliveryId } }, signal })),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? lookAgainMs : false),
  })

/**
 * The event's bytes as in the feed and in each request; null: the event is a test, or was removed because of its age.
 */
export const eventTextQuery = (eventId: string) =>
  queryOptions({
    queryKey: [root, 'event', eventId],
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }): Promise<string | null> {
      try {
        const params = { path: { eventId } }
        return await answer(api.GET('/partner/v1/events/{eventId}', { params, parseAs: 'text', signal }))
      } catch (error) {
        if (isApiError(error, 404)) return null
        throw error
      }
    },
  })

/** Reads endpoints and deliveries again, after a change. */
export function useWebhooksChanged(): () => Promise<void> {
  const client = useQueryClient()
  return useCallback(() => client.invalidateQueries({ queryKey: [root] }), [client])
}
