/** SQL that forgets customers, and finds the segments that contain a customer. */
import type { Queryable } from '../db/database.ts'

/**
 * Copies the customer ids of `staged_customers` to the temporary table `forgotten_customers`, which exists until the
 * connection closes.
 */
export async function keepStaged(transaction: Queryable): Promise<void> {
  await transaction.execute(
    `create temporary table forgotten_customers on commit preserve rows as
     select distinct customer_id from staged_customers`,
  )
  await transaction.execute('analyze forgotten_customers')
}

/** Deletes the bank's customers in `forgotten_customers` from the directory. @returns how many were deleted */
export function deleteForgotten(transaction: Queryable, bankId: string): Promise<number> {
  return transaction.execute(
    'delete from customers c using forgotten_customers f where c.customer_id = f.customer_id and c.bank_id = $1',
    [bankId],
  )
}

export async function countForgotten(transaction: Queryable): Promise<number> {
  const [row] = await transaction.query<{ count: number }>('select count(*) from forgotten_customers')
  return row?.count ?? 0
}

/** The campaigns in which the bank's part of the segment contains a customer in `forgotten_customers`. */
export async function findSegmentsOfForgotten(database: Queryable, bankId: string): Promise<string[]> {
  const rows = await database.query<{ cashbackId: string }>(
    `select cashback_id as "cashbackId" from campaign_segments s
     where bank_id = $1 and exists (
       select from json_array_elements_text(s.customer_ids::json) as i (customer_id) join forgotten_customers using (customer_id))
     order by cashback_id`,
    [bankId],
  )
  return rows.map(({ cashbackId }) => cashbackId)
}

/**
 * Deletes the customers in `forgotten_customers` from the bank's segment of a campaign. The caller must have locked the
 * campaign. The other customers keep their order.
 */
export async function cutSegment(transaction: Queryable, cashbackId: string, bankId: string): Promise<void> {
  await transaction.execute(
    `update campaign_segments s set customer_ids = kept.customer_ids, customers_count = kept.customers_count
     from (
       select count(*) as customers_count,
              '[' || coalesce(string_agg(to_json(i.customer_id)::text, ',' order by n), '') || ']' as customer_ids
       from campaign_segments o
       cross join json_array_elements_text(o.customer_ids::json) with ordinality as i (customer_id, n)
       left join forgotten_customers f using (customer_id)
       where o.cashback_id = $1 and o.bank_id = $2 and f.customer_id is null
     ) kept
     where s.cashback_id = $1 and s.bank_id = $2`,
    [cashbackId, bankId],
  )
}

export type SegmentOfCustomer = {
  cashbackId: string
  campaignName: string
  segmentId: string
  formedAt: Date
  sourceFileName: string
}

/**
 * The bank's segments that contain the customer, the latest first. `strpos` searches the text of a segment, which is
 * many times faster than reading its JSON. But it may match a part of another id, if that id contains a quote. So the
 * JSON of the found segments is read as well.
 */
export function findSegmentsOf(database: Queryable, bankId: string, customerId: string): Promise<SegmentOfCustomer[]> {
  return database.query(
    `select cashback_id as "cashbackId", c.name as "campaignName", segment_id as "segmentId", formed_at as "formedAt",
            source_file_name as "sourceFileName"
     from campaign_segments s join campaigns c using (cashback_id)
     where s.bank_id = $1 and strpos(s.customer_ids, to_json($2::text)::text) > 0 and exists (
       select from json_array_elements_text(s.customer_ids::json) as i (customer_id) where i.customer_id = $2)
     order by formed_at desc, cashback_id`,
    [bankId, customerId],
  )
}
