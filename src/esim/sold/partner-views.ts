/** Builds the answers of the Partner API about orders (contract/partner-orders.md). */
import { parseCallerName } from '../../caller.ts'
import { instantText } from '../../text/instant-text.ts'
import type { ReadCount } from '../orders/activation-reads-store.ts'
import { shownMail } from '../orders/mail-state.ts'
import { endOf, shownEnd, shownMsisdn } from '../orders/shown-fields.ts'
import type { LookedUpOrder } from './order-look-up.ts'

const text = (instant: Date | null): string | null => instant && instantText(instant)

export function partnerOrderView(order: LookedUpOrder) {
  const { status, mail, statement } = order
  return {
    orderId: order.orderId,
    externalId: order.externalId,
    operatorCode: order.operatorCode,
    tariffCode: order.tariffCode,
    status,
    msisdn: shownMsisdn(order),
    reservedUntil: shownEnd(order),
    createdAt: instantText(order.createdAt),
    confirmedAt: text(order.confirmedAt),
    price: order.price,
    currency: order.currency,
    endedAt: text(endOf(order)),
    cancelledAt: text(order.cancelledAt),
    deliveryMode: order.deliveryMode,
    emailDelivery: mail && shownMail(mail),
    paymentReference: order.paymentReference,
    statement: statement && { statementId: statement.statementId, number: statement.number, day: statement.day },
  }
}

export const timelineEvents = [
  'reserved',
  'confirmed',
  'cancelled',
  'expired',
  'email_sending',
  'email_sent',
  'email_failed',
  'email_unknown',
  'confirm_repeated',
  'qr_read',
  'stated',
] as const
export const timelineActors = ['system', 'person', 'clock', 'operator'] as const

type TimelineActor = { type: (typeof timelineActors)[number]; id: string | null }
export type TimelineEntry = {
  at: string
  event: (typeof timelineEvents)[number]
  /** null: the order was made before callers were recorded. */
  by: TimelineActor | null
  detail: { count?: number; lastAt?: string; statementId?: string; number?: number }
}

const clock: TimelineActor = { type: 'clock', id: null }

/**
 * The history of an order, oldest first.
 *
 * @param logins of the people among the callers, by their ids
 */
export function partnerTimelineOf(
  order: Omit<LookedUpOrder, 'operatorCode' | 'tariffCode'>,
  reads: readonly ReadCount[],
  logins: ReadonlyMap<string, string>,
): TimelineEntry[] {
  const { mail, statement } = order
  const by = (caller: string | null): TimelineActor | null => actorOf(caller, logins)
  const entries: (TimelineEntry | null)[] = [
    entry('reserved', order.createdAt, by(order.reservedBy)),
    entry('confirmed', order.confirmedAt, by(order.endedBy)),
    entry('cancelled', order.cancelledAt, by(order.endedBy)),
    entry('expired', order.status === 'expired' ? order.reservedUntil : null, clock),
    mail && entry(`email_${mail}`, order.mailAt ?? order.confirmedAt, clock),
    ...reads.map(({ kind, caller, reads: count, firstAt, lastAt }) =>
      entry(kind, firstAt, by(caller), { count, lastAt: instantText(lastAt) }),
    ),
    statement &&
      entry('stated', new Date(statement.closedAt), clock, {
        statementId: statement.statementId,
        number: statement.number,
      }),
  ]
  return entries.filter(one => one !== null).sort((one, other) => one.at.localeCompare(other.at))
}

function entry(
  event: TimelineEntry['event'],
  at: Date | null,
  by: TimelineActor | null,
  detail: TimelineEntry['detail'] = {},
): TimelineEntry | null {
  return at && { at: instantText(at), event, by, detail }
}

function actorOf(caller: string | null, logins: ReadonlyMap<string, string>): TimelineActor | null {
  if (caller === null) return null
  const { type, id } = parseCallerName(caller)
  return { type, id: type === 'system' ? id : (logins.get(id) ?? null) }
}
