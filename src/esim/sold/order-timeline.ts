/** The history of one order: what happened to it, and who was shown its activation data. */
import { parseCallerName } from '../../access/caller.ts'
import type { Queryable } from '../../db/database.ts'
import { findReads, type ReadCount } from '../orders/activation-reads-store.ts'
import { findLogins, type ShownOrder } from './order-store.ts'

export type OrderTimeline = { reads: ReadCount[]; logins: Map<string, string> }

/** Further data that `timelineOf` needs. */
export async function readTimeline(database: Queryable, order: ShownOrder): Promise<OrderTimeline> {
  const reads = await findReads(database, order.orderId)
  const callers = [order.reservedBy, order.endedBy, ...reads.map(({ caller }) => caller)].flatMap(name => name ?? [])
  const people = callers.map(parseCallerName).filter(({ type }) => type === 'person')
  return { reads, logins: await findLogins(database, [...new Set(people.map(({ id }) => id))]) }
}
