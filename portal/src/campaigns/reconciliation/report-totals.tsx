import { Card, SimpleGrid, Text, Title } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { Count, ExactTime, Money } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import type { ReconciledBank, Report } from '../types.ts'
import { reconciliationTexts } from './texts.ts'

/** The latest report of the merchant or of the bank; null if there is none. */
export const latestReport = ({ reports }: Pick<ReconciledBank, 'reports'>, side: Report['side']): Report | null =>
  reports.findLast(report => report.side === side) ?? null

/**
 * The sum of the cashback in a report. If it is 0 in a merchant's report, returns null, because such a report usually
 * has no column for cashback.
 */
export const reportedCashback = ({ side, totalCashback }: Pick<Report, 'side' | 'totalCashback'>): number | null =>
  side === 'merchant' && totalCashback === 0 ? null : totalCashback

/** The totals of the latest reports of merchant and bank, side by side, and the results of comparing these reports. */
export function ReportTotals({ bank, currency }: { bank: ReconciledBank; currency: string }) {
  const texts = useTexts(reconciliationTexts)
  const isOver = bank.bankReportingStatus === 'awaitingCompensationConfirmation'
  const outcome = [
    {
      label: texts.compensation,
      value:
        bank.expectedCompensation === null ? (
          <Text c="dimmed">{texts.noCompensation}</Text>
        ) : (
          <Money amount={bank.expectedCompensation} currency={currency} />
        ),
      hint: bank.expectedCompensation === null ? null : texts.compensationHint,
    },
    {
      label: texts.matched,
      value:
        bank.matched === null ? (
          <Text c="dimmed">{isOver ? texts.neverCompared : texts.notCompared}</Text>
        ) : (
          <Count value={bank.matched} />
        ),
    },
    { label: texts.differences, value: <Count value={bank.reports.length === 0 ? null : bank.differences.total} /> },
  ]
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.totals}
      </Title>
      <SimpleGrid cols={{ base: 1, md: 2 }} mb="lg">
        <ReportFigures
          title={texts.bankReport}
          report={latestReport(bank, 'bank')}
          currency={currency}
          none={texts.none}
        />
        <ReportFigures
          title={texts.merchantReport}
          report={latestReport(bank, 'merchant')}
          currency={currency}
          none={isOver ? texts.acceptedWithout : texts.none}
        />
      </SimpleGrid>
      <KeyFacts facts={outcome} columns={3} />
    </Card>
  )
}

type FiguresGiven = { title: string; report: Report | null; currency: string; none: string }

function ReportFigures({ title, report, currency, none }: FiguresGiven) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const facts = report && [
    { label: texts.amount, value: <Money amount={report.totalAmount} currency={currency} /> },
    {
      label: texts.cashback,
      value: <Money amount={reportedCashback(report)} currency={currency} />,
    },
    { label: texts.lines, value: <Count value={report.lines} /> },
    { label: texts.uploaded, value: <ExactTime at={report.uploadedAt} /> },
  ]
  return (
    <Card padding="md" radius="md">
      <Title order={3} mb="sm">
        {title}
        {report && (
          <Text span c="dimmed" size="sm" fw={400}>
            {` · ${texts.version(report.version)}`}
          </Text>
        )}
      </Title>
      {facts ? <KeyFacts facts={facts} columns={2} /> : <Text c="dimmed">{none}</Text>}
      {report?.comment && (
        <Text mt="sm" className={classes.passage ?? ''}>
          {format.quoted(report.comment)}
        </Text>
      )}
    </Card>
  )
}
