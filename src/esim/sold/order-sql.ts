/**
 * Builds the SQL with which people search orders, newest first. It reads one index range for each status, or for each
 * tariff and status, and takes at most one page from each (`migrations/0027_order_lists.sql`). So a page costs the same
 * in a long history as in a short one, even when nothing matches.
 */
import type { Literal } from '../../db/literals.ts'
import type { Span } from '../../text/span.ts'
import { holdsProfile, orderStatuses, reservedWith } from '../orders/lifecycle.ts'
import { firstOrderId } from '../orders/order-id.ts'
import type { ShownOrder } from './shown-order.ts'

export type OrderFilter = Span & {
  bankIds: readonly string[]
  /** null: any tariff. */
  tariffIds: readonly number[] | null
  status: ShownOrder['status'] | undefined
  /** The first characters of the bank's own identifier. */
  externalId: string | undefined
  /** true: `externalId` is the whole identifier. */
  isExact: boolean
  /** Only orders made before this one. */
  after: string | null
  /** Only this order and orders made after it. */
  downTo: string | null
  /** null: no limit. */
  limit: number | null
  /** The instant at which the statuses are computed. */
  now: Date
}

/** An SQL text with `$1`, `$2` ..., and their values. */
export type OrderQuery = { text: string; values: Literal[] }

export type Put = (value: Literal) => string

/** Builds a query. @param write builds its text; it gets a function that adds a value and returns its placeholder */
function queryOf(write: (put: Put) => string): OrderQuery {
  const values: Literal[] = []
  const text = write(value => `$${values.push(value)}`)
  return { text, values }
}

const endedStatuses = ({ status }: OrderFilter): string[] =>
  ['confirmed', 'cancelled', 'expired'].filter(ended => status === undefined || status === ended)

/** Builds the query for the ids of the matching orders. */
export const inRanges = (filter: OrderFilter): OrderQuery =>
  queryOf(
    put =>
      `select order_id from (${rangesText(filter, put, newestFirst(filter, put))}) found ${newestFirst(filter, put)}`,
  )

/**
 * Builds the query for an order id that is low enough: at least `count` orders have a higher id. An index range has the
 * orders of one bank and status, and perhaps of one tariff. In each range, the query finds the id that follows the
 * `count` newest ones, and it returns the highest of these ids. It returns no row if no range has more than `count`
 * orders. It ignores the filter's `externalId`.
 */
export const horizon = (filter: OrderFilter, count: number): OrderQuery =>
  queryOf(put => {
    const nth = `order by order_id desc offset ${put(String(count))}::int limit 1`
    const found = rangesText({ ...filter, externalId: undefined }, put, nth)
    return `select order_id from (${found}) found order by order_id desc limit 1`
  })

/** Builds the query that reads all index ranges. @param taken the end of each range's query: `order by` and `limit` */
function rangesText(filter: OrderFilter, put: Put, taken: string): string {
  const banks = banksText(filter, put)
  const tariffs = filter.tariffIds && `${put(filter.tariffIds.map(String))}::int[]`
  const rest = restConditions(filter, put)
  // All statuses that are searched here are those of ended orders. The condition `status in (…)` repeats this, because
  // the planner does not use the partial index without it.
  const ended = `
    select r.order_id from ${banks} cross join unnest(${put(endedStatuses(filter))}::text[]) as s (status)
    ${tariffs ? `cross join unnest(${tariffs}) as t (tariff_id)` : ''}
    cross join lateral (
      select order_id from orders
      where bank_id = b.bank_id and status = s.status and status in ('confirmed', 'cancelled', 'expired')
        ${tariffs ? 'and tariff_id = t.tariff_id' : ''} ${rest} ${taken}) r`
  const reserved = `
    select r.order_id from ${banks}
    cross join lateral (
      select order_id from orders
      where bank_id = b.bank_id and status = 'reserved' and ${reservedCondition(filter, put)} and ${tariffCondition(filter, put)}
        ${rest} ${taken}) r`
  return `${ended} union all ${reserved}`
}

/**
 * The banks as a table. A single bank is written as a constant, so that PostgreSQL plans for the number of orders of
 * this bank. For an array, it would plan for an average bank. If nearly all orders belong to another bank, it would
 * then read all reservations of the other bank.
 */
const banksText = ({ bankIds }: OrderFilter, put: Put): string =>
  bankIds.length === 1
    ? `(select ${put(bankIds[0] ?? null)}::uuid as bank_id) as b`
    : `unnest(${put(bankIds)}::uuid[]) as b (bank_id)`

/**
 * Builds the SQL for the `count` newest orders that match the filter. It ignores the filter's bank, tariff and status.
 */
