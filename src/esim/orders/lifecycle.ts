/**
 * Decides which transitions of an order are possible (contract/esim.md, "States"). Only this module knows them. The
 * statement that changes an order checks the order's status again, because a decision may be based on an outdated read.
 */
import { DomainError, type ErrorCode } from '../../errors.ts'

export const orderStatuses = ['reserved', 'confirmed', 'cancelled', 'expired'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/**
 * SQL condition for live orders. Their profiles cannot be sold again. The index of live orders has the same condition.
 * A reservation that is over is live until it is marked as expired. An order with the status `withdrawn` belongs to no
 * bank and takes a profile off sale (esim/stock/withdrawal.ts). No API returns such orders.
 */
export const holdsProfile = `status in ('reserved', 'confirmed', 'withdrawn')`

export const reservationMinutes = 15
/** How many minutes before its end a reservation is reported as expiring. */
export const expiringMinutes = 5

export const triggers = ['confirm', 'cancel'] as const
export type Trigger = (typeof triggers)[number]

/**
 * All transitions that a bank can request. The transition from reserved to expired is not in this list, because it
 * happens by time alone (`statusAt`).
 */
export const transitions: readonly { from: OrderStatus; trigger: Trigger; to: OrderStatus }[] = [
  { from: 'reserved', trigger: 'confirm', to: 'confirmed' },
  { from: 'reserved', trigger: 'cancel', to: 'cancelled' },
]

/** Whether a stored order with this status never changes again. */
export const isFinal = (status: OrderStatus): boolean => !transitions.some(({ from }) => from === status)

/** Triggers that get the same answer when they are repeated (safe retry). */
const repeatable: readonly { trigger: Trigger; status: OrderStatus }[] = [
  { trigger: 'confirm', status: 'confirmed' },
  { trigger: 'cancel', status: 'cancelled' },
]

/**
 * The status of a stored order at an instant. From `reservedUntil` on, a reservation is expired, even if no job has
 * marked it yet.
 */
export function statusAt(order: { status: OrderStatus; reservedUntil: Date }, now: Date): OrderStatus {
  return order.status === 'reserved' && order.reservedUntil <= now ? 'expired' : order.status
}

/** SQL for `statusAt`. @param order the alias of the row of the order @param now SQL for the instant */
export const statusAtSql = (order: string, now: string): string =>
  `case when ${order}.status = 'reserved' and ${order}.reserved_until <= ${now}::timestamptz then 'expired' else ${order}.status end`

/**
 * SQL condition for use on orders whose stored status is reserved. It is true if the order's status at an instant
 * (`statusAt`) is one of `statuses`. It compares the column `reserved_until`, so that an index can be used.
 *
 * @param now returns SQL for the instant; called only if the condition needs it
 * @returns null when no such order can have one of these statuses
 */
export function reservedWith(statuses: readonly OrderStatus[], now: () => string): string | null {
  const [live, over] = [statuses.includes('reserved'), statuses.includes('expired')]
  if (live && over) return 'true'
  if (live) return `reserved_until > ${now()}::timestamptz`
  return over ? `reserved_until <= ${now()}::timestamptz` : null
}

export function reservationEnd(now: Date): Date {
  return new Date(now.getTime() + reservationMinutes * 60_000)
}

/**
 * Decides what a trigger does to an order of a bank.
 *
 * @returns 'transition' with the new status, or 'repeat' when the same trigger has already led to the order's status
 * @throws DomainError 'order-confirmed', 'order-cancelled' or 'order-expired' when the order's status does not allow it
 */
export function decide(
  order: { status: OrderStatus; reservedUntil: Date },
  trigger: Trigger,
  now: Date,
): { outcome: 'transition'; to: OrderStatus } | { outcome: 'repeat' } {
  const status = statusAt(order, now)
  const transition = transitions.find(({ from, trigger: by }) => from === status && by === trigger)
  if (transition) return { outcome: 'transition', to: transition.to }
  if (repeatable.some(repeat => repeat.trigger === trigger && repeat.status === status)) return { outcome: 'repeat' }
  throw new DomainError(codeOf[status], `The order is ${status}: ${refusals[trigger]}`)
}

/** For each status, the error code for a trigger that this status does not allow. */
const codeOf: Record<OrderStatus, ErrorCode> = {
  reserved: 'conflict',
  confirmed: 'order-confirmed',
  cancelled: 'order-cancelled',
  expired: 'order-expired',
}

const refusals: Record<Trigger, string> = {
  confirm: 'only a reserved order can be confirmed',
  cancel: 'only a reserved order can be cancelled',
}

/** @throws DomainError 'order-not-confirmed' before the order is confirmed */
export function requireConfirmed(order: { status: OrderStatus; reservedUntil: Date }, now: Date): void {
  const status = statusAt(order, now)
  if (status !== 'confirmed')
    throw new DomainError('order-not-confirmed', `The order is ${status}: the QR code exists once it is confirmed`)
}
