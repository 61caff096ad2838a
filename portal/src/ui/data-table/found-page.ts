import { pageOf } from './columns.ts'

const pageSize = 20

/**
 * Searches a complete list in the browser.
 *
 * @param search the searched words and the number of the page, from the address
 * @param textOf the text of a row that is searched
 * @returns one page of the rows that contain the words, in their order; undefined while the list is not loaded
 */
export function foundPage<Row>(
  rows: readonly Row[] | undefined,
  { search = '', page = 1 }: { search?: string | undefined; page?: number | undefined },
  textOf: (row: Row) => string,
) {
  const words = search.toLowerCase()
  const found = rows?.filter(row => textOf(row).toLowerCase().includes(words))
  return found && pageOf(found, page, pageSize)
}
