import { type Sorting, sortedPage } from './columns.ts'

const pageSize = 20

/**
 * Searches a complete list in the browser.
 *
 * @param search the searched words and the number of the page, from the address
 * @param textOf the text of a row that is searched
 * @param sorting the order; without it the rows keep their order
 * @returns one page of the rows that contain the words; undefined while the list is not loaded
 */
export function foundPage<Row>(
  rows: readonly Row[] | undefined,
  { search = '', page = 1 }: { search?: string | undefined; page?: number | undefined },
  textOf: (row: Row) => string,
  sorting: Sorting = { by: '', order: 'ASC' },
  values: Record<string, (row: Row) => string> = {},
) {
  const words = search.toLowerCase()
  const found = rows?.filter(row => textOf(row).toLowerCase().includes(words))
  return found && sortedPage(found, sorting, page, pageSize, values)
}
