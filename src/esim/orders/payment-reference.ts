/**
 * The bank's own reference of a payment, which a confirm may send in a header (contract/esim.md, "The payment
 * reference"). It is a header because the body of a confirm accepts no further field.
 */

export const paymentReferenceHeader = 'perkline-payment-reference'

export const paymentReferenceOutcomes = ['kept', 'ignored'] as const

/** The form of a payment reference: 1 to 64 visible ASCII characters. */
export const paymentReferencePattern = '^[!-~]{1,64}$'
const form = new RegExp(paymentReferencePattern)

/**
 * Reads the payment reference from its header. Returns null when the header is missing or invalid: an invalid reference
 * must not make a confirm fail.
 */
export function readPaymentReference(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && form.test(header) ? header : null
}

/**
 * Returns 'kept' if the order has the reference of the request, otherwise 'ignored'. Called only if the request has the
 * header.
 * @param given the reference of the request; null: the header is malformed
 */
export const outcomeOf = (
  given: string | null,
  order: { paymentReference: string | null },
): (typeof paymentReferenceOutcomes)[number] =>
  given !== null && order.paymentReference === given ? 'kept' : 'ignored'
