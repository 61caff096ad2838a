/**
 * SQL that reads orders by id, confirms, cancels and expires them, records their e-mails, and finds free profiles.
 * Orders are made in `reserve-store.ts` and listed in `sold/`. The busiest statements process many orders at once
 * (`unnest`), because requests that arrive together share one statement (`db/batching.ts`). Each statement itself
 * checks the order's bank and whether the order may change.
 */

import type { Queryable, Statement } from '../../db/database.ts'
import { orderText, orderTextJoins, recordingEvents } from '../../outbox/event-writing.ts'
import { recordingOrders } from '../../outbox/rows.ts'
import type { DeliveryMode } from '../../partners/delivery-modes.ts'
import { expiringMinutes, type OrderStatus } from './lifecycle.ts'
import type { MailState } from './mail-state.ts'
import { freeReturned, importedFirst, isFree, joinLiveOrder, ofTariff } from './profiles-sql.ts'

export type Order = {
  orderId: string
  externalId: string
  tariffId: number
  /** The stored status; `lifecycle.statusAt` computes the current one. */
  status: OrderStatus
  msisdn: string
  createdAt: Date
  reservedUntil: Date
  confirmedAt: Date | null
}

/** A confirmed order with its secrets, still sealed. */
export type SealedOrder = Order & {
  deliveryMode: DeliveryMode | null
  mail: MailState | null
  /** The bank's own reference, from the first confirm. */
  paymentReference: string | null
  sealed: Buffer
  iccidHash: Buffer
  profileId: number
}

/** The columns of an order, in the order of `OrderValues`. The table is aliased as `o`; join `orderProfile`. */
export const orderColumns = `
  o.order_id, o.external_id, o.tariff_id, o.status, p.msisdn, o.created_at, o.reserved_until, o.confirmed_at`

export const orderProfile = `
  cross join lateral (select msisdn, sealed, iccid_hash from profiles where profile_id = o.profile_id offset 0) p`

export type OrderValues = [
  orderId: string,
  externalId: string,
  tariffId: number,
  status: OrderStatus,
  msisdn: string,
  createdAt: Date,
  reservedUntil: Date,
  confirmedAt: Date | null,
]

/** Reads the order from a row that begins with `orderColumns`. */
export function orderOf(row: readonly [...OrderValues, ...unknown[]]): Order {
  return {
    orderId: row[0],
    externalId: row[1],
    tariffId: row[2],
    status: row[3],
    msisdn: row[4],
    createdAt: row[5],
    reservedUntil: row[6],
    confirmedAt: row[7],
  }
}

const findOrdersStatement: Statement = {
  name: 'esim.find-orders',
  plannedOnce: ['orders', 'profiles'],
  text: `
    select ${orderColumns}, i.n
    from unnest($1::uuid[], $2::uuid[]) with ordinality as i (order_id, bank_id, n)
    cross join lateral (select * from orders where order_id = i.order_id offset 0) o ${orderProfile}
    where o.bank_id = i.bank_id`,
}

/** An array of UUIDs as PostgreSQL text; UUIDs need no quotes. */
const arrayOfIds = (ids: readonly string[]): string => `{${ids.join(',')}}`

export type OrderKey = { orderId: string; bankId: string }

/** The orders in the sequence of their keys; null for an order that does not exist or belongs to another bank. */
export async function findOrders(database: Queryable, keys: OrderKey[]): Promise<(Order | null)[]> {
  const rows = await database.tuples<[...OrderValues, n: number]>(findOrdersStatement, [
    arrayOfIds(keys.map(({ orderId }) => orderId)),
    arrayOfIds(keys.map(({ bankId }) => bankId)),
  ])
  const found: (Order | null)[] = keys.map(() => null)
  for (const row of rows) found[row[8] - 1] = orderOf(row)
  return found
}

const areReservedStatement: Statement = {
  name: 'esim.are-reserved',
  plannedOnce: ['orders'],
  text: `
    select i.n from unnest($1::uuid[]) with ordinality as i (order_id, n)
    cross join lateral (select status from orders where order_id = i.order_id offset 0) o
    where o.status = 'reserved'`,
}

/** Whether each order is stored as reserved, in the sequence of the ids. */
export async function areReserved(database: Queryable, orderIds: readonly string[]): Promise<boolean[]> {
  const rows = await database.tuples<[n: number]>(areReservedStatement, [arrayOfIds(orderIds)])
  const reserved = orderIds.map(() => false)
  for (const [n] of rows) reserved[n - 1] = true
  return reserved
}

