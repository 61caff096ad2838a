import { NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { type Column, sortedPage } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { Count, DateTime, none } from '../../ui/values.tsx'
import { LevelBadge } from '../components/level-badge.tsx'
import { type StockLine, stockQuery } from '../queries.ts'
import type { StockSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/stock')
const pageSize = 50

/** The profiles of each tariff and how long they will last. The tariff that runs out first comes first. */
export function StockPage() {
  const { stock: texts } = useTexts(operatorTexts)
  const search = route.useSearch()
  const setSearch = useSetSearch<StockSearch>()
  const query = useQuery({ ...stockQuery, refetchInterval: 60_000 })
  const { level, sortBy = 'cover', sortOrder = 'ASC', page = 1 } = search
  const fitting = query.data?.filter(line => level === undefined || line.level === level)
  const sorting = { by: sortBy, order: sortOrder }
  const shown = fitting && sortedPage(fitting, sorting, page, pageSize, sortedBy)
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <NativeSelect
        aria-label={texts.level}
        mb="md"
        maw={240}
        data={[
          { value: '', label: texts.all },
          { value: 'low', label: texts.levels.low },
          { value: 'out', label: texts.levels.out },
        ]}
        value={level ?? ''}
        onChange={({ currentTarget: { value } }) =>
          setSearch({ level: value === 'low' || value === 'out' ? value : undefined })
        }
      />
      <DataTable
        label={texts.title}
        columns={useColumns()}
        query={query}
        rows={shown?.rows}
        rowKey={({ operatorCode, tariffCode }) => `${operatorCode} ${tariffCode}`}
        sorting={sorting}
        {...(shown && { paging: shown.paging })}
        onSearch={change => setSearch(change as Partial<StockSearch>)}
        empty={<Empty title={texts.nothing} />}
      />
    </>
  )
}

const sortedBy: Record<string, (line: StockLine) => string | number | null> = {
  tariff: ({ operatorName, tariffName }) => `${operatorName} ${tariffName}`,
  free: ({ free }) => free,
  sold: ({ sold }) => sold,
  // A tariff without sales runs out only if it is empty. A tariff that is not on sale never runs out.
  cover: ({ daysOfCover, free, isOffered }) =>
    isOffered ? (daysOfCover ?? (free === 0 ? 0 : Number.MAX_VALUE)) : Number.MAX_VALUE,
}

function useColumns(): Column<StockLine>[] {
  const { stock: texts } = useTexts(operatorTexts)
  const names = useNames()
  return [
    {
      key: 'tariff',
      title: texts.tariff,
      sortBy: 'tariff',
      cell: ({ operatorCode, tariffCode, operatorName, operatorNameEn, tariffName }) => (
        <Stack gap={0}>
          <LinkAnchor
            to="/operator/stock/$operatorCode/$tariffCode"
            params={{ operatorCode, tariffCode }}
            fw={600}
            c="inherit"
          >
            {tariffName}
          </LinkAnchor>
          <Text size="sm" c="dimmed">
            {names.of({ name: operatorName, nameEn: operatorNameEn })}
          </Text>
        </Stack>
      ),
    },
    {
      key: 'level',
      title: texts.level,
      cell: line => <LevelBadge line={line} />,
    },
    {
      key: 'cover',
      title: texts.cover,
      sortBy: 'cover',
      align: 'right',
      cell: ({ daysOfCover, free }) => {
        if (free === 0) return none
        return daysOfCover === null ? texts.noPace : texts.days(Math.floor(daysOfCover))
      },
    },
    { key: 'free', title: texts.free, sortBy: 'free', align: 'right', cell: ({ free }) => <Count value={free} /> },
    { key: 'reserved', title: texts.reserved, align: 'right', cell: ({ reserved }) => <Count value={reserved} /> },
    { key: 'sold', title: texts.sold, sortBy: 'sold', align: 'right', cell: ({ sold }) => <Count value={sold} /> },
    {
      key: 'imported',
      title: texts.imported,
      cell: ({ importedAt }) => <DateTime at={importedAt} withTime={false} />,
    },
  ]
}
