/**
 * The history of one order: its changes, and who read its activation data. Call these functions in one snapshot, so that
 * the reads fit the order.
 */
import { parseCallerName } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { findReads, type ReadCount } from '../orders/activation-reads-store.ts'
import type { OrderName } from '../orders/known-orders.ts'
import { findByNames, findLogins, findOrders, type OrderSearch, type StoredOrder } from './order-store.ts'
import type { ShownOrder } from './shown-order.ts'

/** `logins` of the people among the callers, by their ids. */
type Timeline<Order> = { order: Order; reads: ReadCount[]; logins: Map<string, string> }

/**
 * The order that a search finds, as people see it, with its history.
 *
 * @throws DomainError 'not-found' when the search finds none
 */
export async function readTimeline(database: Queryable, search: OrderSearch, now: Date): Promise<Timeline<ShownOrder>> {
  const [order] = await findOrders(database, search, { after: null, limit: 1 }, now)
  return withReads(database, order)
}

/** A bank's order as it is stored, with its history. @throws DomainError 'not-found', also for another bank's order */
export async function readStoredTimeline(database: Queryable, name: OrderName): Promise<Timeline<StoredOrder>> {
  const [order] = await findByNames(database, 'orderId', [name])
  return withReads(database, order)
}

async function withReads<Order extends Pick<StoredOrder, 'orderId' | 'reservedBy' | 'endedBy'>>(
  database: Queryable,
  order: Order | null | undefined,
): Promise<Timeline<Order>> {
  if (!order) throw new DomainError('not-found', 'There is no such order')
  const reads = await findReads(database, order.orderId)
  const callers = [order.reservedBy, order.endedBy, ...reads.map(({ caller }) => caller)].flatMap(name => name ?? [])
  const people = callers.map(parseCallerName).filter(({ type }) => type === 'person')
  return { order, reads, logins: await findLogins(database, [...new Set(people.map(({ id }) => id))]) }
}
