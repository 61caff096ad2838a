/**
 * The outbox, where a statement tells of what it changes: in the same transaction, so that it is told exactly when it has happened.
 * Nobody is told anything by it at once; `position.ts` says how it is read.
 */

export const eventKinds = ['order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn'] as const
export type EventKind = (typeof eventKinds)[number]

/**
 * A part of a statement's `with` that tells of orders: one row for each bank, however many orders there are.
 *
 * @param changed the part that changes them; it returns `bank_id` and `order_id`. It must set `ended_by`, too, or a trigger tells of
 *   them once more (migration 0026)
 */
export const tell = (kind: EventKind, changed: string): string => `
  insert into outbox (kind, account, subjects)
  select '${kind}', bank_id, array_agg(order_id) from ${changed} group by bank_id`
