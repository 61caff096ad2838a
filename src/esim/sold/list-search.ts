/** Reads the query of an order list for programs (contract/partner-orders.md, "The list"). */
import { readBetween, type Span } from '../../text/span.ts'
import { type OrderStatus, orderStatuses } from '../orders/lifecycle.ts'
import { isAscending, type OrderSort } from './order-list-sql.ts'
import type { OrderListSearch } from './order-store.ts'

/**
 * Ascending lists leave out orders made within the last 15 seconds. The transaction of such an order may still be open,
 * and a client that reads on from a newer order would skip it.
 */
const settledMs = 15_000

export type OrderListQuery = {
  externalId?: string
  status?: OrderStatus[]
  operatorCode?: string
  tariffCode?: string
  sort?: OrderSort
} & Partial<Record<`${'created' | 'confirmed' | 'ended'}${'From' | 'To'}`, string>>

/**
 * @returns a search for all matching orders, from the beginning
 * @throws DomainError 'invalid' for invalid dates
 */
export function listSearchOf(query: OrderListQuery, bankId: string, now: Date): OrderListSearch {
  const { externalId, operatorCode, tariffCode, sort = '-createdAt' } = query
  const spanOf = (name: 'created' | 'confirmed' | 'ended'): Span => readBetween(query, `${name}From`, `${name}To`)
  return {
    bankId,
    externalId,
    operatorCode,
    tariffCode,
    statuses: query.status ?? orderStatuses,
    created: spanOf('created'),
    confirmed: spanOf('confirmed'),
    ended: spanOf('ended'),
    sort,
    after: null,
    limit: null,
    now,
    asOf: isAscending(sort) ? new Date(now.getTime() - settledMs) : now,
  }
}
