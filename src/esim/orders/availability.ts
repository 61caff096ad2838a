/** Finds out which tariffs of a mobile operator have a free profile now. */
import type { Clock } from '../../clock.ts'
import { createSharedRead } from '../../db/batching.ts'
import type { Queryable } from '../../db/database.ts'
import type { MobileOperator } from '../catalogue.ts'
import { findFree } from './store.ts'

/** A mobile operator, and the ids of its tariffs that have a free profile. */
export type Offer = { operator: MobileOperator; free: ReadonlySet<number> }

/**
 * Finds which tariffs of an operator have a free profile. Returns the same object again while the result is the same.
 */
export type Availability = (operator: MobileOperator) => Promise<Offer>

/** Creates the function. Simultaneous calls for the same mobile operator share one query. */
export function createAvailability({ database, clock }: { database: Queryable; clock: Clock }): Availability {
  // The key is the operator's object. When the directory changes, the catalogue makes new objects, and the entries of
  // the old objects are removed as garbage.
  const reads = new WeakMap<MobileOperator, () => Promise<Offer>>()

  const readOf = (operator: MobileOperator): (() => Promise<Offer>) => {
    const tariffIds = [...operator.tariffs.values()].map(({ tariffId }) => tariffId)
    let latest: Offer = { operator, free: new Set() }
    let found: ReadonlyMap<number, number> = new Map()
    return createSharedRead(async () => {
      const asked = new Map(tariffIds.map(tariffId => [tariffId, found.get(tariffId) ?? null]))
      found = await findFree(database, asked, clock.now())
      const free = new Set(found.keys())
      if (free.symmetricDifference(latest.free).size > 0) latest = { operator, free }
      return latest
    })
  }

  return operator => {
    const read = reads.get(operator) ?? readOf(operator)
    reads.set(operator, read)
    return read()
  }
}
