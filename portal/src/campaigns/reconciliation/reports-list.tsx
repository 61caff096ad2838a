import { ActionIcon, Group, Text, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { download } from '../../api/download.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, DateTime, Money, none } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import { isSystem } from '../system-login.ts'
import type { ReconciledBank, Report } from '../types.ts'
import { reportedCashback } from './report-totals.tsx'
import { reconciliationTexts } from './texts.ts'

type Query = Parameters<typeof DataTable>[0]['query']

/** All reports of both sides, latest first; each can be downloaded byte for byte. */
export function ReportsList({ bank, query, currency }: { bank: ReconciledBank; query: Query; currency: string }) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const columns: Column<Report>[] = [
    { key: 'file', title: texts.file, cell: report => <ReportFile report={report} /> },
    { key: 'side', title: texts.side, cell: ({ side }) => (side === 'bank' ? texts.bank : texts.merchant) },
    {
      key: 'uploaded',
      title: texts.uploaded,
      cell: ({ uploadedAt, uploadedBy }) => (
        <>
          <DateTime at={uploadedAt} />
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {isSystem(uploadedBy) ? texts.ownSystem : uploadedBy}
          </Text>
        </>
      ),
    },
    { key: 'lines', title: texts.lines, align: 'right', cell: ({ lines }) => <Count value={lines} /> },
    {
      key: 'cashback',
      title: texts.cashback,
      align: 'right',
      cell: report => <Money amount={reportedCashback(report)} currency={currency} />,
    },
    { key: 'size', title: texts.size, align: 'right', cell: ({ sizeBytes }) => format.bytes(sizeBytes) },
    {
      key: 'comment',
      title: texts.comment,
      cell: ({ comment }) => (comment === null ? none : <Comment text={comment} />),
    },
  ]
  return (
    <section aria-label={texts.reports}>
      <Title order={2} mb="md">
        {texts.reports}
      </Title>
      <DataTable
        label={texts.reports}
        columns={columns}
        query={query}
        rows={bank.reports.toReversed()}
        rowKey={({ reportId }) => reportId}
        empty={<Empty title={texts.noReports} />}
      />
    </section>
  )
}

function Comment({ text }: { text: string }) {
  return (
    <Text size="sm" miw={160} className={classes.passage ?? ''}>
      {text}
    </Text>
  )
}

function ReportFile({ report: { reportId, fileName, version } }: { report: Report }) {
  const texts = useTexts(reconciliationTexts)
  const notify = useNotify()
  const fetching = useMutation({
    mutationFn: () => download(`/portal/reports/${reportId}/file`, fileName),
    onError: notify.failed,
  })
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionIcon
        variant="default"
        aria-label={texts.downloadFile(fileName)}
        loading={fetching.isPending}
        onClick={() => fetching.mutate()}
      >
        <IconDownload size={16} aria-hidden />
      </ActionIcon>
      <div>
        <Text fw={600} size="sm">
          {fileName}
        </Text>
        <Text size="sm" c="dimmed">
          {texts.version(version)}
        </Text>
      </div>
    </Group>
  )
}
