/** All SQL of the customer directory. */
import type { Queryable } from '../db/database.ts'

const importLock = 7_365_015

/** One import at a time takes its customers, from here until its transaction ends: what it finds is then still so. */
export async function lockCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [importLock])
}

/** The directory stays as it is until the transaction ends; others may share this. */
export async function shareCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock_shared($1)', [importLock])
}

/** The staged lines whose customer belongs to another bank than this: how many, and the first of them. */
export async function findOthersCustomers(
  transaction: Queryable,
  bankId: string,
  limit: number,
): Promise<{ count: number; lines: number[] }> {
  const ofOthers = 'from staged_customers join customers using (customer_id) where bank_id <> $1'
  const [row] = await transaction.query<{ count: number; lines: number[] }>(
    `select (select count(*) ${ofOthers}) as count, array(select line ${ofOthers} order by line limit $2) as lines`,
    [bankId, limit],
  )
  return row ?? { count: 0, lines: [] }
}

/** Takes the staged customers into the directory; those that are there already stay as they are. @returns how many were new */
export function takeCustomers(transaction: Queryable, bankId: string): Promise<number> {
  return transaction.execute(
    `insert into customers (customer_id, bank_id) select distinct customer_id, $1::uuid from staged_customers
     on conflict (customer_id) do nothing`,
    [bankId],
  )
}

/** What the planner knows of a table is old after many new rows. */
export async function analyzeCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze customers')
}
