/**
 * Orders that have come to their end, as they were last read. Nothing of such an order changes any more (eSIM document, "States and
 * transitions"), so whoever asks for it again is told without asking the database.
 */
import { isFinal } from './lifecycle.ts'
import type { Order, OrderKey } from './store.ts'

export type EndedOrders = {
  find(key: OrderKey): Order | null
  /** Keeps the order if it has come to its end. */
  keep(key: OrderKey, order: Order): void
  clear(): void
}

/** Some 700 bytes each. */
const most = 10_000

export function createEndedOrders(): EndedOrders {
  const orders = new Map<string, { bankId: string; order: Order }>()
  return {
    find({ orderId, bankId }) {
      const kept = orders.get(orderId)
      return kept?.bankId === bankId ? kept.order : null
    },
    keep({ bankId }, order) {
      if (!isFinal(order.status)) return
      if (orders.size >= most) orders.delete(orders.keys().next().value ?? '')
      orders.set(order.orderId, { bankId, order })
    },
    clear: () => orders.clear(),
  }
}