const sealedColumns = `o.delivery_mode, o.mail, o.payment_reference, p.sealed, p.iccid_hash, o.profile_id`
type SealedValues = [
  ...OrderValues,
  deliveryMode: DeliveryMode | null,
  mail: MailState | null,
  paymentReference: string | null,
  sealed: Buffer,
  iccidHash: Buffer,
  profileId: number,
]

/** Reads the order from a row that begins with `orderColumns` and `sealedColumns`. */
function sealedOrderOf(row: readonly [...SealedValues, ...unknown[]]): SealedOrder {
  const [deliveryMode, mail, paymentReference] = [row[8], row[9], row[10]]
  return {
    ...orderOf(row),
    deliveryMode,
    mail,
    paymentReference,
    sealed: row[11],
    iccidHash: row[12],
    profileId: row[13],
  }
}

const findSealedStatement: Statement = {
  name: 'esim.find-sealed-orders',
  plannedOnce: ['orders', 'profiles'],
  text: `
    select ${orderColumns}, ${sealedColumns} from orders o ${orderProfile}
    where o.order_id = any($1::uuid[]) and o.bank_id is not distinct from $2`,
}

async function findSealedOrders(
  database: Queryable,
  bankId: string,
  orderIds: readonly string[],
): Promise<SealedOrder[]> {
  return (await database.tuples<SealedValues>(findSealedStatement, [orderIds, bankId])).map(sealedOrderOf)
}

export async function findSealedOrder(database: Queryable, { orderId, bankId }: OrderKey): Promise<SealedOrder | null> {
  const [order] = await findSealedOrders(database, bankId, [orderId])
  return order ?? null
}

export type ConfirmResult = { moved: boolean; order: SealedOrder }

/**
 * SQL for whether an order is stored as reserved, for statements that find orders by id. It is written so that the
 * planner cannot use the index of reservations for it. If the planner expected hardly any reservations, it would use
 * that index and read all reservations for each order.
 */
const isReserved = `status || '' = 'reserved'`

/** Makes a statement that confirms orders. @param change SQL that sets further columns */
const confirmWith = (name: string, change: string): Statement => ({
  name,
  plannedOnce: ['orders', 'profiles'],
  text: `
    with confirmed as (
      update orders o
      set status = 'confirmed', confirmed_at = greatest($4, created_at), delivery_mode = $3, ended_by = $5${change}
      where o.order_id = any($1::uuid[]) and o.bank_id is not distinct from $2
        and ${isReserved} and o.reserved_until > $4
      returning o.*
    ), recorded as (${recordingOrders('order.confirmed', 'confirmed')}
    )
    select ${orderColumns}, ${sealedColumns} from confirmed o ${orderProfile}`,
})

const confirmStatement = confirmWith('esim.confirm', '')
/**
 * Confirms orders and stores their payment references. $6 has the references, in the sequence of the ids ($1). It is a
 * statement of its own, because most confirms have no reference and need no look-up in $6.
 */
const confirmWithReferences = confirmWith(
  'esim.confirm-with-references',
  ', payment_reference = ($6::text[])[array_position($1::uuid[], o.order_id)]',
)

/**
 * @property paymentReference null: none. Of several confirms of one order that come together, only the first one counts
 */
export type ConfirmItem = { orderId: string; paymentReference: string | null }

/**
 * Confirms the orders that belong to the bank and are still reserved.
 * @returns for each item, the order after the statement; null if it does not exist or belongs to another bank
 */
export async function confirm(
  database: Queryable,
  input: { bankId: string; deliveryMode: DeliveryMode; caller: string; now: Date },
  items: readonly ConfirmItem[],
): Promise<(ConfirmResult | null)[]> {
  const ids = items.map(({ orderId }) => orderId)
  // The ids are sorted, so that two statements that change the same orders cannot deadlock.
  const sorted = [...new Set(ids)].sort()
  const values = [sorted, input.bankId, input.deliveryMode, input.now, input.caller]
  const references = sorted.map(orderId => items[ids.indexOf(orderId)]?.paymentReference ?? null)
  const moved = await (references.every(reference => reference === null)
    ? database.tuples<SealedValues>(confirmStatement, values)
    : database.tuples<SealedValues>(confirmWithReferences, [...values, references]))
  const results = new Map(moved.map(row => [row[0], { moved: true, order: sealedOrderOf(row) }]))
  // A separate statement reads the orders that were not confirmed. When the first statement also looked for them, this
  // took a twentieth of its time, even when all orders were confirmed.
  const others = sorted.filter(orderId => !results.has(orderId))
  if (others.length > 0)
    for (const order of await findSealedOrders(database, input.bankId, others))
      results.set(order.orderId, { moved: false, order })
  // If there are several confirms of one order, only the first has `moved: true`; the others count as repeated.
  return ids.map((orderId, n) => {
    const result = results.get(orderId) ?? null
    return result?.moved && ids.indexOf(orderId) < n ? { ...result, moved: false } : result
  })
}

