import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { Chart } from '../../ui/chart.tsx'
import type { ChartPoint } from '../../ui/chart-figures.ts'
import { latestReport } from '../reconciliation/report-totals.tsx'
import { reconciliationTexts } from '../reconciliation/texts.ts'
import type { CampaignOffer, ReconciledBank } from '../types.ts'
import { lessOf, shareOf } from './shares.ts'

type Terms = Pick<CampaignOffer, 'maxBudget' | 'merchantCompensationPercentage' | 'country'>

/**
 * The planned cost (the budget) and the actual cost (the reported cashback) of a campaign with one bank, with the shares of
 * merchant and bank. The merchant's share of the reported cashback is its compensation. The bank pays the rest, including the
 * cashback of lines that break a term. Without a budget, nothing is shown before the bank's report.
 */
export function CostChart({ campaign, bank }: { campaign: Terms; bank: ReconciledBank }) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const { maxBudget, merchantCompensationPercentage: share, country } = campaign
  const report = latestReport(bank, 'bank')
  const divided = (label: string, cost: number, merchant: number): ChartPoint => ({
    label,
    merchant,
    bank: lessOf(cost, merchant),
  })
  const points = [
    ...(maxBudget === null ? [] : [divided(texts.planned, maxBudget, shareOf(maxBudget, share))]),
    ...(report ? [divided(texts.reported, report.totalCashback, bank.expectedCompensation ?? 0)] : []),
  ]
  if (points.length === 0) return null
  return (
    <Chart
      title={texts.chart}
      kind="rows"
      isStacked
      points={points}
      series={[
        { name: 'merchant', label: texts.merchantShare },
        { name: 'bank', label: texts.bankShare },
      ]}
      value={amount => format.money(amount, country.currency.code)}
    />
  )
}
