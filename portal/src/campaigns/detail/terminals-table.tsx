import { Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { SaveFile } from '../../ui/save-file.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { DateTime, none } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import { terminalsQuery } from '../queries.ts'
import { campaignTexts } from '../texts.ts'
import type { ListedTerminal } from '../types.ts'

export type TerminalSearch = { page?: number | undefined; find?: string | undefined }

/**
 * The campaign's terminals; search and page are in the address.
 *
 * @param props.since only terminals added at or after this instant
 */
export function TerminalsTable(props: {
  cashbackId: string
  isPlatform: boolean
  search: TerminalSearch
  onSearch: (change: TerminalSearch) => void
  since?: string | undefined
}) {
  const { cashbackId, isPlatform, search, onSearch, since } = props
  const { terminals: texts } = useTexts(campaignTexts)
  const { page = 1, find } = search
  const filters = new URLSearchParams({ ...(find && { search: find }), ...(since && { since }) })
  const filePath = `/portal/cashbacks/${cashbackId}/terminals.csv?${filters}`
  const query = useQuery({ ...terminalsQuery(cashbackId, { page, find, since }), placeholderData: keepPreviousData })
  return (
    <Stack gap="md">
      <Text c="dimmed">{isPlatform ? texts.platform : texts.own}</Text>
      <Group align="flex-end" gap="sm">
        <div className={classes.grow}>
          <SearchInput
            label={texts.search}
            value={find}
            onChange={words => onSearch({ find: words, page: undefined })}
          />
        </div>
        <SaveFile path={filePath} name="terminals.csv" />
      </Group>
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={query.data?.data}
        rowKey={({ terminal_id }) => terminal_id}
        {...(query.data && { paging: query.data.pagination })}
        onSearch={({ page }) => onSearch({ page })}
        empty={<Empty title={find || since ? texts.notFound : texts.none} />}
      />
    </Stack>
  )
}

function useColumns(): Column<ListedTerminal>[] {
  const { terminals: texts } = useTexts(campaignTexts)
  return [
    { key: 'id', title: texts.id, cell: ({ terminal_id }) => <b>{terminal_id}</b> },
    { key: 'name', title: texts.name, cell: ({ terminal_name }) => terminal_name ?? none },
    { key: 'location', title: texts.location, cell: ({ terminal_location }) => terminal_location ?? none },
    {
      key: 'merchant',
      title: texts.merchant,
      cell: ({ merchant_id, merchant_name }) => [merchant_id, merchant_name].filter(Boolean).join(' · ') || none,
    },
    { key: 'added', title: texts.added, cell: ({ addedAt }) => <DateTime at={addedAt} withTime={false} /> },
  ]
}
