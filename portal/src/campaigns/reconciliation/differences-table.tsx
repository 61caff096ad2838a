import { Badge, Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { IconDownload, IconEqual } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { download } from '../../api/download.ts'
import { isApiError } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import classes from '../campaigns.module.css'
import { differencesQuery } from '../queries.ts'
import type { Difference, DifferenceKind, ReconciledBank } from '../types.ts'
import { type DifferenceSearch, differenceKinds } from './difference-search.ts'
import { DifferenceValue, Id } from './difference-values.tsx'
import { reconciliationTexts } from './texts.ts'

type Props = {
  cashbackId: string
  bank: ReconciledBank
  currency: string
  search: DifferenceSearch
  onSearch: (change: Partial<DifferenceSearch>) => void
}

/**
 * Shows how the reports differ from the terms and from each other. The person can filter by kind, search for a part of
 * a transaction id, and save all differences as a file.
 */
export function DifferencesTable({ cashbackId, bank, currency, search, onSearch }: Props) {
  const texts = useTexts(reconciliationTexts)
  const { total } = bank.differences
  const columns = useColumns(currency)
  const query = useQuery(differencesQuery({ cashbackId, bank, search }))
  // The report files and the list of differences of an old campaign are deleted. The summary still counts the differences.
  if (isApiError(query.error, 404))
    return (
      <Stack component="section" gap="md" aria-label={texts.differences}>
        <Title order={2}>{texts.differences}</Title>
        <Empty title={texts.removed} text={texts.removedText} />
      </Stack>
    )
  const empty =
    total === 0 ? (
      <Empty
        icon={IconEqual}
        title={texts.noDifferences}
        text={bank.matched === null ? texts.noDifferencesAlone : texts.noDifferencesText}
      />
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
      <DataTable
        label={texts.differences}
        columns={columns}
        query={query}
        rows={query.data?.data}
        rowKey={item => [item.kind, item.transactionId, item.bankLine, item.merchantLine].join('\n')}
        {...(query.data && { paging: query.data.pagination })}
        onSearch={({ page }) => onSearch({ page })}
        empty={empty}
      />
    </Stack>
  )
}

function useColumns(currency: string): Column<Difference>[] {
  const texts = useTexts(reconciliationTexts)
  return [
    {
      key: 'transaction',
      title: texts.transaction,
      cell: item => (
        <b>
          <Id text={item.transactionId} />
        </b>
      ),
    },
    {
      key: 'kind',
      title: texts.kind,
      cell: ({ kind }) => (
        <Badge color={colourOf(kind)} data-kind={kind}>
          {texts.kinds[kind]}
        </Badge>
      ),
    },
    {
      key: 'expected',
      title: texts.expected,
      cell: item => <DifferenceValue item={item} side="expected" currency={currency} />,
    },
    {
      key: 'found',
      title: texts.found,
      cell: item => <DifferenceValue item={item} side="found" currency={currency} />,
    },
    {
      key: 'lines',
      title: texts.line,
      cell: ({ bankLine, merchantLine }) => (
        <Text size="sm" component="span">
          {bankLine !== null && texts.lineOfBank(bankLine)}
          {bankLine !== null && merchantLine !== null && ', '}
          {merchantLine !== null && texts.lineOfMerchant(merchantLine)}
        </Text>
      ),
    },
  ]
}

const colourOf = (kind: DifferenceKind): string =>
  kind.startsWith('only-in') || kind === 'amount-differs' ? 'blue' : 'orange'

function Filters({ bank, search, onSearch }: Pick<Props, 'bank' | 'search' | 'onSearch'>) {
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
