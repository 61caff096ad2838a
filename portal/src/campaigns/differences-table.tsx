import { Badge, Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { IconDownload, IconEqual } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { download } from '../api/download.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import type { Column } from '../ui/data-table/columns.ts'
import { DataTable } from '../ui/data-table/data-table.tsx'
import { useNotify } from '../ui/notify.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { Empty } from '../ui/states.tsx'
import { Count, none } from '../ui/values.tsx'
import classes from './campaigns.module.css'
import { type DifferenceSearch, differenceKinds, findDifferences } from './difference-search.ts'
import { reconciliationTexts } from './reconciliation-texts.ts'
import type { Difference, DifferenceKind, ReconciledBank } from './types.ts'

type Given = {
  cashbackId: string
  bank: ReconciledBank
  query: Parameters<typeof DataTable>[0]['query']
  search: DifferenceSearch
  onSearch: (change: Partial<DifferenceSearch>) => void
}

/** In what the reports differ from the terms and from each other: by kind, by transaction, and all of them as a file. */
export function DifferencesTable({ cashbackId, bank, query, search, onSearch }: Given) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const { total, items } = bank.differences
  const { rows, paging, sorting } = useMemo(() => findDifferences(items, search), [items, search])
  const empty =
    total === 0 ? (
      <Empty icon={IconEqual} title={texts.noDifferences} text={texts.noDifferencesText} />
    ) : (
      <Empty title={texts.notFound} />
    )
  return (
    <Stack component="section" gap="md" aria-label={texts.differences}>
      <Group justify="space-between">
        <Title order={2}>{texts.differences}</Title>
        {total > 0 && <DownloadAll cashbackId={cashbackId} bankId={bank.id} />}
      </Group>
      {total > 0 && <Filters bank={bank} search={search} onSearch={onSearch} />}
      {total > items.length && (
        <Text size="sm" c="dimmed">
          {texts.firstOnly(format.number(items.length), format.number(total))}
        </Text>
      )}
      <DataTable
        label={texts.differences}
        columns={useColumns()}
        query={query}
        rows={rows}
        rowKey={item => [item.kind, item.transactionId, item.bankLine, item.merchantLine].join('\n')}
        sorting={sorting}
        paging={paging}
        onSearch={change => onSearch(change as Partial<DifferenceSearch>)}
        empty={empty}
      />
    </Stack>
  )
}

function useColumns(): Column<Difference>[] {
  const texts = useTexts(reconciliationTexts)
  return [
    {
      key: 'transaction',
      title: texts.transaction,
      sortBy: 'transactionId',
      cell: item => <b>{item.transactionId}</b>,
    },
    {
      key: 'kind',
      title: texts.kind,
      sortBy: 'kind',
      cell: ({ kind }) => (
        <Badge color={colourOf(kind)} data-kind={kind}>
          {texts.kinds[kind]}
        </Badge>
      ),
    },
    {
      key: 'expected',
      title: texts.expected,
      cell: ({ expected }) => <span className="figure">{expected ?? none}</span>,
    },
    { key: 'found', title: texts.found, cell: ({ found }) => <span className="figure">{found ?? none}</span> },
    {
      key: 'bankLine',
      title: texts.bankLine,
      sortBy: 'bankLine',
      align: 'right',
      isMinor: true,
      cell: ({ bankLine }) => <Count value={bankLine} />,
    },
    {
      key: 'merchantLine',
      title: texts.merchantLine,
      sortBy: 'merchantLine',
      align: 'right',
      isMinor: true,
      cell: ({ merchantLine }) => <Count value={merchantLine} />,
    },
  ]
}

const colourOf = (kind: DifferenceKind): string =>
  kind.startsWith('only-in') || kind === 'amount-differs' ? 'blue' : 'orange'

function Filters({ bank, search, onSearch }: Pick<Given, 'bank' | 'search' | 'onSearch'>) {
  const texts = useTexts(reconciliationTexts)
  const format = useFormat()
  const { byKind, total } = bank.differences
  const choices = differenceKinds
    .filter(kind => byKind[kind] > 0 || kind === search.kind)
    .map(kind => ({ value: kind, label: `${texts.kinds[kind]} (${format.number(byKind[kind])})` }))
  return (
    <Group className={classes.filters} gap="sm">
      <NativeSelect
        aria-label={texts.kind}
        data={[{ value: '', label: `${texts.allKinds} (${format.number(total)})` }, ...choices]}
        value={search.kind ?? ''}
        onChange={({ currentTarget }) =>
          onSearch({ kind: differenceKinds.find(kind => kind === currentTarget.value), page: undefined })
        }
      />
      <SearchInput label={texts.search} value={search.find} onChange={find => onSearch({ find, page: undefined })} />
    </Group>
  )
}

function DownloadAll({ cashbackId, bankId }: { cashbackId: string; bankId: string }) {
  const texts = useTexts(reconciliationTexts)
  const notify = useNotify()
  const path = `/portal/cashbacks/${cashbackId}/banks/${bankId}/differences.csv`
  const fetching = useMutation({ mutationFn: () => download(path, 'differences.csv'), onError: notify.failed })
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      loading={fetching.isPending}
      onClick={() => fetching.mutate()}
    >
      {texts.download}
    </Button>
  )
}
