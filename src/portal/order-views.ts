/** Orders as people see them. */
import type { ShownOrder } from './order-store.ts'

export function shownOrderView(order: ShownOrder) {
  const { status, mail } = order
  const isOver = status === 'cancelled' || status === 'expired'
  return {
    orderId: order.orderId,
    externalId: order.externalId,
    operatorCode: order.operatorCode,
    tariffCode: order.tariffCode,
    tariffName: order.tariffName,
    status,
    msisdn: isOver ? null : order.msisdn,
    price: Number(order.price),
    currency: order.currency,
    createdAt: order.createdAt.toISOString(),
    reservedUntil: order.reservedUntil.toISOString(),
    confirmedAt: order.confirmedAt?.toISOString() ?? null,
    cancelledAt: order.cancelledAt?.toISOString() ?? null,
    deliveryMode: order.deliveryMode,
    // What broke off while it was sent may have arrived.
    emailDelivery: mail === 'sending' ? 'unknown' : mail,
  }
}

/** One page of orders out of one more than it shows. */
export function orderPage<View>(orders: readonly ShownOrder[], limit: number, view: (order: ShownOrder) => View) {
  const shown = orders.slice(0, limit)
  const nextCursor = orders.length > limit ? (shown.at(-1)?.orderId ?? null) : null
  return { data: shown.map(view), nextCursor }
}

/** The same with whose order it is, for the platform's operator. */
export function operatorOrderView(order: ShownOrder) {
  const { bankId: id, bankCode: code, bankName: name } = order
  return { bank: { id, code, name }, ...shownOrderView(order) }
}

export const orderEvents = ['profile-imported', 'reserved', 'confirmed', 'cancelled', 'expired'] as const
export type OrderEvent = (typeof orderEvents)[number]

/** What has happened to an order and its profile, first things first. */
export function timelineOf(order: ShownOrder): { at: string; event: OrderEvent }[] {
  const events: [OrderEvent, Date | null][] = [
    ['profile-imported', order.importedAt],
    ['reserved', order.createdAt],
    ['confirmed', order.confirmedAt],
    ['cancelled', order.cancelledAt],
    ['expired', order.status === 'expired' ? order.reservedUntil : null],
  ]
  return events.flatMap(([event, at]) => (at ? [{ at: at.toISOString(), event }] : []))
}
