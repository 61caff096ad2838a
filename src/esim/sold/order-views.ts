/** Builds the answers about orders that people see. */
import { parseCallerName } from '../../caller.ts'
import { instantText } from '../../text/instant-text.ts'
import type { ReadCount } from '../orders/activation-reads-store.ts'
import { shownMail } from '../orders/mail-state.ts'
import { shownMsisdn } from '../orders/shown-fields.ts'
import type { ShownOrder } from './shown-order.ts'

export function shownOrderView(order: ShownOrder) {
  const { status, mail } = order
  return {
    orderId: order.orderId,
    externalId: order.externalId,
    operatorCode: order.operatorCode,
    tariffCode: order.tariffCode,
    tariffName: order.tariffName,
    status,
    msisdn: shownMsisdn(order),
    price: Number(order.price),
    currency: order.currency,
    createdAt: instantText(order.createdAt),
    reservedUntil: instantText(order.reservedUntil),
    confirmedAt: order.confirmedAt && instantText(order.confirmedAt),
    cancelledAt: order.cancelledAt && instantText(order.cancelledAt),
    deliveryMode: order.deliveryMode,
    emailDelivery: mail && shownMail(mail),
    paymentReference: order.paymentReference,
    statement: order.statement && {
      statementId: order.statement.statementId,
      number: order.statement.number,
      day: order.statement.day,
    },
  }
}

/**
 * Makes a page of at most `limit` orders.
 * @param orders has one order more than `limit` if there is another page
 */
export function orderPage<View>(orders: readonly ShownOrder[], limit: number, view: (order: ShownOrder) => View) {
  const shown = orders.slice(0, limit)
  const nextCursor = orders.length > limit ? (shown.at(-1)?.orderId ?? null) : null
  return { data: shown.map(view), nextCursor }
}

/** How the platform's operator sees an order: like `shownOrderView`, with the order's bank. */
export function operatorOrderView(order: ShownOrder) {
  const { bankId: id, bankCode: code, bankName: name } = order
  return { bank: { id, code, name }, ...shownOrderView(order) }
}

export const orderEvents = [
  'profile-imported',
  'reserved',
  'confirmed',
  'cancelled',
  'expired',
  'email-sending',
  'email-sent',
  'email-failed',
  'email-unknown',
  'confirm-repeated',
  'qr-read',
  'stated',
] as const
type OrderEvent = (typeof orderEvents)[number]

/**
 * Who did something with the order. `id` is the clientId of a system or the login of a person (null if the login was
 * deleted).
 */
type Actor = { type: 'system' | 'person'; id: string | null }
export type OrderHappening = {
  at: string
  event: OrderEvent
  /** null: the platform itself, or unknown. */
  by: Actor | null
  /** How often this caller did this; null for something that happens only once. */
  count: number | null
  lastAt: string | null
}

const readEvents = { confirm_repeated: 'confirm-repeated', qr_read: 'qr-read' } as const

/**
 * The history of an order and its profile, oldest first, with the callers that read its activation data.
 *
 * @param logins of the people among the callers, by their ids
 */
export function timelineOf(
  order: ShownOrder,
  reads: readonly ReadCount[],
  logins: ReadonlyMap<string, string>,
): OrderHappening[] {
  const events: [OrderEvent, Date | null, string | null][] = [
    ['profile-imported', order.importedAt, null],
    ['reserved', order.createdAt, order.reservedBy],
    ['confirmed', order.confirmedAt, order.endedBy],
    ['cancelled', order.cancelledAt, order.endedBy],
    ['expired', order.status === 'expired' ? order.reservedUntil : null, null],
    [`email-${order.mail ?? 'sent'}`, order.mail && (order.mailAt ?? order.confirmedAt), null],
    ['stated', order.statement && new Date(order.statement.closedAt), null],
  ]
  const once = events.flatMap(([event, at, caller]): OrderHappening[] =>
    at ? [{ at: at.toISOString(), event, by: actorOf(caller, logins), count: null, lastAt: null }] : [],
  )
  const repeated = reads.map(({ kind, caller, reads: count, firstAt, lastAt }): OrderHappening => {
    const by = actorOf(caller, logins)
    return { at: firstAt.toISOString(), event: readEvents[kind], by, count, lastAt: lastAt.toISOString() }
  })
  return [...once, ...repeated].sort((one, other) => one.at.localeCompare(other.at))
}

function actorOf(caller: string | null, logins: ReadonlyMap<string, string>): Actor | null {
  if (caller === null) return null
  const { type, id } = parseCallerName(caller)
  return { type, id: type === 'system' ? id : (logins.get(id) ?? null) }
}
