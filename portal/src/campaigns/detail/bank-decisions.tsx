import { Avatar, Group, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import { campaignTexts } from '../texts.ts'
import type { BankDecision, InvitedBank } from '../types.ts'

/**
 * The invited banks, their decisions, and the stage of the reconciliation with each.
 *
 * @param props.link turns a bank's name into a link to its reconciliation; without it the name is plain text
 * @param props.decisions the time and comment of each decision
 * @param props.isClosed the campaign does not take place, so there will be no reconciliation
 */
export function BankDecisions(props: {
  banks: readonly InvitedBank[]
  query: Pick<UseQueryResult<unknown>, 'error' | 'isFetching' | 'refetch'>
  link?: (bank: InvitedBank) => ReactNode | null
  decisions?: readonly BankDecision[] | undefined
  isClosed?: boolean
}) {
  const { banks: texts } = useTexts(campaignTexts)
  const columns: Column<InvitedBank>[] = [
    { key: 'bank', title: texts.bank, cell: bank => <BankName bank={bank} link={props.link?.(bank)} /> },
    {
      key: 'decision',
      title: texts.decision,
      cell: bank => <Decision bank={bank} decisions={props.decisions ?? []} />,
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

/**
 * Shows a logo only if its `data:` URL contains the picture, otherwise initials, because our pages load nothing from other
 * sites.
 */
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

function Decision({ bank: { id, status }, decisions }: { bank: InvitedBank; decisions: readonly BankDecision[] }) {
  const decision = decisions.find(({ bankId }) => bankId === id)
  const format = useFormat()
  return (
    <>
      <StatusBadge of="participation" status={status} />
      {decision && status !== 'pending' && (
        <Text size="sm" c="dimmed" mt={4}>
          <DateTime at={decision.at} />
        </Text>
      )}
      {decision?.comment && <Text className={classes.passage}>{format.quoted(decision.comment)}</Text>}
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
