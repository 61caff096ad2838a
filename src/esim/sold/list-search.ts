/** Reads the query of an order list for programs (contract/partner-orders.md, "The list"). */
import type { Static } from 'typebox'
import type { BrokenRule } from '../../error-rules.ts'
import { requireForm } from '../../form-errors.ts'
import { readBetween, type Span } from '../../text/span.ts'
import { orderStatuses } from '../orders/lifecycle.ts'
import { isAscending, type OrderSort, settledSeconds } from './order-list-sql.ts'
import type { OrderListSearch } from './order-store.ts'
import type { OrderFileQuery } from './partner-schemas.ts'

export type OrderListQuery = Static<typeof OrderFileQuery> & { sort?: OrderSort }

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
  const { externalId, status, operatorCode, tariffCode, sort = '-createdAt', ...periods } = query
  const { createdFrom, createdTo, confirmedFrom, confirmedTo, endedFrom, endedTo, ...unread } = periods
  // This does not compile as long as the schema has a filter that is not read here.
  unread satisfies Record<string, never>
  return {
    bankId,
    externalId,
    operatorCode,
    tariffCode,
    statuses: status ?? orderStatuses,
    created: readBetween({ createdFrom, createdTo }, 'createdFrom', 'createdTo'),
    confirmed: readBetween({ confirmedFrom, confirmedTo }, 'confirmedFrom', 'confirmedTo'),
    ended: readBetween({ endedFrom, endedTo }, 'endedFrom', 'endedTo'),
    sort,
    after: null,
    limit: null,
    now,
    asOf: isAscending(sort) ? new Date(now.getTime() - settledSeconds * 1000) : now,
  }
}
