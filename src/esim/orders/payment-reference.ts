/**
 * The bank's own reference of a payment, which a confirm may bring in a header (contract/esim.md, "The payment reference"): the body of
 * a confirm takes no further field.
 */

export const paymentReferenceHeader = 'perkline-payment-reference'

export const paymentReferenceOutcomes = ['kept', 'ignored'] as const

/** 1 to 64 visible ASCII characters. */
export const paymentReferencePattern = '^[!-~]{1,64}$'
const form = new RegExp(paymentReferencePattern)

/** @returns null when none was given, or what cannot be kept: a confirm never fails because of it */
export function readPaymentReference(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && form.test(header) ? header : null
}

/** Whether the order has the reference that was given. @param given null: it is malformed */
export const outcomeOf = (
  given: string | null,
  order: { paymentReference: string | null },
): (typeof paymentReferenceOutcomes)[number] =>
  given !== null && order.paymentReference === given ? 'kept' : 'ignored'
