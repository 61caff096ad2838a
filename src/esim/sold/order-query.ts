/**
 * Which orders are found, as SQL, newest first. A bank's orders are read in ranges of an index: one for each status, or each tariff and
 * status, of which each gives no more than the page shows (`migrations/0027_order_lists.sql`). So a page costs the same in a long
 * history as in a short one, also when nothing fits.
 */
import type { Literal } from '../../db/literals.ts'
import type { Span } from '../../text/span.ts'
import { firstOrderId } from '../orders/order-id.ts'
import type { ShownOrder } from './order-store.ts'

export type OrderFilter = Span & {
  bankIds: readonly string[]
  /** null: of any tariff. */
  tariffIds: readonly number[] | null
  status: ShownOrder['status'] | undefined
  /** The first characters of the bank's own identifier. */
  externalId: string | undefined
  /** true: the whole of it. */
  isExact: boolean
  /** Only orders made before this one. */
  after: string | null
  /** Only this order and those made after it. */
  downTo: string | null
  /** null: all that fit. */
  limit: number | null
  /** What the statuses are as of. */
  now: Date
}

/** A text with `$1`, `$2` ..., and their values. */
export type OrderQuery = { text: string; values: Literal[] }

export type Put = (value: Literal) => string

/** @param write gets what notes a value and gives its place in the text */
function queryOf(write: (put: Put) => string): OrderQuery {
  const values: Literal[] = []
  const text = write(value => `$${values.push(value)}`)
  return { text, values }
}

const endedStatuses = ({ status }: OrderFilter): string[] =>
  ['confirmed', 'cancelled', 'expired'].filter(ended => status === undefined || status === ended)

/** The ids of those that fit. */
export const inRanges = (filter: OrderFilter): OrderQuery =>
  queryOf(
    put =>
      `select order_id from (${rangesText(filter, put, newestFirst(filter, put))}) found ${newestFirst(filter, put)}`,
  )

/** An id so low that there are at least `count` orders above it in one range; none when no range has so many. */
export const horizon = (filter: OrderFilter, count: number): OrderQuery =>
  queryOf(put => {
    const nth = `order by order_id desc offset ${put(String(count))}::int limit 1`
    const found = rangesText({ ...filter, externalId: undefined }, put, nth)
    return `select order_id from (${found}) found order by order_id desc limit 1`
  })

/** @param taken what each range gives */
function rangesText(filter: OrderFilter, put: Put, taken: string): string {
  const banks = `unnest(${put(filter.bankIds)}::uuid[]) as b (bank_id)`
  const tariffs = filter.tariffIds && `${put(filter.tariffIds.map(String))}::int[]`
  const rest = restConditions(filter, put)
  // That they have ended is said once more: the planner does not see by itself that the index serves.
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

/** The `count` newest orders of all banks that the times let through, whatever else is wanted. */
export const newestOfAll = (filter: OrderFilter, count: number) => (put: Put) =>
  `select order_id from orders where true ${restConditions(filter, put)} order by order_id desc limit ${put(String(count))}::int`

/** The ids of those that fit among others. @param others gives the text of a query of their ids */
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

/** Several profiles may have one number, as nothing forbids it. */
const maxProfilesOfNumber = 100

/** Of the orders that hold a profile now: the one with this ICCID (its keyed hash), or those with this number. */
export const ofProfile = (profile: { iccidHash: Buffer } | { msisdn: string }, now: Date) => (put: Put) =>
  `
  select order_id from orders
  where profile_id = any(array(
      select profile_id from profiles
      where ${'msisdn' in profile ? `msisdn = ${put(profile.msisdn)}` : `iccid_hash = decode(${put(profile.iccidHash.toString('hex'))}, 'hex')`}
      limit ${maxProfilesOfNumber}))
    and status in ('reserved', 'confirmed', 'withdrawn') and (status <> 'reserved' or reserved_until > ${put(now)}::timestamptz)`

/** The first `count` ids in the index of external ids, whatever else is wanted. */
export const firstOfExternalId = ({ bankIds, externalId = '', isExact }: OrderFilter, count: number): OrderQuery =>
  queryOf(put => {
    const most = put(String(count))
    return `
      select r.order_id from unnest(${put(bankIds)}::uuid[]) as b (bank_id)
      cross join lateral (
        select order_id from orders where bank_id = b.bank_id and ${isExact ? `external_id = ${put(externalId)} collate "C"` : `starts_with(external_id, ${put(externalId)})`}
        order by external_id limit ${most}::int offset 0) r
      limit ${most}::int`
  })

/** The ids of those that fit, by the index of external ids. */
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

/** Of orders that are stored as reserved: one whose reservation is over is expired, marked or not. */
function reservedCondition({ status, now }: OrderFilter, put: Put): string {
  if (status === undefined) return 'true'
  if (status === 'reserved') return `reserved_until > ${put(now)}::timestamptz`
  if (status === 'expired') return `reserved_until <= ${put(now)}::timestamptz`
  return 'false'
}

/** An order's id begins with the instant at which it was made. */
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
