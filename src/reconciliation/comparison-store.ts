/**
 * Compares reports with the campaign's terms and with each other inside the database, so that we never hold a million
 * lines in memory. This happens in the transaction of the upload, before it locks the campaign.
 */
import type { Queryable } from '../db/database.ts'
import * as sql from './comparison-sql.ts'
import { type CountsByKind, type DifferenceKind, matchKinds, otherSide, type Side } from './differences.ts'

/** Sets the transaction's options for millions of lines. */
export async function prepareComparison(transaction: Queryable): Promise<void> {
  await transaction.execute(`set local work_mem = '64MB'`)
  await transaction.execute('set local jit = off')
  // Without this setting, the planner would look up each line separately, because it does not yet know the number of
  // lines.
  await transaction.execute('set local enable_nestloop = off')
  // The transaction of an upload is idle between two pieces of the file, so the time limit for idle transactions is
  // switched off. An upload has its own time limits.
  await transaction.execute('set local idle_in_transaction_session_timeout = 0')
}

/** The latest report of each side, by its id. */
export type Compared = Record<Side, string | null>

export async function findCompared(
  transaction: Queryable,
  params: { cashbackId: string; bankId: string },
): Promise<Compared> {
  const [row] = await transaction.query<Compared>(
    `select bank_report_id as bank, merchant_report_id as merchant
     from reconciliations where cashback_id = $1 and bank_id = $2`,
    [params.cashbackId, params.bankId],
  )
  return row ?? { bank: null, merchant: null }
}

/** The result of an upload; amounts are decimal texts. */
export type Comparison = {
  lines: number
  totalAmount: string
  totalCashback: string
  /** The compensation that a bank's report implies; meaningless for a merchant's report. */
  compensation: string
  /** The number of transactions that both reports have with the same amount; null while there is only one report. */
  matched: number | null
  /** `brokenTerms`: the terms that lines of this report break; `unmatched`: differences from the other side's report. */
  brokenTerms: Partial<CountsByKind>
  unmatched: Partial<CountsByKind>
}

/**
 * Finds the differences of a report. Its lines must be in the database already.
 *
 * @param params.before the latest reports before this upload
 */
export async function compareReport(
  transaction: Queryable,
  params: { cashbackId: string; reportId: string; side: Side; before: Compared },
): Promise<Comparison> {
  const { cashbackId, reportId, side, before } = params
  const otherReportId = before[otherSide(side)]
  await transaction.execute(sql.createTerminals)
  await transaction.execute(sql.listTerminals, [cashbackId])
  await transaction.execute(sql.createChecked)
  await transaction.execute(sql.checkLines(side), [cashbackId, reportId])
  await transaction.execute('analyze checked_lines')
  const brokenTerms = await insert(transaction, sql.insertTermDifferences(side), [reportId, cashbackId])
  const unmatched =
    otherReportId === null ? {} : await insert(transaction, sql.insertMatchDifferences(side), [reportId, otherReportId])
  type Totals = Omit<Comparison, 'matched' | 'brokenTerms' | 'unmatched'> & { transactions: number }
  const [totals] = await transaction.query<Totals>(sql.readTotals, [cashbackId])
  if (!totals) throw new Error('A select of sums has one row')
  const { transactions, ...sums } = totals
  const unlike = (unmatched['amount-differs'] ?? 0) + (unmatched[`only-in-${side}-report`] ?? 0)
  return { ...sums, matched: otherReportId === null ? null : transactions - unlike, brokenTerms, unmatched }
}

/**
 * Deletes the lines and differences of this side's previous report. Some differences between the two reports are stored
 * under the other side's report; those are deleted, too.
 */
export async function forgetReport(transaction: Queryable, side: Side, before: Compared): Promise<void> {
  await transaction.execute('delete from report_differences where report_id = $1', [before[side]])
  await transaction.execute('delete from report_lines where report_id = $1', [before[side]])
  await transaction.execute(
    'delete from report_differences where report_id = $1 and kind = any($2::difference_kind[])',
    [before[otherSide(side)], [...matchKinds]],
  )
}

async function insert(transaction: Queryable, statement: string, values: unknown[]): Promise<Partial<CountsByKind>> {
  const rows = await transaction.query<{ kind: DifferenceKind; count: number }>(statement, values)
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]))
}
