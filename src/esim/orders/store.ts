/**
 * All SQL of orders. The hot statements take many orders at once (`unnest`): requests that arrive together share one, see
 * `db/batching.ts`. Whose an order is, and whether it may be changed, stands in each statement.
 */

import type { Queryable, Statement } from '../../db/database.ts'
import { orderText, orderTextJoins, tellingEvents } from '../../events/event-writing.ts'
import { tell } from '../../events/tell.ts'
import type { DeliveryMode } from '../../partners/delivery-modes.ts'
import { expiringMinutes, type OrderStatus } from './lifecycle.ts'

export const mailStates = ['sending', 'sent', 'unknown', 'failed'] as const
export type MailState = (typeof mailStates)[number]

export type Order = {
  orderId: string
  externalId: string
  tariffId: number
  /** As stored; `lifecycle.statusAt` says what it is now. */
  status: OrderStatus
  msisdn: string
  createdAt: Date
  reservedUntil: Date
  confirmedAt: Date | null
}

/** A confirmed order with what the bank has paid for, still sealed. */
export type SealedOrder = Order & {
  deliveryMode: DeliveryMode | null
  mail: MailState | null
  /** The bank's own, as the first confirm gave it. */
  paymentReference: string | null
  sealed: Buffer
  iccidHash: Buffer
  profileId: number
}

/** What an order is read from, as `o`; with `orderProfile`. As `OrderValues`, in this order. */
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

/** The order of a row that begins with `orderColumns`. */
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

/** An array of UUIDs, which need no quotes, as PostgreSQL reads it. */
const arrayOfIds = (ids: readonly string[]): string => `{${ids.join(',')}}`

export type OrderKey = { orderId: string; bankId: string }

/** The orders in the order of their keys; null where there is none, or it is another bank's. */
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

/** Whether each order is stored as reserved, in the order of their ids. */
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

/** The order of a row that begins with `orderColumns` and `sealedColumns`. */
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
 * Asked of orders that are named by their ids: no index serves it. The planner may believe that nothing is reserved, and would then
 * look for each of them among all reservations.
 */
const isReserved = `status || '' = 'reserved'`

/** @param change what it sets besides */
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
    ), told as (${tell('order.confirmed', 'confirmed')}
    )
    select ${orderColumns}, ${sealedColumns} from confirmed o ${orderProfile}`,
})

const confirmStatement = confirmWith('esim.confirm', '')
/** A statement of its own: most confirms bring no reference, and need not pay for finding each one's. */
const confirmWithReferences = confirmWith(
  'esim.confirm-with-references',
  ', payment_reference = ($6::text[])[array_position($1::uuid[], o.order_id)]',
)

/** @property paymentReference of one order's confirms that come together, the first one's counts */
export type ConfirmItem = { orderId: string; paymentReference: string | null }

/**
 * Confirms every order of one bank that is still reserved, and gives each as it is then; null for one that is not there or another
 * bank's.
 */
export async function confirm(
  database: Queryable,
  given: { bankId: string; deliveryMode: DeliveryMode; caller: string; now: Date },
  items: readonly ConfirmItem[],
): Promise<(ConfirmResult | null)[]> {
  // As the database writes them: a caller may use capitals, and the answers are looked up by these.
  const ids = items.map(({ orderId }) => orderId.toLowerCase())
  // In one order: two statements that share orders then wait for each other, and never in a circle.
  const sorted = [...new Set(ids)].sort()
  const values = [sorted, given.bankId, given.deliveryMode, given.now, given.caller]
  const references = sorted.map(orderId => items[ids.indexOf(orderId)]?.paymentReference ?? null)
  const moved = await (references.every(reference => reference === null)
    ? database.tuples<SealedValues>(confirmStatement, values)
    : database.tuples<SealedValues>(confirmWithReferences, [...values, references]))
  const results = new Map(moved.map(row => [row[0], { moved: true, order: sealedOrderOf(row) }]))
  // Looked up only where it is needed: within the statement it was a twentieth of its work though all had moved.
  const others = sorted.filter(orderId => !results.has(orderId))
  if (others.length > 0)
    for (const order of await findSealedOrders(database, given.bankId, others))
      results.set(order.orderId, { moved: false, order })
  return ids.map(orderId => results.get(orderId) ?? null)
}

/** @returns false when the order is not reserved any more, or not this bank's */
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
        ), told as (${tell('order.cancelled', 'cancelled')}
        )
        select from cancelled`,
    },
    [key.orderId, key.bankId, now, key.caller],
  )
  return cancelled === 1
}

const expiredAtOnce = 1_000
/**
 * Up to which end reservations were told to be expiring (expiring.ts). Locked before any order is, so that it does not move meanwhile:
 * what ends before it was told is told by whoever marks it, in this order.
 */
const warnedUpTo = `
  warned_up_to as materialized (select reached from event_positions where name = 'order.expiring' for share)`
const isWarnedKnown = '(select reached from warned_up_to) is not null'
const warnFirst = `
  late as (
    select o.bank_id, o.reserved_until - interval '${expiringMinutes} minutes' as at, ${orderText(`'reserved'`)} as text
    from expired o ${orderTextJoins} where o.reserved_until > (select reached from warned_up_to) and o.bank_id is not null
  ), warned as (
    ${tellingEvents({ type: 'order.expiring', from: 'late', to: { bank: 'bank_id' }, at: 'at', text: 'text' })} returning 1
  )`
