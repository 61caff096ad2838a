/** The state that the account's pages keep in their addresses. */
import { counting, day, oneOf, searchParams, text } from '../routing/search.ts'

export const deliveryStates = ['pending', 'delivered', 'failed', 'skipped'] as const

export const partnerKinds = ['bank', 'merchant'] as const

/**
 * The account that is shown. The platform's people choose a bank or a merchant by its code. Without a code and a kind,
 * they see the platform's account. A kind without a code identifies no account yet. Other people always see their own
 * account.
 */
const accountFields = { bank: text, merchant: text, kind: oneOf(partnerKinds) }
export const accountSearch = searchParams(accountFields)
export type AccountSearch = ReturnType<typeof accountSearch>

/** The account, and which of its people or credentials the list shows. */
export const accountListSearch = searchParams({ ...accountFields, search: text, page: counting })
export type AccountListSearch = ReturnType<typeof accountListSearch>

export const deliveriesSearch = searchParams({
  state: oneOf(deliveryStates),
  type: text,
  from: day,
  to: day,
  page: counting,
})
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch>

/** A type of event, or a group of types (`order.*`). */
export const eventsSearch = searchParams({ type: text })
export type EventsSearch = ReturnType<typeof eventsSearch>
