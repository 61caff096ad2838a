import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { Chart } from '../../ui/chart.tsx'
import type { ChartPoint } from '../../ui/chart-figures.ts'
import { latestReport } from '../reconciliation/report-totals.tsx'
import { reconciliationTexts } from '../reconciliation/texts.ts'
import type { CampaignOffer, ReconciledBank } from '../types.ts'

type Terms = Pick<CampaignOffer, 'maxBudget' | 'percentage' | 'merchantCompensationPercentage' | 'country'>

/**
 * Planned and actual cost of a campaign with one bank, with the shares of merchant and bank. Bars: the budget; the
 * cashback by the terms for the reported purchases; the reported cashback; and the reported cashback of lines that
 * violate no term.
 */
export function CostChart({ campaign, bank }: { campaign: Terms; bank: ReconciledBank }) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const { merchantCompensationPercentage: share, country } = campaign
  const point = (label: string, cost: number): ChartPoint => ({
    label,
    merchant: rounded((cost * share) / 100),
    bank: rounded((cost * (100 - share)) / 100),
  })
  return (
    <Chart
      title={texts.chart}
      kind="rows"
      isStacked
      points={costs(campaign, bank).map(({ kind, cost }) => point(texts[kind], cost))}
      series={[
        { name: 'merchant', label: texts.merchantShare },
        { name: 'bank', label: texts.bankShare },
      ]}
      value={amount => format.money(amount, country.currency.code)}
    />
  )
}

type Cost = { kind: 'planned' | 'byTerms' | 'reported' | 'accepted'; cost: number }

/** The known costs, in the order of the chart. */
function costs(campaign: Terms, bank: Pick<ReconciledBank, 'reports' | 'expectedCompensation'>): Cost[] {
  const { maxBudget, percentage, merchantCompensationPercentage: share } = campaign
  const report = latestReport(bank, 'bank')
  const known: Cost[] = maxBudget === null ? [] : [{ kind: 'planned', cost: maxBudget }]
  if (!report) return known
  known.push({ kind: 'byTerms', cost: rounded((report.totalAmount * percentage) / 100) })
  known.push({ kind: 'reported', cost: report.totalCashback })
  // The total is computed from the merchant's compensation and share, so it is unknown if the share is 0.
  if (bank.expectedCompensation !== null && share > 0)
    known.push({ kind: 'accepted', cost: rounded((bank.expectedCompensation * 100) / share) })
  return known
}

const rounded = (amount: number): number => Math.round(amount * 100) / 100
