/** Writes reports and their results at the end of an upload, and reads them. */

import type { Actor } from '../campaigns/lifecycle/actor.ts'
import type { CampaignStatus, ReportingStage } from '../campaigns/lifecycle/transitions.ts'
import { updatedForBank } from '../campaigns/seen-by-bank-store.ts'
import type { Queryable, Statement } from '../db/database.ts'
import type { Comparison } from './comparison-store.ts'
import type { CountsByKind, Difference, Side } from './differences.ts'
import { removedOf } from './file-store.ts'

export type NewReport = {
  reportId: string
  cashbackId: string
  bankId: string
  side: Side
  fileName: string
  sizeBytes: number
  sha256: Buffer
  uploadedAt: Date
  actor: Actor
  comment: string | null
}

/** Counts an upload of either side. A bank's report also sets the expected compensation. */
const countUpload = {
  bank: {
    name: 'reports.count-bank-upload',
    text: `update campaign_banks set bank_report_uploads = bank_report_uploads + 1, expected_compensation = $3
           where cashback_id = $1 and bank_id = $2 returning bank_report_uploads as version`,
  },
  merchant: {
    name: 'reports.count-merchant-upload',
    text: `update campaign_banks set merchant_report_uploads = merchant_report_uploads + 1
           where cashback_id = $1 and bank_id = $2 returning merchant_report_uploads as version`,
  },
} satisfies Record<Side, Statement>

