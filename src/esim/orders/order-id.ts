/** Makes ids of orders, which contain the time of the order. */
import { randomUUID } from 'node:crypto'

/**
 * Makes a UUID of version 7. Ids of the same time are neighbours in the index, so the part of the index in use stays
 * small.
 */
export function newOrderId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // The digits after the version of a random UUID, with its variant.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** The lowest id that an order made at this instant can have. Ids ascend with the time at which orders are made. */
export function firstOrderId(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
