/** Reads the query of an order list for programs (contract/partner-orders.md, "The list"). */
import type { BrokenRule } from '../../error-rules.ts'
import { requireForm } from '../../form-errors.ts'
import { readBetween, type Span } from '../../text/span.ts'
import { type OrderStatus, orderStatuses } from '../orders/lifecycle.ts'
import { isAscending, type OrderSort } from './order-list-sql.ts'
import type { OrderListSearch } from './order-store.ts'

/**
 * Ascending lists leave out orders made within the last 15 seconds, because some transactions of that time may still be
 * open. A client that continues after a newer order would miss the orders of these transactions.
 */
const settledMs = 15_000

export type OrderListQuery = {
  externalId?: string
  status?: OrderStatus[]
  operatorCode?: string
  tariffCode?: string
  sort?: OrderSort
} & Partial<Record<`${'created' | 'confirmed' | 'ended'}${'From' | 'To'}`, string>>

const spans = ['created', 'confirmed', 'ended'] as const
const spanOf = (query: OrderListQuery, name: (typeof spans)[number]): Span =>
  readBetween(query, `${name}From`, `${name}To`)

/**
 * Checks the periods of a query, and reports all errors at once.
 *
 * @param schemaErrors the errors of the query's schema
 * @throws DomainError 'invalid' for invalid dates, and for the errors of the schema
 */
export function requireSpans(query: OrderListQuery, schemaErrors: readonly BrokenRule[]): void {
  requireForm(
    schemaErrors,
    spans.map(name => [[`${name}From`, `${name}To`], () => spanOf(query, name)]),
  )
}

/**
 * @returns a search for all matching orders, from the beginning
 * @throws DomainError 'invalid' for invalid dates
 */
export function listSearchOf(query: OrderListQuery, bankId: string, now: Date): OrderListSearch {
  const { externalId, operatorCode, tariffCode, sort = '-createdAt' } = query
  return {
    bankId,
    externalId,
    operatorCode,
    tariffCode,
    statuses: query.status ?? orderStatuses,
    created: spanOf(query, 'created'),
    confirmed: spanOf(query, 'confirmed'),
    ended: spanOf(query, 'ended'),
    sort,
    after: null,
    limit: null,
    now,
    asOf: isAscending(sort) ? new Date(now.getTime() - settledMs) : now,
  }
}
