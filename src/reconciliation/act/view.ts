/** Builds the JSON of the settlement act. Partners' systems read it, and so does the portal's page. */
import { countEveryKind, totalOf } from '../differences.ts'
import type { SettlementAct } from './read.ts'
import type { ActReport } from './store.ts'

const isoText = (at: string | Date | null): string | null => (at === null ? null : new Date(at).toISOString())

export function actView({ banks, ...act }: SettlementAct) {
  return {
    cashbackId: act.cashbackId,
    campaignName: act.campaignName,
    status: act.status,
    dateFrom: new Date(act.dateFrom).toISOString(),
    dateTo: new Date(act.dateTo).toISOString(),
    percentage: Number(act.percentage),
    merchantCompensationPercentage: Number(act.merchantCompensationPercentage),
    currency: act.currency,
    merchant: act.merchant,
    paidAt: isoText(act.paidAt),
    totalCompensation: Number(act.totalCompensation),
    generatedAt: act.generatedAt.toISOString(),
    banks: banks.map(({ counts, stage, compensation, bankReport, merchantReport, ...bank }) => {
      const byKind = countEveryKind(...counts)
      return {
        ...bank,
        acceptedAt: isoText(bank.acceptedAt),
        settledAt: isoText(bank.settledAt),
        receivedAt: isoText(bank.receivedAt),
        compensation: compensation === null ? null : Number(compensation),
        differences: { total: totalOf(byKind), byKind },
        bankReport: bankReport && reportView(bankReport),
        merchantReport: merchantReport && reportView(merchantReport),
      }
    }),
  }
}

const reportView = <Report extends ActReport>(report: Report) => ({
  ...report,
  totalAmount: Number(report.totalAmount),
  totalCashback: Number(report.totalCashback),
  uploadedAt: new Date(report.uploadedAt).toISOString(),
})