/** Writes a report. Its lines and bytes must be stored already, and the campaign must be locked. */
export async function insertReport(transaction: Queryable, report: NewReport, comparison: Comparison): Promise<void> {
  const { reportId, cashbackId, bankId, side, actor } = report
  const { lines, totalAmount, totalCashback, compensation, brokenTerms } = comparison
  const part = [cashbackId, bankId]
  const [counted] = await transaction.query<{ version: number }>(
    countUpload[side],
    side === 'bank' ? [...part, compensation] : part,
  )
  await transaction.execute(
    `insert into reports (report_id, cashback_id, bank_id, side, version, file_name, size_bytes, lines, total_amount, total_cashback,
       uploaded_at, actor_type, actor_id, actor_subject, comment, broken_terms, sha256)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      ...[
        reportId,
        ...part,
        side,
        counted?.version,
        report.fileName,
        report.sizeBytes,
        lines,
        totalAmount,
        totalCashback,
      ],
      ...[
        report.uploadedAt,
        actor.type,
        actor.id,
        actor.subject,
        report.comment,
        JSON.stringify(brokenTerms),
        report.sha256,
      ],
    ],
  )
}

/** Records the latest reports and how they match. */
export async function replaceComparison(
  transaction: Queryable,
  params: { cashbackId: string; bankId: string; reports: Record<Side, string | null>; comparison: Comparison },
): Promise<void> {
  const { cashbackId, bankId, reports, comparison } = params
  await transaction.execute(
    `insert into reconciliations (cashback_id, bank_id, bank_report_id, merchant_report_id, matched, unmatched)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (cashback_id, bank_id) do update set bank_report_id = excluded.bank_report_id,
       merchant_report_id = excluded.merchant_report_id, matched = excluded.matched, unmatched = excluded.unmatched`,
    [cashbackId, bankId, reports.bank, reports.merchant, comparison.matched, JSON.stringify(comparison.unmatched)],
  )
}

/** @returns null when the report is unknown */
export async function findBrokenTerms(
  transaction: Queryable,
  reportId: string | null,
): Promise<Partial<CountsByKind> | null> {
  const [row] = await transaction.query<{ brokenTerms: Partial<CountsByKind> }>(
    'select broken_terms as "brokenTerms" from reports where report_id = $1',
    [reportId],
  )
  return row?.brokenTerms ?? null
}

/** A report as lists show it; amounts are decimal texts. */
export type ListedReport = {
  reportId: string
  side: Side
  version: number
  fileName: string
  sizeBytes: number
  lines: number
  totalAmount: string
  totalCashback: string
  /** ISO 8601. */
  uploadedAt: string
  /** Who uploaded the report: a login or clientId for the reader's own side, the partner's name for the other side. */
  uploadedBy: string
  comment: string | null
}

export type BankReconciliation = {
  id: string
  name: string
  stage: ReportingStage | null
  expectedCompensation: string | null
  reports: ListedReport[]
  matched: number | null
  /**
   * The numbers of the bank's violations, of the merchant's violations, and of the differences between both reports;
   * null for a missing report.
   */
  counts: (Partial<CountsByKind> | null)[]
  items: Difference[]
}

/** The state of a campaign's reconciliation, with one bank or with all banks. */
export type Reconciliations = {
  cashbackId: string
  status: CampaignStatus
  version: number
  /** The `updatedAt` that the bank gets. When all banks are read, this is the value for the first bank. */
  updatedAt: Date
  banks: BankReconciliation[]
}

/**
 * Reads the state of the reconciliation in one statement, so that all values belong to the same moment. It reads the
 * first 1,000 differences of each bank. If there are more than 5 banks, they share 5,000 differences, but each bank
 * gets at least 20.
 *
 * `$2` is the bank that reads, or null when the merchant reads. A report of the reader's own side (the first case of
 * `uploadedBy`) shows the uploader's login. A report of the other side shows only the partner's name.
 */
const banksStatement: Statement = {
  name: 'reports.reconciliation',
  text: `
    with share as materialized (
      select least(1000, greatest(20, 5000 / greatest(count(*), 1))) as items
      from campaign_banks where cashback_id = $1 and ($2::uuid is null or bank_id = $2)
    )
    select c.cashback_id as "cashbackId", c.status, c.version, ${updatedForBank('i.changed_at')} as "updatedAt", b.bank_id as id, b.name, i.reporting_stage as stage, i.expected_compensation::text as "expectedCompensation",
      r.matched, json_build_array(rb.broken_terms, rm.broken_terms, r.unmatched) as counts,
      (
        select coalesce(json_agg(json_build_object(
          'reportId', p.report_id, 'side', p.side, 'version', p.version, 'fileName', p.file_name, 'sizeBytes', p.size_bytes,
          'lines', p.lines, 'totalAmount', p.total_amount::text, 'totalCashback', p.total_cashback::text,
          'uploadedAt', p.uploaded_at, 'comment', p.comment,
          'uploadedBy', case
            when (p.actor_type = 'bank') = ($2::uuid is not null) then coalesce(u.login, p.actor_subject)
            when p.actor_type = 'bank' then b.name else m.name end)
          order by p.uploaded_at, p.version, p.side), '[]')
        from reports p left join portal_users u on u.user_id = case
          when p.actor_subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p.actor_subject::uuid end
        where p.cashback_id = i.cashback_id and p.bank_id = i.bank_id
      ) as reports,
      (
        select coalesce(json_agg(json_build_object(
          'kind', d.kind, 'transactionId', d.transaction_id, 'bankLine', d.bank_line, 'merchantLine', d.merchant_line,
          'expected', d.expected, 'found', d.found) order by d.place), '[]')
        from (
          (select * from report_differences where report_id = r.bank_report_id order by place limit (select items from share))
          union all
          (select * from report_differences where report_id = r.merchant_report_id order by place limit (select items from share))
          order by place limit (select items from share)
        ) d where not ${removedOf('rb', 'rm')}
      ) as items
    from campaigns c join merchants m using (merchant_id) join campaign_banks i using (cashback_id) join banks b using (bank_id)
    left join reconciliations r using (cashback_id, bank_id)
    left join reports rb on rb.report_id = r.bank_report_id left join reports rm on rm.report_id = r.merchant_report_id
    where i.cashback_id = $1 and ($2::uuid is null or i.bank_id = $2)
    order by b.name collate "C", b.bank_id`,
}

/**
 * The state of the reconciliation with the banks of a campaign.
 *
 * @param params.bankId only this bank; null: all
 * @returns null when the campaign is unknown or the bank has no part in it
 */
export async function listReconciliations(
  database: Queryable,
  params: { cashbackId: string; bankId: string | null },
): Promise<Reconciliations | null> {
  type Row = BankReconciliation & Omit<Reconciliations, 'banks'>
  const rows = await database.query<Row>(banksStatement, [params.cashbackId, params.bankId])
  const [first] = rows
  if (!first) return null
  const { cashbackId, status, version, updatedAt } = first
  return {
    ...{ cashbackId, status, version, updatedAt },
    banks: rows.map(({ cashbackId, status, version, updatedAt, ...bank }) => bank),
  }
}
