import { Card, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { isApiError } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { addDays } from '../../i18n/time-zone.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SaveFile } from '../../ui/save-file.tsx'
import { useStatementColumns } from '../../ui/statements/columns.tsx'
import { MonthChoice } from '../../ui/statements/month-choice.tsx'
import { daysOfMonth } from '../../ui/statements/months.ts'
import { Sums, salesOf } from '../../ui/statements/sums.tsx'
import { statementTexts } from '../../ui/statements/texts.ts'
import { Empty } from '../../ui/states.tsx'
import { Count } from '../../ui/values.tsx'
import { openStatementQuery, statementsQuery } from '../queries.ts'
import type { StatementsSearch } from '../search.ts'
import type { Statement } from '../types.ts'

const route = getRouteApi('/signed-in/bank/statements')

/** The bank's daily statements, one month at a time, and the day that is still open. */
export function StatementsPage() {
  const texts = useTexts(statementTexts)
  const search = route.useSearch()
  const setSearch = useSetSearch<StatementsSearch>()
  const open = useQuery(openStatementQuery)
  // On the first day of a month there is no statement of this month yet, so the month before is shown.
  const month = search.month ?? addDays((open.data?.day ?? new Date().toISOString()).slice(0, 10), -1).slice(0, 7)
  const days = daysOfMonth(month)
  const query = useQuery({ ...statementsQuery(days), enabled: search.month !== undefined || !open.isPending })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={open.data && texts.lead(open.data.timeZone)}
        actions={
          <SaveFile
            path={`/partner/v1/statements.csv?${new URLSearchParams(days)}`}
            name={`statements-${month}.csv`}
            isDisabled={query.data?.data.length === 0}
          />
        }
      />
      {open.data && !isApiError(open.error, 404) && <OpenDay statement={open.data} />}
      <MonthChoice month={month} onMonth={next => setSearch({ month: next })} />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={query.data?.data}
        rowKey={statement => String(statement.statementId)}
        empty={<Empty title={texts.none} {...(!open.data?.previousStatementId && { text: texts.noneText })} />}
      />
    </>
  )
}

function OpenDay({ statement }: { statement: Statement }) {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  const { totals, day, late } = statement
  return (
    <Card component="section" mb="lg" aria-label={texts.open}>
      <Stack gap="md">
        <Title order={2}>{texts.open}</Title>
        <KeyFacts
          facts={[
            { label: texts.day, value: format.calendarDay(day), hint: texts.openHint },
            {
              label: texts.sales,
              value: <Count value={salesOf(totals)} />,
              hint: late > 0 ? texts.lateLines(late) : undefined,
            },
            { label: texts.gross, value: <Sums totals={totals} of="gross" /> },
            { label: texts.net, value: <Sums totals={totals} of="net" /> },
          ]}
        />
      </Stack>
    </Card>
  )
}

function useColumns(): Column<Statement>[] {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  const day: Column<Statement> = {
    key: 'day',
    title: texts.day,
    cell: statement => (
      <LinkAnchor
        to="/bank/statements/$statementId"
        params={{ statementId: String(statement.statementId) }}
        fw={600}
        c="inherit"
      >
        {format.calendarDay(statement.day)}
      </LinkAnchor>
    ),
  }
  return [day, ...useStatementColumns<Statement>()]
}