/** Cancels an order. @returns false when the order is no longer reserved, or belongs to another bank */
export async function cancel(database: Queryable, key: OrderKey & { caller: string }, now: Date): Promise<boolean> {
  const cancelled = await database.execute(
    {
      name: 'esim.cancel',
      text: `
        with cancelled as (
          update orders set status = 'cancelled', cancelled_at = greatest($3, created_at), ended_by = $4
          where order_id = $1 and bank_id is not distinct from $2 and ${isReserved} and reserved_until > $3
          returning order_id, bank_id, profile_id, tariff_id
        ), returned as (
          insert into returned_profiles (profile_id, tariff_id) select profile_id, tariff_id from cancelled on conflict do nothing
        ), recorded as (${recordingOrders('order.cancelled', 'cancelled')}
        )
        select from cancelled`,
    },
    [key.orderId, key.bankId, now, key.caller],
  )
  return cancelled === 1
}

const expiredAtOnce = 1_000
/**
 * SQL that reads the position of expiry-warning.ts, which is an instant. The event `order.expiring` is recorded already
 * for all reservations that end up to this instant. For a reservation that ends later, the statement that marks it as
 * expired must record this event first. The position is locked before any order, so that it cannot change meanwhile.
 */
const warnedUpTo = `
  warned_up_to as materialized (select reached from event_positions where name = 'order.expiring' for share)`
/**
 * A condition that is always true. It makes a statement read `warned_up_to`, and so take its lock, before it locks
 * orders.
 */
const isWarnedKnown = '(select reached from warned_up_to) is not null'
/** Records `order.expiring` for the `expired` reservations that do not have this event yet. */
const warnFirst = `
  late as (
    select o.bank_id, o.reserved_until - interval '${expiringMinutes} minutes' as at, ${orderText(`'reserved'`)} as text
    from expired o ${orderTextJoins} where o.reserved_until > (select reached from warned_up_to) and o.bank_id is not null
  ), warned as (
    ${recordingEvents({ type: 'order.expiring', from: 'late', to: { bank: 'bank_id' }, at: 'at', text: 'text' })} returning 1
  )`
/**
 * The expired reservations, after `warned` has run. Because the rows of `warned` are counted, PostgreSQL must record
 * `order.expiring` before the caller records `order.expired`.
 */
const afterWarning = 'expired cross join (select count(*) from warned) as first'
/** `ended_by` tells the trigger of migration 0026 that this statement records the event itself. */
const markExpired = `update orders set status = 'expired', ended_by = 'clock'`

/**
 * Marks reservations that are over as expired, and returns their profiles to the stock. Several processes share the
 * work. Correctness does not depend on it: readers compute the status, and a request that finds no free profile calls
 * this first.
 *
 * @returns whether there may be more, because one call marks only a limited number
 */
export async function expire(database: Queryable, now: Date): Promise<boolean> {
  const marked = await database.execute(
    {
      name: 'esim.expire',
      text: `
        with ${warnedUpTo}, lapsed as materialized (
          select order_id from orders where status = 'reserved' and reserved_until <= $1 and ${isWarnedKnown}
          order by reserved_until limit $2 for update skip locked
        ), expired as (
          ${markExpired} where order_id = any(array(select order_id from lapsed)) and ${isReserved}
          returning *
        ), ${warnFirst}, returned as (
          insert into returned_profiles (profile_id, tariff_id) select profile_id, tariff_id from expired on conflict do nothing
        ), recorded as (${recordingOrders('order.expired', afterWarning)}
        )
        select from expired`,
    },
    [now, expiredAtOnce],
  )
  return marked === expiredAtOnce
}

/**
 * Marks one reservation that is over as expired, and returns its profile to the stock. Does nothing if another
 * transition came first.
 */
