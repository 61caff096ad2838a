/**
 * Which fields of an order are shown in which status (contract/esim.md, contract/partner-orders.md), as TypeScript and as SQL.
 * `status` is always the status of now (`statusAt`). Events have their own SQL, because `outbox/` knows no orders
 * (`outbox/event-writing.ts`).
 */
import { instantText } from '../../text/instant-text.ts'
import type { OrderStatus } from './lifecycle.ts'

/** Orders that ended without a sale show no phone number. */
const unsold: readonly OrderStatus[] = ['cancelled', 'expired']
/** Orders that ended before their reservation did show no end of the reservation. */
const endedEarly: readonly OrderStatus[] = ['confirmed', 'cancelled']

const listSql = (statuses: readonly OrderStatus[]): string => `(${statuses.map(status => `'${status}'`).join(', ')})`

/** The phone number; null when the order ended without a sale, and when the number was removed (KEEP_MSISDN_DAYS; stored as ''). */
export const shownMsisdn = ({ status, msisdn }: { status: OrderStatus; msisdn: string }): string | null =>
  unsold.includes(status) || msisdn === '' ? null : msisdn

/** SQL condition: `shownMsisdn` shows the number. @param status @param msisdn SQL for the order's fields */
export const showsMsisdnSql = (status: string, msisdn: string): string =>
  `${status} not in ${listSql(unsold)} and ${msisdn} <> ''`

/** The end of the reservation; null when the order was confirmed or cancelled. */
export const shownEnd = ({ status, reservedUntil }: { status: OrderStatus; reservedUntil: Date }): string | null =>
  endedEarly.includes(status) ? null : instantText(reservedUntil)

/** SQL condition: `shownEnd` shows the end. @param status SQL for the order's status */
export const showsEndSql = (status: string): string => `${status} not in ${listSql(endedEarly)}`

type Ends = { status: OrderStatus; confirmedAt: Date | null; cancelledAt: Date | null; reservedUntil: Date }

/** When the order was confirmed or cancelled, or expired; null: it is still reserved. */
export const endOf = ({ status, confirmedAt, cancelledAt, reservedUntil }: Ends): Date | null =>
  status === 'reserved' ? null : (confirmedAt ?? cancelledAt ?? reservedUntil)

/** SQL for `endOf` of an order that is not reserved. The parameters are SQL for its instants, or for their texts. */
export const endSql = (confirmedAt: string, cancelledAt: string, reservedUntil: string): string =>
  `coalesce(${confirmedAt}, ${cancelledAt}, ${reservedUntil})`
