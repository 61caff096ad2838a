import { CostChart } from '../detail/cost-chart.tsx'
import type { CampaignDetails, ReconciledBank } from '../types.ts'
import { DifferencesTable } from './differences-table.tsx'
import { ReportTotals } from './report-totals.tsx'
import { ReportsList } from './reports-list.tsx'

type Table = Parameters<typeof DifferencesTable>[0]

/** The figures that both sides of a reconciliation see: totals, costs, differences, and the reports. */
export function ReconciliationFigures(
  props: Pick<Table, 'search' | 'onSearch'> & {
    query: Parameters<typeof ReportsList>[0]['query']
    campaign: Parameters<typeof CostChart>[0]['campaign'] & Pick<CampaignDetails, 'cashbackId' | 'country'>
    bank: ReconciledBank
  },
) {
  const { campaign, bank, query, search, onSearch } = props
  const currency = campaign.country.currency.code
  return (
    <>
      <ReportTotals bank={bank} currency={currency} />
      <CostChart campaign={campaign} bank={bank} />
      {bank.reports.length > 0 && (
        <DifferencesTable
          cashbackId={campaign.cashbackId}
          bank={bank}
          currency={currency}
          search={search}
          onSearch={onSearch}
        />
      )}
      <ReportsList bank={bank} query={query} currency={currency} />
    </>
  )
}
