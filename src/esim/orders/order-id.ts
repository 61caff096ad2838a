/** Makes ids of orders, which contain the time of the order. */
import { randomUUID } from 'node:crypto'

/**
 * Makes a UUID of version 7, which begins with the time. Orders made at about the same time are then close together in
 * the index, so only a small part of the index is in use.
 */
export function newOrderId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // `slice(15)` takes the digits after the version digit of a random UUID; they contain the UUID's variant.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/**
 * The lowest id that an order made at this instant can have. Ids ascend with the time at which orders are made. An
 * instant before 1970 counts as 1970.
 */
export function firstOrderId(at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
