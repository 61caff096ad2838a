/** Stores the counts of reads of activation data, by order and caller. */
import type { Queryable } from '../../db/database.ts'
import { rowList } from '../../db/row-list.ts'

const readKinds = ['confirm_repeated', 'qr_read'] as const
export type ReadKind = (typeof readKinds)[number]

export type ReadCount = {
  orderId: string
  kind: ReadKind
  /** Who read the data, as text made by `callerName`. */
  caller: string
  reads: number
  firstAt: Date
  lastAt: Date
}

const countRows = rowList(1, {
  orderId: 'uuid',
  kind: 'text',
  caller: 'text',
  reads: 'int',
  firstAt: 'timestamptz',
  lastAt: 'timestamptz',
})

/** Adds these reads to the stored counts. */
export async function insertReads(database: Queryable, counts: readonly ReadCount[]): Promise<void> {
  await database.execute(
    {
      name: 'esim.insert-activation-reads',
      // The rows are written in the order of their keys, so that two processes that write the same rows cannot
      // deadlock.
      text: `
        insert into activation_reads as r (order_id, kind, caller, reads, first_at, last_at)
        select * from ${countRows.from('i')}
        order by order_id, kind, caller
        on conflict (order_id, kind, caller) do update
          set reads = r.reads + excluded.reads, first_at = least(r.first_at, excluded.first_at),
              last_at = greatest(r.last_at, excluded.last_at)`,
    },
    countRows.values(counts),
  )
}

/** The counts of one order, the earliest first. */
export function findReads(database: Queryable, orderId: string): Promise<ReadCount[]> {
  return database.query(
    `select order_id as "orderId", kind, caller, reads, first_at as "firstAt", last_at as "lastAt"
     from activation_reads where order_id = $1 order by first_at, kind, caller`,
    [orderId],
  )
}
