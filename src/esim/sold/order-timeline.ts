/** The history of one order: its changes, and who read its activation data. */
import { parseCallerName } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { findReads, type ReadCount } from '../orders/activation-reads-store.ts'
import type { LookedUpOrder } from './order-look-up.ts'
import { findLogins } from './order-store.ts'

export type OrderTimeline = { reads: ReadCount[]; logins: Map<string, string> }

/** The data that `timelineOf` needs in addition to the order. */
export async function readTimeline(database: Queryable, order: LookedUpOrder): Promise<OrderTimeline> {
  const reads = await findReads(database, order.orderId)
  const callers = [order.reservedBy, order.endedBy, ...reads.map(({ caller }) => caller)].flatMap(name => name ?? [])
  const people = callers.map(parseCallerName).filter(({ type }) => type === 'person')
  return { reads, logins: await findLogins(database, [...new Set(people.map(({ id }) => id))]) }
}
