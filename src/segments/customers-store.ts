/** SQL of an import into the customer directory: the locks of the directory, and the new customers. */
import type { Queryable } from '../db/database.ts'

const importLock = 7_365_015

/**
 * Lets one import at a time change the directory. The lock is held until the transaction ends, so that nobody else
 * changes the directory during the import.
 */
export async function lockCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock($1)', [importLock])
}

/** Keeps the directory unchanged until the transaction ends; several transactions may do so at once. */
export async function shareCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('select pg_advisory_xact_lock_shared($1)', [importLock])
}

/** The number of staged lines whose customer belongs to another bank, and the first of these lines. */
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

/** Adds the staged customers to the directory; existing ones stay as they are. @returns how many were new */
export function takeCustomers(transaction: Queryable, bankId: string): Promise<number> {
  return transaction.execute(
    `insert into customers (customer_id, bank_id) select distinct customer_id, $1::uuid from staged_customers
     on conflict (customer_id) do nothing`,
    [bankId],
  )
}

/** Refreshes the planner's statistics, which are outdated after many new rows. */
export async function analyzeCustomers(transaction: Queryable): Promise<void> {
  await transaction.execute('analyze customers')
}
