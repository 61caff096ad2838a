/**
 * The outbox: a statement that changes data also records the change here, in the same transaction. So a change is
 * recorded if and only if it is committed. Recording sends nothing; `position.ts` says how the outbox is read.
 */
import type { Queryable } from '../db/database.ts'

/**
 * The kinds of outbox rows about orders, which are not types of events: `profile.withdrawn` becomes no event. Such a row holds
 * only the ids of the orders. An order does not change after it
 * has ended, so readers find everything else in the stored order.
 */
export const orderRowKinds = ['order.confirmed', 'order.cancelled', 'order.expired', 'profile.withdrawn'] as const
export type OrderRowKind = (typeof orderRowKinds)[number]
/** The kinds of rows about orders that become events. A withdrawn profile makes no event, because its order belongs to no bank. */
export const announcedOrderRows: readonly OrderRowKind[] = ['order.confirmed', 'order.cancelled', 'order.expired']
/** The kind of rows with an event that is not about the end of an order. */
export const eventKind = 'event'
/** The kind of rows with an entry of the audit log. */
export const entryKind = 'audit'

/** An account as the outbox and the audit log store it; the platform has no id. */
export type RecordedAccount = { type: 'bank' | 'merchant'; id: string } | { type: 'platform'; id: null }

/**
 * Returns the `insert` of a `with` query that records changes of orders. It writes one row for each bank, with the
 * ids of all changed orders of that bank.
 *
 * @param changed the `with` query that changes the orders; it returns `bank_id` and `order_id`. It must also set
 *   `ended_by`; otherwise a trigger records the change again (migration 0026)
 */
export const recordingOrders = (kind: OrderRowKind, changed: string): string => `
  insert into outbox (kind, account, subjects)
  select '${kind}', bank_id, array_agg(order_id) from ${changed} group by bank_id`

/** An outbox row that holds data, and not only ids of orders. Its `kind` is not one of `OrderRowKind`. */
export type OutboxRow = { kind: string; account: RecordedAccount; data: object }

/**
 * Records changes in the given order. Call it in the transaction of the changes, after the statement that locks their
 * subject. Then the rows of a subject have the same order as its changes.
 */
export async function recordRows(transaction: Queryable, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.execute(
    {
      name: 'events.tell-rows',
      text: `
        insert into outbox (kind, account_type, account, data)
        select kind, account_type, account, data
        from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::uuid[]), jsonb_array_elements($4::jsonb))
          with ordinality as listed (kind, account_type, account, data, n) order by n`,
    },
    [
      rows.map(({ kind }) => kind),
      rows.map(({ account }) => account.type),
      rows.map(({ account }) => account.id),
      // The data is passed as one JSON text. In an array of texts, each quote would be escaped a second time.
      JSON.stringify(rows.map(({ data }) => data)),
    ],
  )
}
