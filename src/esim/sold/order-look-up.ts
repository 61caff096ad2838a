/**
 * Reads one order, as a program does after a lost answer (contract/partner-orders.md, "One order"). Requests that
 * arrive together share one statement, like the reads of the eSIM API.
 */
import type { Clock } from '../../clock.ts'
import { createStatementBatcher } from '../../db/batching.ts'
import type { Database } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { findByNames, type OrderName, type ShownOrder } from './order-store.ts'

/** @throws DomainError 'not-found' also for another bank's order */
type LookUp = (bankId: string, name: string) => Promise<ShownOrder>
export type OrderLookUp = { byId: LookUp; byExternalId: LookUp }

export function createOrderLookUp({ database, clock }: { database: Database; clock: Clock }): OrderLookUp {
  const lookUpBy = (by: 'orderId' | 'externalId'): LookUp => {
    const find = createStatementBatcher<OrderName, ShownOrder | null>(names =>
      findByNames(database, by, names, clock.now()),
    )
    return async (bankId, name) => {
      const order = await find({ bankId, name })
      if (!order) throw new DomainError('not-found', 'The bank has no such order')
      return order
    }
  }
  return { byId: lookUpBy('orderId'), byExternalId: lookUpBy('externalId') }
}
