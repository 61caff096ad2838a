import { Avatar, Group, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import { campaignTexts } from '../texts.ts'
import type { HistoryEntry, InvitedBank } from '../types.ts'

/**
 * Who is invited, what each bank has decided, and how far the reconciliation with it has come.
 *
 * @param props.link names the bank in the first column, as a link to its reconciliation; without one the name stands as it is
 * @param props.history of the campaign: when each bank decided, and what it said
 * @param props.isClosed the campaign does not take place: no reconciliation is to come
 */
export function BankDecisions(props: {
  banks: readonly InvitedBank[]
  query: Pick<UseQueryResult<unknown>, 'error' | 'isFetching' | 'refetch'>
  link?: (bank: InvitedBank) => ReactNode | null
  history?: readonly HistoryEntry[] | undefined
  isClosed?: boolean
}) {
  const { banks: texts } = useTexts(campaignTexts)
  const columns: Column<InvitedBank>[] = [
    { key: 'bank', title: texts.bank, cell: bank => <BankName bank={bank} link={props.link?.(bank)} /> },
    {
      key: 'decision',
      title: texts.decision,
      cell: bank => <Decision bank={bank} history={props.history ?? []} />,
    },
    {
      key: 'reconciliation',
      title: texts.reconciliation,
      cell: bank => <ReportingStage bank={bank} isClosed={props.isClosed ?? false} />,
    },
    {
      key: 'reports',
      title: texts.reports,
      cell: ({ hasBankReport, hasSecondBankReport, merchantReportUploadsCount }) =>
        hasBankReport ? texts.reportsOf(hasSecondBankReport ? 2 : 1, merchantReportUploadsCount) : '–',
      isMinor: true,
    },
  ]
  return (
    <DataTable label={texts.title} columns={columns} query={props.query} rows={props.banks} rowKey={({ id }) => id} />
  )
}

/** Only logos that the platform itself sends are shown, the others' initials: a page of ours asks no other site. */
function BankName({ bank, link }: { bank: { name: string; logoUrl: string }; link?: ReactNode }) {
  return (
    <Group gap="sm" wrap="nowrap">
      <Avatar
        size={30}
        radius="md"
        color="perk"
        name={bank.name}
        src={bank.logoUrl.startsWith('data:image/') ? bank.logoUrl : null}
        alt=""
        aria-hidden
      />
      {link ?? <Text fw={600}>{bank.name}</Text>}
    </Group>
  )
}

function Decision({ bank: { id, status }, history }: { bank: InvitedBank; history: readonly HistoryEntry[] }) {
  // A bank that was taken out and invited again has decided twice.
  const decision = history.findLast(
    ({ subject, bankId, from, to }) => subject === 'bank' && bankId === id && to === status && from !== to,
  )
  return (
    <>
      <StatusBadge of="participation" status={status} />
      {decision && status !== 'pending' && (
        <Text size="sm" c="dimmed" mt={4}>
          <DateTime at={decision.at} />
        </Text>
      )}
      {decision?.comment && <Text className={classes.passage}>{`«${decision.comment}»`}</Text>}
    </>
  )
}

function ReportingStage({ bank, isClosed }: { bank: InvitedBank; isClosed: boolean }) {
  const { banks: texts } = useTexts(campaignTexts)
  if (bank.bankReportingStatus === null)
    return (
      <Text size="sm" c="dimmed">
        {!isClosed && (bank.status === 'pending' || bank.status === 'approved') ? texts.notYet : '–'}
      </Text>
    )
  return <StatusBadge of="reporting" status={bank.settlementConfirmed ? 'settled' : bank.bankReportingStatus} />
}
