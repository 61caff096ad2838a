/** Reads one order for a program, for example after a lost answer (contract/partner-orders.md, "One order"). */
import { createStatementBatcher } from '../../db/batching.ts'
import type { Catalogue } from '../catalogue.ts'
import { createOrderReader, type OrderReadDeps, type ReadOrder } from '../orders/known-orders.ts'
import { areUnstated, findByNames, type StoredOrder } from './order-store.ts'
import type { ShownOrder } from './shown-order.ts'

/** An order without the fields that only the portal shows. */
export type LookedUpOrder = Omit<StoredOrder, 'tariffId'> & Pick<ShownOrder, 'operatorCode' | 'tariffCode'>
export type OrderLookUp = { byId: ReadOrder<LookedUpOrder>; byExternalId: ReadOrder<LookedUpOrder> }
export type OrderLookUpDeps = OrderReadDeps & { catalogue: Pick<Catalogue, 'tariffOf'> }

/** The maximum number of orders in memory. Each takes some 2 KB, with the text of its answer. */
const maxKept = 4_000

export function createOrderLookUp(deps: OrderLookUpDeps): OrderLookUp {
  const { database, catalogue } = deps
  const withCodes = async ({ tariffId, ...order }: StoredOrder): Promise<LookedUpOrder> => {
    const { operatorCode, code: tariffCode } = await catalogue.tariffOf(tariffId)
    return { ...order, operatorCode, tariffCode }
  }
  const isUnstated = createStatementBatcher<string, boolean>(ids => areUnstated(database, ids))

  /**
   * Whether an ended order is still the same as when it was read. Two things can change: its e-mail may be sent, and
   * the daily statement that contains it may be closed.
   */
  const isUnchanged = (order: LookedUpOrder): boolean | Promise<boolean> => {
    if (order.status !== 'confirmed') return true
    if (mayBeMailed(order)) return false
    return order.statement !== null || isUnstated(order.orderId)
  }

  const readBy = (by: 'orderId' | 'externalId') =>
    createOrderReader<LookedUpOrder>(deps, {
      find: async names =>
        Promise.all((await findByNames(database, by, names)).map(order => order && withCodes(order))),
      isUnchanged,
      maxKept,
    })
  return { byId: readBy('orderId'), byExternalId: readBy('externalId') }
}

const mayBeMailed = ({ deliveryMode, mail }: LookedUpOrder): boolean =>
  deliveryMode === 'qr_email' && mail !== 'sent' && mail !== 'unknown'
