/**
 * Searches the differences that a comparison of reports has found (`differences.ts`), for people: by kind and by a part
 * of the transaction id, one page at a time.
 */

import type { Queryable } from '../db/database.ts'
import { type Page, skipped } from '../http/paging.ts'
import { namePattern } from '../text/name-pattern.ts'
import { type CountsByKind, countEveryKind, type Difference, type DifferenceKind, totalOf } from './differences.ts'
import { fileRemoved, removedOf } from './file-store.ts'

export type DifferenceSearch = { kind?: DifferenceKind | undefined; search?: string | undefined }
export type FoundDifferences = { items: Difference[]; totalItems: number }

type Row = {
  counts: (Partial<CountsByKind> | null)[]
  isRemoved: boolean
  items: Difference[]
  matching: number | null
}

/**
 * One page of the differences of a bank's part in a campaign, in the order of `differences.csv`. A single statement
 * reads the items and their count, so both belong to the same upload. Without `search`, the count is read from where it
 * is stored, and an index gives only the rows up to the end of this page. With `search`, all differences of the
 * requested kind in both reports are read.
 *
 * @throws DomainError 'not-found' when the differences were removed
 */
export async function findDifferences(
  database: Queryable,
  part: { cashbackId: string; bankId: string },
  { kind, search }: DifferenceSearch,
  page: Page,
): Promise<FoundDifferences> {
  const values: unknown[] = [part.cashbackId, part.bankId, skipped(page), page.pageSize]
  const conditions = [
    ...(kind === undefined ? [] : [`kind = $${values.push(kind)}::difference_kind`]),
    ...(search ? [`transaction_id ~ $${values.push(namePattern(search))}`] : []),
  ]
  const [row] = await database.query<Row>(statement(conditions, Boolean(search)), values)
  if (!row) return { items: [], totalItems: 0 }
  const counts = countEveryKind(...row.counts)
  if (row.isRemoved && totalOf(counts) > 0) throw fileRemoved()
  return { items: row.items, totalItems: row.matching ?? (kind === undefined ? totalOf(counts) : counts[kind]) }
}

function statement(conditions: string[], isCounted: boolean): string {
  const reports = ['bank_report_id', 'merchant_report_id']
  const placesOf = (report: string) =>
    `select report_id, place from report_differences where ${[`report_id = (select ${report} from part)`, ...conditions].join(' and ')}`
  // An index has the differences of each report in order. Without `search`, only as many are read as the page needs.
  const places = isCounted
    ? reports.map(placesOf)
    : reports.map(report => `(${placesOf(report)} order by place limit $3::bigint + $4)`)
  return `
    with part as materialized (
      select r.bank_report_id, r.merchant_report_id, json_build_array(rb.broken_terms, rm.broken_terms, r.unmatched) as counts,
        ${removedOf('rb', 'rm')} as is_removed
      from reconciliations r join reports rb on rb.report_id = r.bank_report_id
      left join reports rm on rm.report_id = r.merchant_report_id
      where r.cashback_id = $1 and r.bank_id = $2
    ), found as ${isCounted ? 'materialized' : 'not materialized'} (${places.join(' union all ')})
    select part.counts, part.is_removed as "isRemoved", ${isCounted ? '(select count(*)::int from found)' : 'null'} as matching,
      (select coalesce(json_agg(json_build_object(
          'kind', d.kind, 'transactionId', d.transaction_id, 'bankLine', d.bank_line, 'merchantLine', d.merchant_line,
          'expected', d.expected, 'found', d.found) order by d.place), '[]')
        from (select report_id, place from found order by place offset $3 limit $4) p
        join report_differences d using (report_id, place)) as items
    from part`
}
