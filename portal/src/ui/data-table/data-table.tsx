import { Box, Card, Skeleton, Table, VisuallyHidden } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useDeferredValue } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { Empty } from '../states.tsx'
import { uiTexts } from '../texts.ts'
import type { Column, Paging, Sorting } from './columns.ts'
import classes from './data-table.module.css'
import { Further } from './further.tsx'
import { NotRead } from './not-read.tsx'
import { lengthText, Pages } from './pages.tsx'
import { SortableHead, SortSelect } from './sorting.tsx'
import { useLastPage } from './use-last-page.ts'
import type { TableSearch } from './use-table-search.ts'

/**
 * A table whose sorting and page number the caller keeps, usually in the page's URL. It also shows that it is loading,
 * is empty or could not be read. On a phone each row is a card.
 *
 * @param props.label the table's name for screen readers
 * @param props.query the request for the rows, used to show loading and failure. The rows are passed separately,
 *   because the page may sort them and show only some of them
 * @param props.rows undefined until they are loaded
 * @param props.after where this part of the list begins, if the platform examines the list in parts
 * @param props.isSizeChosen the person can choose the page size (`usePageSize`)
 * @param props.onSearch changes the sorting or the page, usually in the URL (`useSetSearch`); without it the table has
 *   no sorting or paging
 * @param props.empty shown instead of a table without rows, and read aloud
 */
export function DataTable<Row>(props: {
  label: string
  columns: readonly Column<Row>[]
  query: Pick<UseQueryResult<unknown>, 'error' | 'isFetching' | 'refetch'> & { isPlaceholderData?: boolean }
  rows: readonly Row[] | undefined
  rowKey(row: Row): string
  sorting?: Sorting
  paging?: Paging
  after?: string | undefined
  isSizeChosen?: boolean
  onSearch?: (change: TableSearch) => void
  empty?: ReactNode
}) {
  const { label, columns, query, rowKey, sorting, after, isSizeChosen, onSearch, empty } = props
  // The list before, with other filters, was empty. That says nothing about the list that is being read.
  const isAwaited = query.isPlaceholderData === true && props.rows?.length === 0
  const paging = isAwaited ? undefined : props.paging
  const isPast = useLastPage(onSearch && paging, page => onSearch?.({ page }))
  // Many rows are drawn in small steps, so that the browser can handle clicks and keys in between.
  const rows = useDeferredValue(isPast || isAwaited ? undefined : props.rows)
  const texts = useTexts(uiTexts)
  const isFailed = query.error && !rows
  const isEmpty = rows?.length === 0
  const sort = sorting && onSearch ? { sorting, onSearch } : null
  const length = paging && onSearch ? lengthText(paging, texts.table) : texts.table.found(rows?.length ?? 0)

  const table = (
    <Box aria-busy={query.isFetching} className={classes.frame} data-stale={(query.isFetching && rows) || undefined}>
      {sort && <SortSelect columns={columns} {...sort} />}
      <Card p={0} className={classes.card}>
        <Table
          className={classes.table}
          role="table"
          aria-label={label}
          highlightOnHover={rows !== undefined}
          verticalSpacing="sm"
          horizontalSpacing={8}
        >
          <Table.Thead role="rowgroup">
            <Table.Tr role="row">
              {columns.map(column => (
                <SortableHead key={column.key} column={column} sort={sort} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody role="rowgroup">
            {rows
              ? rows.map(row => <Row key={rowKey(row)} row={row} columns={columns} />)
              : placeholders.map(line => <LoadingRow key={line} columns={columns} />)}
          </Table.Tbody>
        </Table>
      </Card>
      {paging && onSearch && (
        <Pages
          paging={paging}
          isSizeChosen={isSizeChosen ?? false}
          isTold
          onPage={page => onSearch({ page: page === 1 ? undefined : page })}
        />
      )}
    </Box>
  )
  return (
    <div>
      {/* Screen readers announce changes only inside an element that was there before. */}
      <div role="status">
        {isEmpty && <Card p={0}>{empty ?? <Empty title={texts.table.empty} />}</Card>}
        {!isEmpty && !isFailed && <VisuallyHidden>{rows ? length : texts.loading}</VisuallyHidden>}
      </div>
      {isFailed && <NotRead error={query.error} onRetry={() => void query.refetch()} />}
      {!isEmpty && !isFailed && table}
      {onSearch && !isFailed && <Further paging={paging} after={after} onSearch={onSearch} />}
    </div>
  )
}

const placeholders = [1, 2, 3, 4, 5, 6]

// Plain elements that look like Mantine's rows and cells, without the cost of a component for each. On a phone they are
// not displayed as a table, so explicit roles are needed.
const { tr, td } = Table.classes
const rowProps = { role: 'row', className: tr, 'data-with-row-border': true }
const cellProps = { role: 'cell', className: td }

function Row<Of>({ row, columns }: { row: Of; columns: readonly Column<Of>[] }) {
  return (
    <tr {...rowProps} data-hover onClick={followLink}>
      {columns.map(({ key, title, cell, align, isMinor }) => (
        <td key={key} {...cellProps} data-title={title} data-align={align} data-minor={isMinor || undefined}>
          <div className={classes.value}>{cell(row)}</div>
        </td>
      ))}
    </tr>
  )
}

/** What has a tooltip is above the link that covers the row. A click on it follows this link, like one beside it. */
function followLink({ currentTarget, target, nativeEvent }: MouseEvent<HTMLTableRowElement>) {
  const above = (target as Element).closest('a, button, [data-hint]')
  if (above?.hasAttribute('data-hint'))
    currentTarget.querySelector('td:first-child a')?.dispatchEvent(new window.MouseEvent('click', nativeEvent))
}

function LoadingRow<Of>({ columns }: { columns: readonly Column<Of>[] }) {
  return (
    <tr {...rowProps}>
      {columns.map(({ key, title, isMinor }) => (
        <td key={key} {...cellProps} data-title={title} data-minor={isMinor || undefined}>
          <Skeleton height={14} w="70%" miw={48} />
        </td>
      ))}
    </tr>
  )
}
