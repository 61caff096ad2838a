/** Builds the answers about reports and differences (contract/portal.md, "Reads"). */
import { bankReportingStatus, isSettled } from '../campaigns/lifecycle/lifecycle.ts'
import { csvCell, csvMark } from '../text/csv-cell.ts'
import { countEveryKind, type Difference, totalOf } from './differences.ts'
import type { BankReconciliation, ListedReport, Reconciliations } from './store.ts'
import type { Tried, Uploaded } from './uploads.ts'

export function uploadedView({ reportId, stage, ...tried }: Uploaded) {
  return { reportId, bankReportingStatus: bankReportingStatus(stage), ...summaryOf(tried) }
}

/**
 * The answer to a trial. It has the fields of an upload's answer, but the id and the stage are null, because a trial
 * keeps nothing.
 */
export const triedView = (tried: Tried) => ({ reportId: null, bankReportingStatus: null, ...summaryOf(tried) })

function summaryOf({ comparison, counts }: Tried) {
  const { lines, totalAmount, totalCashback } = comparison
  return {
    lines,
    totalAmount: Number(totalAmount),
    totalCashback: Number(totalCashback),
    differences: { total: totalOf(counts), byKind: counts },
  }
}

export function reconciliationView({ cashbackId, status, banks }: Reconciliations) {
  return { cashbackId, status, banks: banks.map(bankView) }
}

function bankView({ id, name, stage, expectedCompensation, reports, matched, items, ...bank }: BankReconciliation) {
  const byKind = countEveryKind(...bank.counts)
  return {
    id,
    name,
    bankReportingStatus: bankReportingStatus(stage),
    settlementConfirmed: isSettled(stage),
    expectedCompensation: expectedCompensation === null ? null : Number(expectedCompensation),
    reports: reports.map(reportView),
    matched,
    differences: { total: totalOf(byKind), byKind, items },
  }
}

function reportView(report: ListedReport) {
  return {
    ...report,
    totalAmount: Number(report.totalAmount),
    totalCashback: Number(report.totalCashback),
    uploadedAt: new Date(report.uploadedAt).toISOString(),
  }
}

const differenceColumns = ['kind', 'transactionId', 'bankLine', 'merchantLine', 'expected', 'found'] as const

const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

export const differencesHeader = csvMark + csvLine(differenceColumns)

/** Lines of a CSV file (RFC 4180). */
export const differenceLines = (differences: readonly Difference[]): string =>
  differences.map(difference => csvLine(differenceColumns.map(column => difference[column]))).join('')
