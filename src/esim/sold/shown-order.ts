import type { DeliveryMode } from '../../partners/delivery-modes.ts'
import type { MailState } from '../orders/mail-state.ts'

/** An order as it is at the time of the search, without its secrets. */
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
  /** When its profile was imported. */
  importedAt: Date
  createdAt: Date
  reservedUntil: Date
  confirmedAt: Date | null
  cancelledAt: Date | null
  deliveryMode: DeliveryMode | null
  mail: MailState | null
  /** When the e-mail got its current state; null: there is no e-mail, or it was sent before this time was recorded. */
  mailAt: Date | null
  /** The bank's own reference, from the first confirm. */
  paymentReference: string | null
  /** Who reserved it, in the form of `callerName`; null: unknown. */
  reservedBy: string | null
  /** Who confirmed or cancelled it; `clock` for an expired order; null: not ended, or unknown. */
  endedBy: string | null
  /** The closed statement that contains the order. */
  statement: { statementId: string; number: number; day: string; closedAt: string } | null
}
