/** Reads the sizes of a campaign's segment, bank by bank, for the portal. */
import type { Queryable, Statement } from '../../db/database.ts'

/** A bank's part of the segment; `formedAt` is null while the bank has no part. */
export type SegmentPart = {
  bankId: string
  bankName: string
  customersCount: number
  formedAt: Date | null
  sourceFileName: string | null
}

const statement: Statement = {
  name: 'portal.segment',
  text: `
    select i.bank_id as "bankId", b.name as "bankName", coalesce(s.customers_count, 0) as "customersCount",
      s.formed_at as "formedAt", s.source_file_name as "sourceFileName"
    from campaign_banks i join banks b using (bank_id) left join campaign_segments s using (cashback_id, bank_id)
    where i.cashback_id = $1 and ($2::uuid is null or i.bank_id = $2) order by b.name collate "C", b.bank_id`,
}

/** Finds the parts of a campaign's segment. @param bankId only the part of this bank; null: of all invited banks */
export function findSegmentParts(
  database: Queryable,
  cashbackId: string,
  bankId: string | null,
): Promise<SegmentPart[]> {
  return database.query(statement, [cashbackId, bankId])
}
