/** What partners see of reports and differences (behaviour.md, section 8, "Shapes"). */
import { bankReportingStatus, isSettled } from '../campaigns/lifecycle.ts'
import { csvCell } from '../csv-cell.ts'
import { countEveryKind, type Difference, totalOf } from './differences.ts'
import type { BankReconciliation, ListedReport, Reconciliations } from './store.ts'
import type { Tried, Uploaded } from './uploads.ts'

export function uploadedView({ reportId, stage, ...tried }: Uploaded) {
  return { reportId, bankReportingStatus: bankReportingStatus(stage), ...summaryOf(tried) }
}

/** The same fields; nothing is kept, so there is no id and no stage. */
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

export const differencesHeader = 'kind,transactionId,bankLine,merchantLine,expected,found\r\n'

/** Lines of a CSV file (RFC 4180). */
export function differenceLines(differences: readonly Difference[]): string {
  let lines = ''
  for (const { kind, transactionId, bankLine, merchantLine, expected, found } of differences)
    lines += `${kind},${csvCell(transactionId)},${csvCell(bankLine)},${csvCell(merchantLine)},${csvCell(expected)},${csvCell(found)}\r\n`
  return lines
}
