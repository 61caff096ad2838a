/**
 * The outbox, where a statement tells of what it changes: in the same transaction, so that it is told exactly when it has happened.
 * Nobody is told anything by it at once; `position.ts` says how it is read.
 */
import type { Queryable } from '../db/database.ts'

/** What is told by the ids of the orders alone: an order that has ended never changes, so readers find the rest there. */
export type EventKind = 'order.confirmed' | 'order.cancelled' | 'order.expired' | 'profile.withdrawn'

/** Whose it is; the platform has no id. */
export type Account = { type: 'bank' | 'merchant'; id: string } | { type: 'platform'; id: null }

/**
 * A part of a statement's `with` that tells of orders: one row for each bank, however many orders there are.
 *
 * @param changed the part that changes them; it returns `bank_id` and `order_id`. It must set `ended_by`, too, or a trigger tells of
 *   them once more (migration 0026)
 */
export const tell = (kind: EventKind, changed: string): string => `
  insert into outbox (kind, account, subjects)
  select '${kind}', bank_id, array_agg(order_id) from ${changed} group by bank_id`

/** A row with data of its own. `kind` is none of `eventKinds`. */
export type Told = { kind: string; account: Account; data: object }

/**
 * Tells of changes, in the order of the rows. To be called in the transaction that makes them, after what locks their subject: so the
 * rows of one subject stand in the order of its changes.
 */
export async function tellRows(transaction: Queryable, rows: readonly Told[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.execute(
    {
      name: 'events.tell-rows',
      text: `
        insert into outbox (kind, account_type, account, data)
        select kind, account_type, account, data from unnest($1::text[], $2::text[], $3::uuid[], $4::jsonb[])
          with ordinality as told (kind, account_type, account, data, n) order by n`,
    },
    [
      rows.map(({ kind }) => kind),
      rows.map(({ account }) => account.type),
      rows.map(({ account }) => account.id),
      rows.map(({ data }) => JSON.stringify(data)),
    ],
  )
}
