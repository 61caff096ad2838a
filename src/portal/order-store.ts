/** All SQL of orders as people look for them: found by what they know of an order, newest first, a page at a time. */
import type { Queryable } from '../db/database.ts'
import { firstOrderId } from '../esim/order-id.ts'
import type { DeliveryMode, MailState } from '../esim/store.ts'
import type { Span } from './span.ts'

/** An order as it is at the moment of the question, without its secrets. */
export type ShownOrder = {
  orderId: string
  bankId: string
  bankCode: string
  bankName: string
  externalId: string
  operatorCode: string
  tariffCode: string
  tariffName: string
  status: 'reserved' | 'confirmed' | 'cancelled' | 'expired'
  msisdn: string
  /** Decimal text. */
  price: string
  currency: string
  /** When its profile was loaded. */
  importedAt: Date
  createdAt: Date
  reservedUntil: Date
  confirmedAt: Date | null
  cancelledAt: Date | null
  deliveryMode: DeliveryMode | null
  mail: MailState | null
  /** Who confirmed or cancelled it, as `callerName` gives it; null: unknown. */
  endedBy: string | null
}

export type OrderSearch = Span & {
  /** The bank by its id or its code; without either, every bank. */
  bankId?: string
  bankCode: string | undefined
  orderId: string | undefined
  /** The first characters of the bank's own identifier. */
  externalId: string | undefined
  status: ShownOrder['status'] | undefined
  operatorCode: string | undefined
  tariffCode: string | undefined
  /** Only orders that hold a profile now: the one with this ICCID (its keyed hash), or those with this number. */
  profile?: { iccidHash: Buffer } | { msisdn: string }
}

/** Several profiles may have one number, as nothing forbids it. */
const maxProfilesOfNumber = 100

/**
 * The orders that fit, newest first.
 *
 * @param page.after the last order that was shown before; null: from the beginning
 */
export async function findOrders(
  database: Queryable,
  search: OrderSearch,
  page: { after: string | null; limit: number },
  now: Date,
): Promise<ShownOrder[]> {
  const values: unknown[] = [now, page.limit]
  const with_ = (value: unknown): string => `$${values.push(value)}`
  // What the operator took out of sale is of no bank. Named one by one, the banks make the index of `externalId` one to search in.
  const conditions = [
    search.bankId === undefined
      ? 'o.bank_id = any(array(select bank_id from banks))'
      : `o.bank_id = ${with_(search.bankId)}`,
  ]
  if (search.bankCode !== undefined) conditions.push(`b.code = ${with_(search.bankCode)}`)
  if (search.orderId !== undefined) conditions.push(`o.order_id = ${with_(search.orderId)}`)
  if (search.externalId !== undefined) conditions.push(`starts_with(o.external_id, ${with_(search.externalId)})`)
  const { operatorCode, tariffCode } = search
  if (operatorCode !== undefined || tariffCode !== undefined)
    conditions.push(`o.tariff_id = any(array(
      select t.tariff_id from tariffs t join mobile_operators m using (mobile_operator_id)
      where (${with_(operatorCode ?? null)}::text is null or m.code = $${values.length})
        and (${with_(tariffCode ?? null)}::text is null or t.code = $${values.length})))`)
  // An order's id begins with the instant at which it was made: the primary key is an index of time, too.
  if (search.from !== null) conditions.push(`o.order_id >= ${with_(firstOrderId(search.from))}`)
  if (search.until !== null) conditions.push(`o.order_id < ${with_(firstOrderId(search.until))}`)
  if (page.after !== null) conditions.push(`o.order_id < ${with_(page.after)}`)
  if (search.status !== undefined) conditions.push(statusCondition(search.status))
  let orders = 'orders'
  if (search.profile !== undefined) {
    const [column, value] =
      'msisdn' in search.profile ? ['msisdn', search.profile.msisdn] : ['iccid_hash', search.profile.iccidHash]
    // Its `offset 0` has the index of live orders searched first, whatever the planner expects of the other conditions.
    orders = `(
      select * from orders where profile_id = any(array(
        select profile_id from profiles where ${column} = ${with_(value)} limit ${maxProfilesOfNumber}))
        and status in ('reserved', 'confirmed', 'withdrawn') and (status <> 'reserved' or reserved_until > $1) offset 0)`
  }
  return database.query<ShownOrder>(
    `select o.order_id as "orderId", o.bank_id as "bankId", b.code as "bankCode", b.name as "bankName", o.external_id as "externalId",
            m.code as "operatorCode", t.code as "tariffCode", t.name as "tariffName",
            case when o.status = 'reserved' and o.reserved_until <= $1 then 'expired' else o.status end as status,
            p.msisdn, p.imported_at as "importedAt", o.price::text, o.currency, o.created_at as "createdAt", o.reserved_until as "reservedUntil",
            o.confirmed_at as "confirmedAt", o.cancelled_at as "cancelledAt", o.delivery_mode as "deliveryMode", o.mail, o.ended_by as "endedBy"
     from ${orders} o join banks b using (bank_id) join profiles p using (profile_id)
     join tariffs t on t.tariff_id = o.tariff_id join mobile_operators m using (mobile_operator_id)
     where ${conditions.join(' and ')} order by o.order_id desc limit $2`,
    values,
  )
}

/** An order whose reservation is over is expired, marked or not. `$1` is now. */
function statusCondition(status: ShownOrder['status']): string {
  if (status === 'reserved') return `o.status = 'reserved' and o.reserved_until > $1`
  if (status === 'expired') return `(o.status = 'expired' or o.status = 'reserved' and o.reserved_until <= $1)`
  return `o.status = '${status}'`
}

/** Logins of people, by their ids. */
export async function findLogins(database: Queryable, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await database.query<{ userId: string; login: string }>(
    'select user_id as "userId", login from portal_users where user_id = any($1::uuid[])',
    [userIds],
  )
  return new Map(rows.map(({ userId, login }) => [userId, login]))
}
