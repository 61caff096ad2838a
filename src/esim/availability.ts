/** Whether tariffs have a free profile, as of the moment of the question. */
import type { Clock } from '../clock.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Queryable } from '../db/database.ts'
import type { MobileOperator } from './catalogue.ts'
import { findAvailable } from './store.ts'

/** The ids of the operator's tariffs that have a free profile. */
export type Availability = (operator: MobileOperator) => Promise<Set<number>>

/** Callers that ask about the same mobile operator at the same moment share one look at the stock. */
export function createAvailability(deps: { database: Queryable; clock: Clock }): Availability {
  type Shared = { tariffIds: number[]; read(): Promise<Set<number>> }
  const reads = new Map<number, Shared>()
  return ({ mobileOperatorId, tariffs }) => {
    const shared: Shared = reads.get(mobileOperatorId) ?? {
      tariffIds: [],
      read: createSharedRead(() => findAvailable(deps.database, shared.tariffIds, deps.clock.now())),
    }
    shared.tariffIds = [...tariffs.values()].map(({ tariffId }) => tariffId)
    reads.set(mobileOperatorId, shared)
    return shared.read()
  }
}
