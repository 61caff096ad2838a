/**
 * SQL that forms a segment from the customers in `staged_customers`. They are split by bank before the campaign is
 * locked, so that no other request waits for the split.
 */
import type { Queryable } from '../db/database.ts'

/**
 * Splits the staged customers by bank into temporary tables, which are dropped at the commit. Banks that are not
 * invited are included. A repeated id counts once, at its first line. `storage external` keeps the texts uncompressed,
 * as in `campaign_segments`, because compression takes time.
 */
export async function splitByBank(transaction: Queryable): Promise<void> {
  await transaction.execute(
    `create temporary table split_customers on commit drop as
     select distinct on (s.customer_id) s.line, s.customer_id, c.bank_id
     from staged_customers s left join customers c using (customer_id) order by s.customer_id, s.line`,
  )
  await transaction.execute(
    'create temporary table segment_parts (bank_id uuid, customers_count int, customer_ids text) on commit drop',
  )
  await transaction.execute('alter table segment_parts alter column customer_ids set storage external')
  await transaction.execute(
    `insert into segment_parts
     select bank_id, count(*), '[' || string_agg(to_json(customer_id)::text, ',' order by line) || ']'
     from split_customers where bank_id is not null group by bank_id`,
  )
}

export type SegmentPart = { bankId: string; customersCount: number }

/** @returns the parts that were removed */
export function removeSegment(transaction: Queryable, cashbackId: string): Promise<SegmentPart[]> {
  return transaction.query(
    `delete from campaign_segments where cashback_id = $1
     returning bank_id as "bankId", customers_count as "customersCount"`,
    [cashbackId],
  )
}

/**
 * Stores the result of `splitByBank` as the campaign's segment. Each bank in `bankIds` gets a part, even if it is
 * empty.
 */
export async function insertSegment(
  transaction: Queryable,
  params: { cashbackId: string; bankIds: readonly string[]; formedAt: Date; sourceFileName: string },
): Promise<SegmentPart[]> {
  const { cashbackId, bankIds, formedAt, sourceFileName } = params
  return transaction.query(
    `insert into campaign_segments
       (cashback_id, bank_id, segment_id, customers_count, customer_ids, formed_at, source_file_name)
     select $1, bank_id, gen_random_uuid(), coalesce(customers_count, 0), coalesce(customer_ids, '[]'), $3, $4
     from unnest($2::uuid[]) as taking_part (bank_id) left join segment_parts using (bank_id)
     order by bank_id
     returning bank_id as "bankId", customers_count as "customersCount"`,
    [cashbackId, bankIds, formedAt, sourceFileName],
  )
}

/** The banks in `bankIds` that allow segments of their customers. */
export async function findSegmentBanks(transaction: Queryable, bankIds: readonly string[]): Promise<string[]> {
  const rows = await transaction.query<{ bankId: string }>(
    'select bank_id as "bankId" from banks where bank_id = any($1) and segments order by bank_id',
    [bankIds],
  )
  return rows.map(({ bankId }) => bankId)
}
