import { Alert, Group, List } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { addDays } from '../../i18n/time-zone.ts'
import { useNow } from '../../session/use-now.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { ShowMore } from '../../ui/data-table/show-more.tsx'
import { useShownPages } from '../../ui/data-table/use-shown-pages.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { useStatementColumns } from '../../ui/statements/columns.tsx'
import { MonthChoice } from '../../ui/statements/month-choice.tsx'
import { daysOfMonth } from '../../ui/statements/months.ts'
import { statementTexts } from '../../ui/statements/texts.ts'
import { Empty } from '../../ui/states.tsx'
import { BankFilter } from '../components/bank-filter.tsx'
import { type BankStatement, type MissingStatement, statementsQuery } from '../queries.ts'
import type { StatementsSearch } from '../search.ts'

const route = getRouteApi('/signed-in/operator/statements')

/**
 * Daily statements of all banks, one month at a time. Above them is a list of the days whose statement is overdue.
 */
export function StatementsPage() {
  const texts = useTexts(statementTexts)
  const search = route.useSearch()
  const setSearch = useSetSearch<StatementsSearch>()
  const now = useNow()
  // On the first day of a month there is no statement of this month yet, so the month before is shown.
  const month = search.month ?? addDays(now.toISOString().slice(0, 10), -1).slice(0, 7)
  const query = useInfiniteQuery(statementsQuery({ ...daysOfMonth(month), bank: search.bank }))
  const { rows, ...more } = useShownPages(query, search.page, page => setSearch({ page }))
  const missing = query.data?.pages[0]?.missing ?? []
  return (
    <>
      <PageHeader title={texts.title} />
      {missing.length > 0 && <Missing missing={missing} />}
      <Group justify="space-between" gap="xs">
        <MonthChoice month={month} onMonth={next => setSearch({ month: next })} />
        <BankFilter code={search.bank} onChoose={bank => setSearch({ bank })} mb="md" />
      </Group>
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={rows}
        rowKey={statement => String(statement.statementId)}
        empty={<Empty title={texts.none} />}
      />
      <ShowMore {...more}>{texts.older}</ShowMore>
    </>
  )
}

function Missing({ missing }: { missing: readonly MissingStatement[] }) {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  return (
    <Alert color="red" title={texts.missing} mb="md">
      <List>
        {missing.map(({ bank, day }) => (
          <List.Item key={bank.id}>{texts.missingSince(bank.name, format.calendarDay(day))}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

function useColumns(): Column<BankStatement>[] {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  return [
    { key: 'day', title: texts.day, cell: ({ day }) => format.calendarDay(day) },
    { key: 'bank', title: texts.bank, cell: ({ bank }) => bank.name },
    ...useStatementColumns<BankStatement>(),
  ]
}