export const newestOfAll = (filter: OrderFilter, count: number) => (put: Put) =>
  `select order_id from orders where true ${restConditions(filter, put)} order by order_id desc limit ${put(String(count))}::int`

/**
 * Builds the query that finds the matching orders among a set of candidates.
 * @param others builds the query for the ids of the candidates
 */
export const among = (filter: OrderFilter, others: (put: Put) => string): OrderQuery =>
  queryOf(
    put => `
      select order_id from (${others(put)}) other (id)
      cross join lateral (select * from orders where order_id = other.id offset 0) o
      where bank_id = any(${put(filter.bankIds)}::uuid[]) and ${tariffCondition(filter, put)} and ${statusCondition(filter, put)}
        ${restConditions(filter, put)} ${newestFirst(filter, put)}`,
  )

export const theOrder = (orderId: string) => (put: Put) => `select ${put(orderId)}::uuid`

export const theOrders = (orderIds: readonly string[]) => (put: Put) => `select unnest(${put(orderIds)}::uuid[])`

/**
 * The maximum number of profiles that are read for one phone number. Nothing forbids several profiles with the same
 * number.
 */
const maxProfilesOfNumber = 100

/**
 * The orders that hold a profile now: the profile with this ICCID (its keyed hash), or all profiles with this number.
 */
export const ofProfile = (profile: { iccidHash: Buffer } | { msisdn: string }, now: Date) => (put: Put) =>
  `
  select order_id from orders
  where profile_id = any(array(
      select profile_id from profiles
      where ${'msisdn' in profile ? `msisdn = ${put(profile.msisdn)}` : `iccid_hash = decode(${put(profile.iccidHash.toString('hex'))}, 'hex')`}
      limit ${maxProfilesOfNumber}))
    and ${holdsProfile} and (status <> 'reserved' or reserved_until > ${put(now)}::timestamptz)`

/**
 * Builds the query for the first `count` orders in the index of external ids. It ignores all other conditions of the
 * filter.
 */
export const firstOfExternalId = ({ bankIds, externalId = '', isExact }: OrderFilter, count: number): OrderQuery =>
  queryOf(put => {
    const max = put(String(count))
    return `
      select r.order_id from unnest(${put(bankIds)}::uuid[]) as b (bank_id)
      cross join lateral (
        select order_id from orders where bank_id = b.bank_id and ${isExact ? `external_id = ${put(externalId)} collate "C"` : `starts_with(external_id, ${put(externalId)})`}
        order by external_id limit ${max}::int offset 0) r
      limit ${max}::int`
  })

/** The ids of the matching orders, read by the index of external ids. */
export const byExternalId = (filter: OrderFilter): OrderQuery =>
  queryOf(
    put => `
      select order_id from unnest(${put(filter.bankIds)}::uuid[]) as b (id)
      cross join lateral (
        select order_id from orders
        where bank_id = b.id and ${tariffCondition(filter, put)} and ${statusCondition(filter, put)} ${restConditions(filter, put)}
        order by external_id offset 0) r
      ${newestFirst(filter, put)}`,
  )

const newestFirst = ({ limit }: OrderFilter, put: Put): string =>
  `order by order_id desc limit ${put(limit === null ? null : String(limit))}::int offset 0`

const tariffCondition = ({ tariffIds }: OrderFilter, put: Put): string =>
  tariffIds ? `tariff_id = any(${put(tariffIds.map(String))}::int[])` : 'true'

const statusCondition = (filter: OrderFilter, put: Put): string =>
  `(status = any(${put(endedStatuses(filter))}::text[]) or status = 'reserved' and ${reservedCondition(filter, put)})`

/** The condition for orders that are stored as reserved. */
const reservedCondition = ({ status, now }: OrderFilter, put: Put): string =>
  reservedWith(status === undefined ? orderStatuses : [status], () => put(now)) ?? 'false'

/** A range of time is written as a range of ids, because an id begins with the instant at which the order was made. */
function restConditions({ externalId, isExact, from, until, after, downTo }: OrderFilter, put: Put): string {
  const conditions: string[] = []
  if (externalId !== undefined)
    conditions.push(
      isExact ? `and external_id = ${put(externalId)} collate "C"` : `and starts_with(external_id, ${put(externalId)})`,
    )
  if (from !== null) conditions.push(`and order_id >= ${put(firstOrderId(from))}::uuid`)
  if (until !== null) conditions.push(`and order_id < ${put(firstOrderId(until))}::uuid`)
  if (downTo !== null) conditions.push(`and order_id >= ${put(downTo)}::uuid`)
  if (after !== null) conditions.push(`and order_id < ${put(after)}::uuid`)
  return conditions.join(' ')
}
