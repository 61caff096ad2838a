import { Card, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { Chart } from '../../ui/chart.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Count, Money } from '../../ui/values.tsx'
import { isTooLong, SalesFilters } from '../components/sales-filters.tsx'
import { esimTexts } from '../esim-texts.ts'
import { salesQuery } from '../queries.ts'
import { endedByDay, onlyTariff, soldByDay, tariffsOf, withTotals } from '../sales-figures.ts'
import type { SalesSearch, TariffSearch } from '../search.ts'
import { useTariffName } from '../tariff-names.ts'
import type { Sales } from '../types.ts'

const route = getRouteApi('/signed-in/bank/esim/sales')

/** The bank's sold and failed orders, by the days of its statements and by tariff. */
export function SalesPage() {
  const { sales: texts } = useTexts(esimTexts)
  const search = route.useSearch()
  const setSearch = useSetSearch<SalesSearch>()
  const { data } = useQuery({ ...salesQuery(search), enabled: !isTooLong(search) })
  return (
    <>
      <PageHeader title={texts.title} lead={data && texts.lead(data.timeZone)} />
      <SalesFilters search={search} onSearch={setSearch} timeZone={data?.timeZone} />
      {!isTooLong(search) && <CountedSales search={search} />}
    </>
  )
}

function CountedSales({ search }: { search: SalesSearch }) {
  const { sales: texts } = useTexts(esimTexts)
  const query = useQuery({ ...salesQuery(search), refetchInterval: 60_000 })
  return (
    <Loaded query={query}>
      {data => {
        const sales = withTotals(onlyTariff(data, search))
        return (
          <Stack gap="lg">
            <Totals totals={sales.totals} />
            {sales.days.length > 0 ? (
              <Charts sales={sales} chosen={search} />
            ) : (
              <Card p={0}>
                <Empty title={texts.none} text={texts.noneText} />
              </Card>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}

function Totals({ totals: { confirmed, cancelled, expired, amounts } }: Pick<Sales, 'totals'>) {
  const { sales: texts } = useTexts(esimTexts)
  const income = amounts.map(({ currency, amount }) => (
    <div key={currency}>
      <Money amount={amount} currency={currency} />
    </div>
  ))
  return (
    <Card>
      <KeyFacts
        facts={[
          { label: texts.sold, value: <Count value={confirmed} /> },
          { label: texts.amount, value: income.length > 0 ? income : texts.noAmount },
          { label: texts.cancelled, value: <Count value={cancelled} /> },
          { label: texts.expired, value: <Count value={expired} /> },
        ]}
      />
    </Card>
  )
}

/** All tariffs side by side; or the chosen tariff with all outcomes of its orders. */
function Charts({ sales, chosen: { operator, tariff } }: { sales: Sales; chosen: TariffSearch }) {
  const { sales: texts } = useTexts(esimTexts)
  const format = useFormat()
  const nameOf = useTariffName()
  const isWithinYear = sales.from.slice(0, 4) === sales.to.slice(0, 4)
  const labelOf = isWithinYear ? format.dayOfYear : format.calendarDay
  const ended = endedByDay(sales, labelOf)
  const failures = [
    { name: 'cancelled', label: texts.cancelled, color: 'orange.5' },
    { name: 'expired', label: texts.expired, color: 'gray.5' },
  ]
  const all = [{ name: 'confirmed', label: texts.sold }, ...failures]
  const shared = { kind: 'bars', value: format.number } as const
  if (tariff) {
    const name = nameOf({ operatorCode: operator ?? sales.days[0]?.operatorCode ?? '', tariffCode: tariff })
    return <Chart {...shared} title={texts.byDay(name)} isStacked points={ended} series={all} />
  }
  const sold = soldByDay(sales, { labelOf, nameOf, othersName: texts.others })
  const byTariff = tariffsOf(sales).map(({ tariff: each, ...counts }) => ({ label: nameOf(each), ...counts }))
  return (
    <>
      {sold.series.length > 0 && (
        <Chart {...shared} title={texts.soldByDay} isStacked points={sold.points} series={sold.series} />
      )}
      <Chart {...shared} title={texts.failedByDay} isStacked points={ended} series={failures} height={200} />
      <Chart {...shared} kind="rows" title={texts.byTariff} isStacked points={byTariff} series={all} />
    </>
  )
}
