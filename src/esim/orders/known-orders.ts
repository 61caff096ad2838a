/**
 * Reads single orders by their id, or by the bank's own identifier. Requests that arrive together share one statement.
 * An order that was read before is kept in memory, so reading it again costs little or nothing. Until an order ends,
 * only its status can change, so only the status is read again. An ended order does not change any more
 * (contract/esim.md, "States"). There are two exceptions: the fields that `isUnchanged` checks, and the phone number,
 * which is removed after some time.
 */
import type { Clock } from '../../clock.ts'
import { cutoff } from '../../clock.ts'
import { createStatementBatcher } from '../../db/batching.ts'
import type { Database } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { isFinal, statusAt } from './lifecycle.ts'
import { areReserved, expireOrder, type Order } from './store.ts'

/** The name of a bank's order: its id, or the bank's own identifier of the order. */
export type OrderName = { bankId: string; name: string }

export type OrderReadDeps = {
  database: Database
  clock: Clock
  /** Days that phone numbers are kept after the order; null: for ever. */
  msisdnDays: number | null
}

/** The fields that every order must have here. `status` is the stored status. */
type Read = Pick<Order, 'orderId' | 'status' | 'createdAt' | 'reservedUntil'>

/** Reads one order. @throws DomainError 'not-found', also for another bank's order */
export type ReadOrder<Found> = (name: OrderName) => Promise<Found>

/**
 * Creates a function that reads single orders. It returns the same object again while the order has not changed.
 *
 * @param options.find returns the orders in the sequence of the names; null where the bank has no such order
 * @param options.isUnchanged whether an ended order is still the same as when it was read; default: always. While
 *   `Database.isHeard` is false, an ended order is read again without calling `isUnchanged`
 * @param options.maxKept how many orders are kept in memory
 */
export function createOrderReader<Found extends Read>(
  { database, clock, msisdnDays }: OrderReadDeps,
  options: {
    find(names: OrderName[]): Promise<(Found | null)[]>
    isUnchanged?(ended: Found): boolean | Promise<boolean>
    maxKept: number
  },
): ReadOrder<Found> {
  const known = createKnownOrders<Found>(options.maxKept)
  const find = createStatementBatcher<OrderName, Found | null>(names => known.orForget(options.find(names)))
  const isReserved = createStatementBatcher<string, boolean>(ids => known.orForget(areReserved(database, ids)))

  const isOver = (order: Found): boolean => statusAt(order, clock.now()) !== order.status

  /** Whether the order's phone number may have been removed since the order was read. */
  const isPastRetention = ({ createdAt }: Found): boolean =>
    msisdnDays !== null && createdAt < cutoff(clock.now(), msisdnDays)

  const isUnchanged = async (order: Found): Promise<boolean> => {
    if (isPastRetention(order)) return false
    // Only the status of an order can change before it ends.
    if (!isFinal(order.status)) return (await isReserved(order.orderId)) && !isOver(order)
    return database.isHeard() && (options.isUnchanged?.(order) ?? true)
  }

  return async name => {
    const before = known.find(name)
    if (before && (await isUnchanged(before))) return before
    for (;;) {
      const order = await find(name)
      if (!order) throw new DomainError('not-found', 'There is no such order')
      if (isOver(order)) await settle({ database, clock }, order)
      else {
        known.keep(name, order)
        return order
      }
    }
  }
}

/**
 * Marks a reserved order as expired when its time is over. No answer may show it as expired before it is marked,
 * because a confirm that is still running could succeed. The caller must read the order again afterwards.
 */
export const settle = ({ database, clock }: Pick<OrderReadDeps, 'database' | 'clock'>, { orderId }: Read) =>
  expireOrder(database, orderId, clock.now())

/** Keeps up to `maxKept` orders in memory. When it is full, a new order replaces the one that was added first. */
function createKnownOrders<Known>(maxKept: number) {
  const orders = new Map<string, Known>()
  const keyOf = ({ bankId, name }: OrderName): string => `${bankId} ${name}`
  return {
    find: (name: OrderName): Known | null => orders.get(keyOf(name)) ?? null,
    keep(name: OrderName, order: Known): void {
      const key = keyOf(name)
      if (orders.size >= maxKept && !orders.has(key)) orders.delete(orders.keys().next().value ?? '')
      orders.set(key, order)
    },
    /**
     * Returns the result of a read. If the read fails, forgets all orders: after a failover, the new database may lack
     * the latest changes that were read from the old one.
     */
    orForget: <Result>(read: Promise<Result>): Promise<Result> =>
      read.catch(error => {
        orders.clear()
        throw error
      }),
  }
}
