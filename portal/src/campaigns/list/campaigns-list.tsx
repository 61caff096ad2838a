/** The list of campaigns of merchants and banks: its frame, its filters, and the columns that both show. */
import { Button, Group, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { stringifySearch } from '../../routing/search.ts'
import type { Column, Paging } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import type { TableSearch } from '../../ui/data-table/use-table-search.ts'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SaveFile } from '../../ui/save-file.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime, Percent, Period } from '../../ui/values.tsx'
import classes from '../parts.module.css'
import type { CampaignDetails, Home } from '../types.ts'
import type { Group as StatusGroup } from './campaign-groups.ts'
import { GroupChips } from './group-chips.tsx'
import { listTexts } from './texts.ts'

type Listed = Pick<CampaignDetails, 'cashbackId' | 'status' | 'dateFrom' | 'dateTo' | 'percentage' | 'createdAt'>

/** The address parameters of both lists; each adds filters of its own. */
type ListSearch = TableSearch & {
  name?: string | undefined
  group?: StatusGroup | undefined
  from?: string | undefined
  to?: string | undefined
}

/**
 * @param props.exported the query for the platform's export of the list, with the current filters
 * @param props.actions buttons beside the title
 * @param props.empty the content of an empty list without filters
 */
export function CampaignsList<Row extends Listed>(props: {
  query: UseQueryResult<{ data: Row[]; pagination: Paging }>
  columns: Column<Row>[]
  search: ListSearch
  onSearch: (change: TableSearch) => void
  filters: ReactNode
  exported: Record<string, string | readonly string[]>
  actions: ReactNode
  empty: Parameters<typeof Empty>[0]
}) {
  const { query, columns, search, onSearch, filters, exported, actions, empty } = props
  const texts = useTexts(listTexts)
  const { page: _, after, sortBy, sortOrder, ...others } = search
  const isFiltered = Object.values(others).some(value => value !== undefined)
  return (
    <>
      <PageHeader
        title={texts.title}
        actions={
          <Group gap="sm">
            <SaveFile
              path={`/portal/cashbacks.csv${stringifySearch(exported)}`}
              name="campaigns.csv"
              isDisabled={query.data?.pagination.totalItems === 0}
            />
            {actions}
          </Group>
        }
      />
      {filters}
      <DataTable
        label={texts.title}
        columns={columns}
        query={query}
        rows={query.data?.data}
        rowKey={({ cashbackId }) => cashbackId}
        sorting={{ by: sortBy ?? 'createdAt', order: sortBy ? (sortOrder ?? 'ASC') : 'DESC' }}
        {...(query.data && { paging: query.data.pagination })}
        after={after}
        isSizeChosen
        onSearch={onSearch}
        empty={isFiltered ? <Empty title={texts.noMatch} text={texts.noMatchText} /> : <Empty {...empty} />}
      />
    </>
  )
}

/**
 * The filters of the list: group, name and days, and the filters in `children`.
 *
 * @param props.nothing every filter as undefined, to clear all filters
 */
export function ListFilters<Search extends ListSearch>(props: {
  search: Search
  onSearch: (change: Partial<Search>) => void
  onGroup: (group: StatusGroup | undefined) => void
  nothing: { [Name in Exclude<keyof Search, keyof TableSearch>]-?: undefined }
  home: Home | undefined
  children: ReactNode
}) {
  const { search, onGroup, nothing, home, children } = props
  const texts = useTexts(listTexts)
  const { name, group, from, to } = search
  // TypeScript does not see that `Search` has all fields of `ListSearch`.
  const onSearch = (change: Partial<ListSearch>) => props.onSearch(change as Partial<Search>)
  const isFiltered = Object.keys(nothing).some(field => search[field as keyof Search] !== undefined)
  return (
    <Stack gap="sm" mb="md">
      <GroupChips group={group} home={home} onGroup={onGroup} />
      <div className={classes.filters}>
        <SearchInput label={texts.search} value={name} onChange={words => onSearch({ name: words })} />
        {children}
        <DaysFilter
          aria-label={texts.dates}
          placeholder={texts.dates}
          isClearable
          value={[from ?? null, to ?? null]}
          onChange={([first, last]) => onSearch({ from: first ?? undefined, to: last ?? undefined })}
        />
        {isFiltered && (
          <Button variant="subtle" onClick={() => onSearch(nothing)}>
            {texts.clear}
          </Button>
        )}
      </div>
    </Stack>
  )
}

/** The columns that both lists share. Each list adds its own columns between them. */
export function useCampaignColumns<Row extends Listed>() {
  const texts = useTexts(listTexts)
  return {
    status: {
      key: 'status',
      title: texts.status,
      sortBy: 'status',
      cell: ({ status }) => <StatusBadge of="campaign" status={status} />,
    },
    period: { key: 'period', title: texts.period, sortBy: 'dateFrom', cell: campaign => <Period {...campaign} /> },
    percentage: {
      key: 'percentage',
      title: texts.percentage,
      sortBy: 'percentage',
      align: 'right',
      cell: ({ percentage }) => <Percent value={percentage} />,
    },
    created: {
      key: 'created',
      title: texts.created,
      sortBy: 'createdAt',
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
      isMinor: true,
    },
  } satisfies Record<string, Column<Row>>
}
