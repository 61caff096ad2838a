import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { Chart } from '../../ui/chart.tsx'
import type { ChartPoint } from '../../ui/chart-figures.ts'
import { latestReport } from '../reconciliation/report-totals.tsx'
import { reconciliationTexts } from '../reconciliation/texts.ts'
import type { CampaignOffer, ReconciledBank } from '../types.ts'

type Terms = Pick<CampaignOffer, 'maxBudget' | 'merchantCompensationPercentage' | 'country'>

/**
 * Planned and actual cost of a campaign with one bank, with the shares of merchant and bank: the budget, and the
 * reported cashback. `ReportTotals` shows what the merchant compensates.
 */
export function CostChart({ campaign, bank }: { campaign: Terms; bank: ReconciledBank }) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const { maxBudget, merchantCompensationPercentage: share, country } = campaign
  const report = latestReport(bank, 'bank')
  const divided = (label: string, cost: number): ChartPoint => ({
    label,
    merchant: rounded((cost * share) / 100),
    bank: rounded((cost * (100 - share)) / 100),
  })
  const points = [
    ...(maxBudget === null ? [] : [divided(texts.planned, maxBudget)]),
    ...(report ? [divided(texts.reported, report.totalCashback)] : []),
  ]
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

const rounded = (amount: number): number => Math.round(amount * 100) / 100
