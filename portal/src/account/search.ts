/** The state that the account's pages keep in their addresses. */
import { counting, day, oneOf, searchParams, text } from '../routing/search.ts'

export const deliveryStates = ['pending', 'delivered', 'failed', 'skipped'] as const

/**
 * The account that is shown. The platform's people choose a bank or a merchant by its code. Without a code, they see
 * the platform's account. Other people always see their own account.
 */
export const accountSearch = searchParams({ bank: text, merchant: text })
export type AccountSearch = ReturnType<typeof accountSearch>

/** The account, and which of its people or credentials the list shows. */
export const accountListSearch = searchParams({ bank: text, merchant: text, search: text, page: counting })
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
