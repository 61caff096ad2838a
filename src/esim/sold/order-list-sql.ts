/**
 * Builds the SQL with which programs list a bank's orders. It reads one index range for each status, or for each tariff
 * and status, and takes at most one page from each (`migrations/0027_order_lists.sql`). Filters by time are ranges of
 * ids, because an id begins with the instant at which the order was made, and an order ends at the latest when its
 * reservation ends.
 */
import type { Literal } from '../../db/literals.ts'
import type { Span } from '../../text/span.ts'
import { type OrderStatus, reservationEnd, reservationMinutes, reservedWith, statusAtSql } from '../orders/lifecycle.ts'
import { firstOrderId } from '../orders/order-id.ts'
import { endSql } from '../orders/shown-fields.ts'
import { firstIdEndingAt } from './figures-store.ts'
import type { OrderQuery, Put } from './order-sql.ts'

export const orderSorts = ['-createdAt', 'createdAt', '-confirmedAt', 'confirmedAt'] as const
export type OrderSort = (typeof orderSorts)[number]

/**
 * Ascending lists leave out orders made within the last 15 seconds, because some transactions of that time may still be
 * open. A client that continues after a newer order would miss the orders of these transactions.
 */
export const settledSeconds = 15

/** The page begins after this order. `confirmedAt` is set only when the list is sorted by it. */
export type OrderPosition = { orderId: string; confirmedAt: string | null }

/**
 * What a list asks for. Every filter has an index, or limits what one answer reads (contract/partner-api.md, "Lists"). The
 * same holds for a new one.
 */
export type OrderListFilter = {
  bankId: string
  /** null: any tariff. */
  tariffIds: readonly number[] | null
  /** The statuses at `now`. */
  statuses: readonly OrderStatus[]
  /** The whole identifier. */
  externalId: string | undefined
  created: Span
  confirmed: Span
  ended: Span
  sort: OrderSort
  after: OrderPosition | null
  /** null: no limit. */
  limit: number | null
  /** The instant at which the statuses are computed. */
  now: Date
  /** Ascending lists contain only orders made before this instant. */
  asOf: Date
}

const ended = `status in ('confirmed', 'cancelled', 'expired')`
const endedAt = endSql('confirmed_at', 'cancelled_at', 'reserved_until')

export const isAscending = (sort: OrderSort): boolean => !sort.startsWith('-')
const isByConfirmation = (sort: OrderSort): boolean => sort.endsWith('confirmedAt')

/** Builds the query for the ids (`order_id`) of the matching orders, in the requested sort. */
export function listQuery(filter: OrderListFilter): OrderQuery {
  const values: Literal[] = []
  const put: Put = value => `$${values.push(value)}`
  const narrowed = { ...filter, statuses: possibleStatuses(filter) }
  return { text: textOf(narrowed, put), values }
}

function textOf(filter: OrderListFilter, put: Put): string {
  if (filter.statuses.length === 0) return 'select null::uuid as order_id limit 0'
  if (filter.externalId !== undefined) return byExternalId(filter, put)
  if (!isByConfirmation(filter.sort)) return byCreation(filter, put)
  return filter.tariffIds === null ? byConfirmation(filter, put) : byConfirmationOfTariffs(filter, put)
}

const isBounded = ({ from, until }: Span): boolean => from !== null || until !== null

/**
 * Returns the requested statuses that a matching order can have. Only confirmed orders have a time of confirmation, so
 * a filter or a sort by this time leaves only confirmed orders. Reserved orders have no end, so a filter by the end
 * excludes them. The index ranges of excluded statuses are not read.
 */
function possibleStatuses({ statuses, confirmed, ended, sort }: OrderListFilter): OrderStatus[] {
  return statuses.filter(status => {
    if (isByConfirmation(sort) || isBounded(confirmed)) return status === 'confirmed'
    return !isBounded(ended) || status !== 'reserved'
  })
}

/** Builds the `order by` and `limit` of each range and of the whole query. */
const endOf = ({ sort, limit }: OrderListFilter, put: Put): string => {
  const direction = isAscending(sort) ? 'asc' : 'desc'
  const keys = isByConfirmation(sort) ? `confirmed_at ${direction}, order_id ${direction}` : `order_id ${direction}`
  return `order by ${keys} limit ${put(limit === null ? null : String(limit))}::int offset 0`
}

function byCreation(filter: OrderListFilter, put: Put): string {
  const end = endOf(filter, put)
  const conditions = conditionsOf(filter, put)
  const tariffs = filter.tariffIds && `${put(filter.tariffIds.map(String))}::int[]`
  const bank = `${put(filter.bankId)}::uuid`
  // Each range is a separate query, joined by `union all`. An index returns each range already sorted, so PostgreSQL
  // only merges them.
  const parts = filter.statuses
    .filter(status => status !== 'reserved')
    .map(status => {
      const range = `select order_id from orders where bank_id = ${bank} and status = ${put(status)} and ${ended}`
      if (!tariffs) return `(${range} ${conditions} ${end})`
      return `
        select r.order_id from unnest(${tariffs}) as t (tariff_id)
        cross join lateral (${range} and tariff_id = t.tariff_id ${conditions} ${end}) as r`
    })
  const reserved = reservedWith(filter.statuses, () => put(filter.now))
  if (reserved !== null)
    parts.push(`(
      select order_id from orders where bank_id = ${bank} and status = 'reserved' and ${reserved}
        ${tariffs ? `and tariff_id = any(${tariffs})` : ''} ${conditions} ${end})`)
  return `select order_id from (${parts.join(' union all ')}) as found ${end}`
}

