/** SQL for questions about the customer directory: how many customers a bank has, and the bank of one customer. */
import type { Queryable } from '../db/database.ts'

export type BankCustomers = { id: string; code: string; name: string; customers: number }

/** The number of customers that the directory has for each bank. */
export function countCustomers(database: Queryable): Promise<BankCustomers[]> {
  return database.query(
    `select b.bank_id as id, b.code, b.name, coalesce(c.customers, 0) as customers
     from banks b left join customer_counts c using (bank_id) order by b.code`,
  )
}

/** The bank of a customer. @returns null when the id is unknown */
export async function findCustomerBank(
  database: Queryable,
  customerId: string,
): Promise<{ id: string; code: string; name: string } | null> {
  const [bank] = await database.query<{ id: string; code: string; name: string }>(
    'select b.bank_id as id, b.code, b.name from customers c join banks b using (bank_id) where c.customer_id = $1',
    [customerId],
  )
  return bank ?? null
}

/** @returns null when the code is unknown */
export async function findBank(
  database: Queryable,
  code: string,
): Promise<{ id: string; code: string; name: string } | null> {
  const [bank] = await database.query<{ id: string; code: string; name: string }>(
    'select bank_id as id, code, name from banks where code = $1',
    [code],
  )
  return bank ?? null
}
