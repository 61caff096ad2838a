import { randomUUID } from 'node:crypto'

/** A UUID of version 7: ids of the same time lie together, which keeps the indexes of millions of orders small and warm. */
export function newOrderId(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // Everything behind the version digit of a random UUID stays as it is, the variant too.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** The lowest id that an order made at this instant can have: ids are in the order of their time. */
export function firstOrderId(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}