export async function expireOrder(database: Queryable, orderId: string, now: Date): Promise<void> {
  await database.execute(
    {
      name: 'esim.expire-order',
      text: `
        with ${warnedUpTo}, expired as (
          ${markExpired} where order_id = $1 and ${isReserved} and reserved_until <= $2 and ${isWarnedKnown}
          returning *
        ), ${warnFirst}, recorded as (${recordingOrders('order.expired', afterWarning)}
        )
        insert into returned_profiles (profile_id, tariff_id) select profile_id, tariff_id from expired on conflict do nothing`,
    },
    [orderId, now],
  )
}

/**
 * Looks for a reservation of this tariff that is over but still stored as reserved. If there is one, another process is
 * changing it at this moment: it marks the reservation as expired, or confirms it just in time. Waits until this change
 * is committed or rolled back. Without this wait, the answer "sold out" could be wrong, because the reservation's
 * profile may become free.
 *
 * @returns false when there was no such reservation
 */
export async function waitForLapsed(database: Queryable, tariffId: number, now: Date): Promise<boolean> {
  const [row] = await database.query<{ found: number; held: number }>(
    {
      name: 'esim.wait-for-lapsed',
      // `held` waits for the lock on the row that `lapsed` found. The rows of `held` are counted, because PostgreSQL
      // would otherwise skip it.
      text: `
        with lapsed as materialized (
          select order_id from orders where tariff_id = $1 and status = 'reserved' and reserved_until <= $2 limit 1
        ), held as (
          select from orders where order_id = any(array(select order_id from lapsed)) for update
        )
        select (select count(*) from lapsed) as found, (select count(*) from held) as held`,
    },
    [tariffId, now],
  )
  return row !== undefined && row.found > 0
}

/**
 * Removes sold and withdrawn profiles from the list of returned profiles. Normally the statement that reserves a
 * profile removes its entry. But if that statement had to wait for the cancel that returned the profile, it cannot see
 * the new entry, and the entry stays. Such entries only waste space, because readers skip them.
 */
export function forgetSold(database: Queryable): Promise<number> {
  return database.execute(
    `delete from returned_profiles where profile_id = any(array(
       select r.profile_id from returned_profiles r
       cross join lateral (
         select from orders o where o.profile_id = r.profile_id and o.status in ('confirmed', 'withdrawn') limit 1) o))`,
  )
}

/**
 * For each tariff, returns the first profile found in four places: the profile that the previous search found
 * (`seen_free`), the profiles above the tariff's position (`stock_positions`), the returned profiles, and the
 * reservations that are over but not marked yet.
 */
const findFreeStatement: Statement = {
  name: 'esim.find-free',
  plannedOnce: ['orders', 'profiles'],
  text: `
    select t.tariff_id, f.profile_id
    from unnest($1::int[], $2::bigint[]) as t (tariff_id, seen_free)
    cross join lateral (select coalesce(
      (
        select p.profile_id from profiles p
        ${joinLiveOrder('p')}
        where p.profile_id = t.seen_free and ${isFree}
      ), (
        select p.profile_id
        from (
          select p.profile_id from profiles p
          where ${ofTariff('p', 't.tariff_id', 'coalesce((select taken_up_to from stock_positions s where s.tariff_id = t.tariff_id), 0)')}
          ${importedFirst('p')}
        ) p
        ${joinLiveOrder('p')}
        where ${isFree} limit 1
      ), (
        ${freeReturned('t.tariff_id')} limit 1
      ), (
        select o.profile_id from orders o
        where o.tariff_id = t.tariff_id and o.status = 'reserved' and o.reserved_until <= $3
        order by o.reserved_until limit 1
      )
    ) as profile_id offset 0) f
    where f.profile_id is not null`,
}

/**
 * Finds the tariffs that have a free profile now, with one profile each that can be sold.
 *
 * @param tariffs the tariffs' ids, each with the profile that the previous search found, if any. This profile is tried
 *   first, because a search from the beginning would read everything that was sold since
 */
export async function findFree(
  database: Queryable,
  tariffs: ReadonlyMap<number, number | null>,
  now: Date,
): Promise<Map<number, number>> {
  const rows = await database.tuples<[tariffId: number, profileId: number]>(findFreeStatement, [
    [...tariffs.keys()],
    [...tariffs.values()],
    now,
  ])
  return new Map(rows)
}
