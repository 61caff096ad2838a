import { Button, Card, Group, Stack, Table, Text, Title } from '@mantine/core'
import { IconDownload, IconPrinter } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { download } from '../../api/download.ts'
import type { paths } from '../../api/schema/perkline.ts'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Count, Money, none, Percent } from '../../ui/values.tsx'
import { settlementActQuery } from '../queries.ts'
import { differenceKinds } from './difference-search.ts'
import { reportedCashback } from './report-totals.tsx'
import classes from './settlement-act.module.css'
import { reconciliationTexts } from './texts.ts'

type Act =
  paths['/portal/cashbacks/{cashbackId}/settlement-act']['get']['responses'][200]['content']['application/json']
type Bank = Act['banks'][number]
type Props = { cashbackId: string; bankId: string }

/** The settlement act with a bank, to read, print and download. */
export function SettlementAct(props: Props) {
  const query = useQuery(settlementActQuery(props))
  return (
    <Loaded query={query}>
      {act => (
        <Stack gap="lg">
          <ActButtons {...props} />
          {act.banks.map(bank => (
            <BankAct key={bank.id} act={act} bank={bank} />
          ))}
        </Stack>
      )}
    </Loaded>
  )
}

function ActButtons({ cashbackId, bankId }: Props) {
  const { act: texts } = useTexts(reconciliationTexts)
  const { language } = usePreferences()
  const notify = useNotify()
  const query = new URLSearchParams({ bankId, language })
  const path = `/portal/cashbacks/${cashbackId}/settlement-act.pdf?${query}`
  const fetching = useMutation({ mutationFn: () => download(path, 'settlement-act.pdf'), onError: notify.failed })
  return (
    <Group gap="sm">
      <Button
        leftSection={<IconDownload size={16} aria-hidden />}
        loading={fetching.isPending}
        onClick={() => fetching.mutate()}
      >
        {texts.download}
      </Button>
      <Button variant="default" leftSection={<IconPrinter size={16} aria-hidden />} onClick={() => print()}>
        {texts.print}
      </Button>
    </Group>
  )
}

function BankAct({ act, bank }: { act: Act; bank: Bank }) {
  const { act: texts, kinds, ...common } = useTexts(reconciliationTexts)
  const { language } = usePreferences()
  const { merchant, currency } = act
  const found = differenceKinds.filter(kind => bank.differences.byKind[kind] > 0)
  const reports = [
    [common.file, (report: Report) => report.fileName],
    [common.lines, (report: Report) => <Count value={report.lines} />],
    [common.amount, (report: Report) => <Money amount={report.totalAmount} currency={currency} />],
    [common.cashback, (report: Report) => <Money amount={reportedCashback(report)} currency={currency} />],
    [common.uploaded, (report: Report) => <Utc at={report.uploadedAt} />],
    [texts.hash, (report: Report) => <span className={classes.hash}>{report.sha256}</span>],
  ] as const
  return (
    <Card component="article" aria-label={bank.name}>
      <Stack gap="lg">
        {bank.settledAt === null && <Text fw={600}>{texts.draft}</Text>}
        <KeyFacts
          columns={3}
          facts={[
            { label: texts.campaign, value: act.campaignName },
            { label: texts.period, value: <UtcPeriod from={act.dateFrom} to={act.dateTo} /> },
            { label: texts.share, value: <Percent value={act.merchantCompensationPercentage} /> },
            {
              label: common.merchant,
              value: language === 'en' ? merchant.nameEn || merchant.name : merchant.name,
              hint: [merchant.code, ...merchant.merchantCategoryCode.map(mcc => `MCC ${mcc}`), ...merchant.domain].join(
                ' · ',
              ),
            },
            { label: common.bank, value: bank.name, hint: bank.code },
            { label: common.compensation, value: <Money amount={bank.compensation} currency={currency} /> },
          ]}
        />
        <section>
          <Title order={2} mb="sm">
            {common.totals}
          </Title>
          <Table className={classes.table ?? ''}>
            <Table.Thead>
              <Table.Tr>
                <Table.Td />
                <Table.Th scope="col">{common.bankReport}</Table.Th>
                <Table.Th scope="col">{common.merchantReport}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {reports.map(([label, value]) => (
                <Table.Tr key={label}>
                  <Table.Th scope="row" fw={400}>
                    {label}
                  </Table.Th>
                  <Table.Td>{bank.bankReport ? value({ ...bank.bankReport, side: 'bank' }) : none}</Table.Td>
                  <Table.Td>
                    {bank.merchantReport ? value({ ...bank.merchantReport, side: 'merchant' }) : none}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
        <section>
          <Title order={2} mb="sm">
            {bank.acceptedAt === null ? texts.differencesSoFar : texts.differences}
          </Title>
          <KeyFacts
            facts={[
              ...found.map(kind => ({ label: kinds[kind], value: <Count value={bank.differences.byKind[kind]} /> })),
              { label: texts.total, value: <Count value={bank.differences.total} /> },
            ]}
          />
        </section>
        <KeyFacts
          facts={[
            { label: texts.accepted, value: <Utc at={bank.acceptedAt} /> },
            { label: texts.settled, value: <Utc at={bank.settledAt} /> },
            { label: texts.paid, value: <Utc at={act.paidAt} /> },
            { label: texts.received, value: <Utc at={bank.receivedAt} /> },
          ]}
        />
      </Stack>
    </Card>
  )
}

type Report = NonNullable<Bank['bankReport']> & { side: 'bank' | 'merchant' }

/** An instant of the act. It is shown in UTC, as in the PDF, so that both sides see the same time. */
function Utc({ at }: { at: string | null }) {
  const format = useFormat()
  return at === null ? none : <time dateTime={at}>{format.utc(at)}</time>
}

function UtcPeriod({ from, to }: { from: string; to: string }) {
  return (
    <>
      <Utc at={from} /> – <Utc at={to} />
    </>
  )
}