const afterWarning = 'expired cross join (select count(*) from warned) as first'
/** `ended_by` says that it is told by the statement itself (migration 0026). */
const markExpired = `update orders set status = 'expired', ended_by = 'clock'`

/**
 * Marks reservations that are over and gives their profiles back; several processes at once share the work. Correctness does not
 * wait for it: readers compute the status, and whoever finds no free profile calls this first.
 *
 * @returns whether there may be more: one call marks a bounded number
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
        ), told as (${tell('order.expired', afterWarning)}
        )
        select from expired`,
    },
    [now, expiredAtOnce],
  )
  return marked === expiredAtOnce
}

/** Marks one reservation that is over and gives its profile back, unless another move came first. */
export async function expireOrder(database: Queryable, orderId: string, now: Date): Promise<void> {
  await database.execute(
    {
      name: 'esim.expire-order',
      text: `
        with ${warnedUpTo}, expired as (
          ${markExpired} where order_id = $1 and ${isReserved} and reserved_until <= $2 and ${isWarnedKnown}
          returning *
        ), ${warnFirst}, told as (${tell('order.expired', afterWarning)}
        )
        insert into returned_profiles (profile_id, tariff_id) select profile_id, tariff_id from expired on conflict do nothing`,
    },
    [orderId, now],
  )
}

/**
 * Waits until whoever is just deciding about a reservation of the tariff that is over (another process that marks it, a confirm that
 * came first) has done so. The profile can be sold from that instant on, and nobody is to be told otherwise meanwhile.
 *
 * @returns false when there was nothing to wait for
 */
export async function waitForLapsed(database: Queryable, tariffId: number, now: Date): Promise<boolean> {
  const [row] = await database.query<{ found: number; held: number }>(
    {
      name: 'esim.wait-for-lapsed',
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
 * Removes profiles that are gone for good from those that were given back. A sale does so itself, unless it waited for the very cancel
 * that gave the profile back; such an entry is passed over by every reader, and only takes up room.
 */
export function forgetSold(database: Queryable): Promise<number> {
  return database.execute(
    `delete from returned_profiles where profile_id = any(array(
       select r.profile_id from returned_profiles r
       cross join lateral (
         select from orders o where o.profile_id = r.profile_id and o.status in ('confirmed', 'withdrawn') limit 1) o))`,
  )
}

/** Marks the one attempt at the e-mail before its first byte goes out. @returns false when it was attempted for good before */
export async function claimMail(database: Queryable, orderId: string, now: Date): Promise<boolean> {
  const claimed = await database.execute(
    {
      name: 'esim.claim-mail',
      text: `update orders set mail = 'sending', mail_at = $2
             where order_id = $1 and status = 'confirmed' and (mail is null or mail = 'failed')`,
    },
    [orderId, now],
  )
  return claimed === 1
}

/** @param at by the clock of the rules */
export async function recordMail(database: Queryable, orderId: string, outcome: MailState, at: Date): Promise<void> {
  await database.execute(
    {
      name: 'esim.record-mail',
      text: `
        with recorded as (
          update orders set mail = $2, mail_at = $3 where order_id = $1 and mail = 'sending' returning *
        ), texts as (
          select o.bank_id, left(text, -1) || ',"emailDelivery":"' || $2::text || '"}' as text
          from recorded o ${orderTextJoins} cross join lateral (select ${orderText()} as text) as texts
        )
        ${tellingEvents({ type: 'order.email_delivery', from: 'texts', to: { bank: 'bank_id' }, at: '$3::timestamptz', text: 'text' })}`,
    },
    [orderId, outcome, at],
  )
}

/** Joins as `o` whether a profile is taken: a probe of the unique index on live orders for each, whatever the planner would like better. */
export const joinLiveOrder = (profile: string): string => `
  left join lateral (
    select true as taken from orders o
    where o.profile_id = ${profile}.profile_id and o.status in ('reserved', 'confirmed', 'withdrawn') limit 1) o on true`

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
        where p.profile_id = t.seen_free and o.taken is null
      ), (
        select p.profile_id
        from (
          select p.profile_id from profiles p
          where p.tariff_id = t.tariff_id
            and p.profile_id > coalesce((select taken_up_to from stock_positions s where s.tariff_id = t.tariff_id), 0)
          order by p.profile_id
        ) p
        ${joinLiveOrder('p')}
        where o.taken is null limit 1
      ), (
        select r.profile_id from returned_profiles r
        ${joinLiveOrder('r')}
        where r.tariff_id = t.tariff_id and o.taken is null limit 1
      ), (
        select o.profile_id from orders o
        where o.tariff_id = t.tariff_id and o.status = 'reserved' and o.reserved_until <= $3
        order by o.reserved_until limit 1
      )
    ) as profile_id offset 0) f
    where f.profile_id is not null`,
}

/**
 * Which tariffs have a free profile at this instant, each with one that can be sold.
 *
 * @param tariffs their ids, each with the profile that was found before, if any. It is looked at first: behind a burst of sales the
 *   first free profile is found by walking over all that were just sold
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