function byConfirmation(filter: OrderListFilter, put: Put): string {
  return `
    select order_id from orders
    where bank_id = ${put(filter.bankId)}::uuid and status = 'confirmed' ${conditionsOf(filter, put)} ${endOf(filter, put)}`
}

/**
 * Sorts the orders of some tariffs by confirmation. No index has this sort order, so the query must limit how many
 * orders it reads and sorts. It relies on one fact: an order is confirmed less than `reservationMinutes` after it was
 * made.
 *
 * For an ascending list, `nth` finds for each tariff when its `limit`-th order was made. The earliest of these times is
 * the horizon. One tariff has `limit` orders that were made up to the horizon, enough to fill the page. They were all
 * confirmed less than `reservationMinutes` after the horizon. An order that was made later than that cannot be on the
 * page and is not read. A descending list does the same backwards. Without a limit, or if no tariff has `limit` orders,
 * all orders are read.
 */
function byConfirmationOfTariffs(filter: OrderListFilter, put: Put): string {
  const isUp = isAscending(filter.sort)
  const direction = isUp ? 'asc' : 'desc'
  const tariffs = `unnest(${put((filter.tariffIds ?? []).map(String))}::int[]) as t (tariff_id)`
  const source = `orders where bank_id = ${put(filter.bankId)}::uuid and tariff_id = t.tariff_id and status = 'confirmed' ${conditionsOf(filter, put)}`
  const next = filter.limit === null ? '0' : `${put(String(filter.limit - 1))}::int`
  const within = isUp
    ? `(h.made_at is null or created_at < h.made_at + interval '${reservationMinutes} minutes')`
    : `(h.made_at is null or created_at > h.made_at - interval '${reservationMinutes} minutes')`
  return `
    with horizon as materialized (
      select ${isUp ? 'min' : 'max'}(made_at) as made_at from ${tariffs} cross join lateral (
        select created_at as made_at from ${source} order by order_id ${direction} offset ${next} limit 1) as nth
      where ${filter.limit === null ? 'false' : 'true'}
    )
    select order_id from horizon h cross join ${tariffs} cross join lateral (
      select order_id, confirmed_at from ${source} and ${within} offset 0) as found ${endOf(filter, put)}`
}

/** Finds the order by the unique index. */
const byExternalId = (filter: OrderListFilter, put: Put): string => `
  select order_id from (
    select * from orders where bank_id = ${put(filter.bankId)}::uuid and external_id = ${put(filter.externalId ?? null)} collate "C" offset 0
  ) as o
  where (${statusAtSql('o', put(filter.now))}) = any(${put(filter.statuses)}::text[])
    ${filter.tariffIds ? `and tariff_id = any(${put(filter.tariffIds.map(String))}::int[])` : ''}
    ${conditionsOf(filter, put)} ${endOf(filter, put)}`

/**
 * Turns the filter's times and the page's position into SQL conditions. Most times become two conditions: an exact one
 * on the column of the time, and a wider one on `order_id` for the index. A range of times gives a range of ids,
 * because an id begins with the time of the reservation, and an order ends at most `reservationMinutes` later
 * (`firstIdEndingAt`).
 *
 * A filter by an exact value does not belong here, unless few orders lack that value: an index range would be read to its
 * end to find one page. Like `statuses` and `tariffIds`, it chooses the ranges in the functions above, and needs an index
 * that begins with it.
 */
function conditionsOf({ created, confirmed, ended, sort, after, asOf }: OrderListFilter, put: Put): string {
  const conditions: string[] = []
  const instant = (column: string, sign: string, at: Date) =>
    conditions.push(`${column} ${sign} ${put(at)}::timestamptz`)
  const id = (sign: string, value: string) => conditions.push(`order_id ${sign} ${put(value)}::uuid`)
  const isUp = isAscending(sort)
  if (created.from) id('>=', firstOrderId(created.from))
  if (created.until) id('<', firstOrderId(created.until))
  if (isByConfirmation(sort)) {
    if (created.from) instant('confirmed_at', '>=', created.from)
    if (created.until) instant('confirmed_at', '<', reservationEnd(created.until))
  }
  for (const [span, column] of [
    [confirmed, 'confirmed_at'],
    [ended, endedAt],
  ] as const) {
    if (span.from) id('>=', firstIdEndingAt(span.from))
    if (span.from) instant(column, '>=', span.from)
    if (span.until) id('<', firstOrderId(span.until))
    if (span.until) instant(column, '<', span.until)
  }
  // An order is not visible while its transaction is open, and a client that continues after a newer order would miss
  // it. So the list ends before `asOf`.
  if (isUp) {
    id('<', firstOrderId(asOf))
    if (isByConfirmation(sort)) instant('confirmed_at', '<', asOf)
  }
  if (after?.confirmedAt) {
    const at = new Date(after.confirmedAt)
    conditions.push(
      `(confirmed_at, order_id) ${isUp ? '>' : '<'} (${put(at)}::timestamptz, ${put(after.orderId)}::uuid)`,
    )
    if (isUp) id('>=', firstIdEndingAt(at))
    else id('<', firstOrderId(new Date(at.getTime() + 1)))
  } else if (after) id(isUp ? '>' : '<', after.orderId)
  return conditions.map(condition => ` and ${condition}`).join('')
}
