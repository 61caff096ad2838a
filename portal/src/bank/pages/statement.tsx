import { Button, Card, Stack, Table, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { Chart } from '../../ui/chart.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { SaveFile } from '../../ui/save-file.tsx'
import { Sums, salesOf } from '../../ui/statements/sums.tsx'
import { statementTexts } from '../../ui/statements/texts.ts'
import { Empty } from '../../ui/states.tsx'
import { Count, DateTime, ExactTime, Money } from '../../ui/values.tsx'
import { statementLinesQuery, statementQuery } from '../queries.ts'
import { useTariffName } from '../tariff-names.ts'
import type { Statement, StatementLine } from '../types.ts'
import classes from './statement.module.css'

const route = getRouteApi('/signed-in/bank/statements/$statementId')

function Back() {
  const texts = useTexts(statementTexts)
  return <BackLink to="/bank/statements">{texts.title}</BackLink>
}

/** A closed statement: its sums, sales by tariff, and every line. */
export function StatementPage() {
  const { statementId } = route.useParams()
  const texts = useTexts(statementTexts)
  const query = useQuery(statementQuery(statementId))
  return (
    <PageLoaded query={query} back={<Back />} notShown={texts.notShown} notFound={texts.isUnknown}>
      {statement => <Whole statement={statement} statementId={statementId} />}
    </PageLoaded>
  )
}

function Whole({ statement, statementId }: { statement: Statement; statementId: string }) {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  const names = useNames()
  const session = useSession()
  const { day, totals, late } = statement
  return (
    <>
      <Text fw={600} mb="xs" className={classes.onPaper}>
        {names.of(session)} · Perkline
      </Text>
      <PageHeader
        back={<Back />}
        title={format.calendarDay(day)}
        lead={texts.statement(statement.number ?? 0)}
        actions={<SaveFile path={`/partner/v1/statements/${statementId}.csv`} name={`statement-${day}.csv`} />}
      />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            facts={[
              {
                label: texts.sales,
                value: <Count value={salesOf(totals)} />,
                hint: late > 0 ? texts.lateLines(late) : undefined,
              },
              { label: texts.gross, value: <Sums totals={totals} of="gross" /> },
              {
                label: texts.commission,
                value: <Sums totals={totals} of="commission" />,
                hint: format.percent(Number(statement.commissionPercentage)),
              },
              { label: texts.net, value: <Sums totals={totals} of="net" /> },
              { label: texts.from, value: <ExactTime at={statement.from} />, hint: texts.dayOf(statement.timeZone) },
              { label: texts.to, value: <ExactTime at={statement.to} /> },
              { label: texts.closedAt, value: <ExactTime at={statement.closedAt} /> },
            ]}
          />
          <Text size="xs" c="dimmed" mt="md" style={{ overflowWrap: 'anywhere' }}>
            {texts.hash}: {statement.sha256}
          </Text>
        </Card>
        {statement.byTariff.length > 0 && <ByTariff byTariff={statement.byTariff} />}
        <Lines statementId={statementId} />
      </Stack>
    </>
  )
}

function ByTariff({ byTariff }: Pick<Statement, 'byTariff'>) {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  const nameOf = useTariffName()
  const hasTwoCurrencies = (tariff: (typeof byTariff)[number]) =>
    byTariff.filter(each => each.operatorCode === tariff.operatorCode && each.tariffCode === tariff.tariffCode).length >
    1
  const points = byTariff.map(tariff => ({
    label: hasTwoCurrencies(tariff) ? `${nameOf(tariff)}, ${tariff.currency}` : nameOf(tariff),
    sales: tariff.count,
  }))
  return (
    <>
      <div className={classes.chart}>
        <Chart
          kind="rows"
          title={texts.byTariff}
          points={points}
          series={[{ name: 'sales', label: texts.sales }]}
          value={format.number}
        />
      </div>
      <Card>
        <Title order={2} mb="md" className={classes.onPaper}>
          {texts.byTariff}
        </Title>
        <Table aria-label={texts.byTariff}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.tariff}</Table.Th>
              <Table.Th ta="right">{texts.sales}</Table.Th>
              <Table.Th ta="right">{texts.amount}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {byTariff.map(tariff => (
              <Table.Tr key={`${tariff.operatorCode} ${tariff.tariffCode} ${tariff.currency}`}>
                <Table.Td>{nameOf(tariff)}</Table.Td>
                <Table.Td ta="right">
                  <Count value={tariff.count} />
                </Table.Td>
                <Table.Td ta="right">
                  <Money amount={Number(tariff.amount)} currency={tariff.currency} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
    </>
  )
}

function Lines({ statementId }: { statementId: string }) {
  const texts = useTexts(statementTexts)
  const query = useInfiniteQuery(statementLinesQuery(statementId))
  return (
    <section aria-label={texts.lines}>
      <Title order={2} mb="md">
        {texts.lines}
      </Title>
      <DataTable
        label={texts.lines}
        columns={useColumns()}
        query={query}
        rows={query.data?.pages.flatMap(page => page.data)}
        rowKey={line => line.orderId}
        empty={<Empty title={texts.noLines} />}
      />
      {query.hasNextPage && (
        <Button mt="md" variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </section>
  )
}

function useColumns(): Column<StatementLine>[] {
  const texts = useTexts(statementTexts)
  const money = (of: 'amount' | 'commission' | 'net') => (line: StatementLine) => (
    <Money amount={Number(line[of])} currency={line.currency} />
  )
  return [
    { key: 'line', title: texts.line, cell: ({ line }) => <Count value={line} /> },
    { key: 'order', title: texts.order, cell: line => <LineOrder line={line} /> },
    { key: 'tariff', title: texts.tariff, cell: ({ tariffName }) => tariffName },
    {
      key: 'confirmed',
      title: texts.confirmed,
      cell: ({ confirmedAt, late }) => (
        <>
          <DateTime at={confirmedAt} />
          {late && (
            <Text size="sm" c="dimmed">
              {texts.isLate}
            </Text>
          )}
        </>
      ),
    },
    { key: 'amount', title: texts.amount, align: 'right', cell: money('amount') },
    { key: 'commission', title: texts.commission, align: 'right', cell: money('commission') },
    { key: 'net', title: texts.net, align: 'right', cell: money('net') },
  ]
}

function LineOrder({ line: { orderId, externalId, paymentReference } }: { line: StatementLine }) {
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <LinkAnchor to="/bank/esim/orders/$orderId" params={{ orderId }} fw={600} c="inherit">
        {externalId}
      </LinkAnchor>
      {paymentReference && (
        <Text size="xs" c="dimmed">
          {paymentReference}
        </Text>
      )}
    </div>
  )
}
