/**
 * A cache of orders. Most fields of an order never change, and an order in a final status never changes at all
 * (contract/esim.md, "States"). So a repeated read costs the database little or nothing.
 */
import type { Order, OrderKey } from './store.ts'

export type KnownOrders = {
  find(key: OrderKey): Order | null
  keep(key: OrderKey, order: Order): void
  clear(): void
}

/** About 700 bytes each. */
const most = 10_000

export function createKnownOrders(): KnownOrders {
  const orders = new Map<string, { bankId: string; order: Order }>()
  return {
    find({ orderId, bankId }) {
      const known = orders.get(orderId)
      return known?.bankId === bankId ? known.order : null
    },
    keep({ bankId }, order) {
      if (orders.size >= most && !orders.has(order.orderId)) orders.delete(orders.keys().next().value ?? '')
      orders.set(order.orderId, { bankId, order })
    },
    clear: () => orders.clear(),
  }
}
