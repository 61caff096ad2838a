/** Sorting of a table by its column heads. On a phone, a select above the table replaces the column heads. */
import { Group, NativeSelect, Table, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import { useTexts } from '../../i18n/preferences.tsx'
import { uiTexts } from '../texts.ts'
import type { Column, Sorting } from './columns.ts'
import classes from './data-table.module.css'
import type { TableSearch } from './use-table-search.ts'

type Sort = { sorting: Sorting; onSearch: (change: TableSearch) => void }

export function SortableHead<Row>({ column, sort }: { column: Column<Row>; sort: Sort | null }) {
  const texts = useTexts(uiTexts)
  const { title, align, sortBy, isMinor } = column
  const marks = { role: 'columnheader', 'data-align': align, 'data-minor': isMinor || undefined }
  if (!sort || !sortBy) return <Table.Th {...marks}>{title}</Table.Th>

  const { sorting, onSearch } = sort
  const order = sorting.by === sortBy ? sorting.order : null
  const Picture = order === 'ASC' ? IconArrowUp : order === 'DESC' ? IconArrowDown : IconArrowsSort
  return (
    <Table.Th {...marks} aria-sort={order === 'ASC' ? 'ascending' : order === 'DESC' ? 'descending' : 'none'}>
      <UnstyledButton
        className={classes.sort}
        title={texts.table.sortBy(title)}
        onClick={() => onSearch({ sortBy, sortOrder: order === 'ASC' ? 'DESC' : 'ASC' })}
      >
        {title}
        <Picture size={14} data-active={order !== null || undefined} aria-hidden />
      </UnstyledButton>
    </Table.Th>
  )
}

export function SortSelect<Row>({ columns, sorting, onSearch }: { columns: readonly Column<Row>[] } & Sort) {
  const texts = useTexts(uiTexts)
  const { ascending, descending } = texts.table
  const choices = columns.flatMap(({ title, sortBy }) =>
    sortBy
      ? [
          { value: `${sortBy} ASC`, label: `${title}, ${ascending}` },
          { value: `${sortBy} DESC`, label: `${title}, ${descending}` },
        ]
      : [],
  )
  if (choices.length === 0) return null
  return (
    <Group className={classes.phoneSort} mb="sm">
      <NativeSelect
        aria-label={texts.table.sorting}
        leftSection={<IconArrowsSort size={16} aria-hidden />}
        data={choices}
        value={`${sorting.by} ${sorting.order}`}
        onChange={({ currentTarget }) => {
          const [sortBy, order] = currentTarget.value.split(' ')
          onSearch({ sortBy, sortOrder: order === 'ASC' ? 'ASC' : 'DESC' })
        }}
      />
    </Group>
  )
}
