import type { ReactNode } from 'react'

export type Column<Row> = {
  key: string
  title: string
  cell(row: Row): ReactNode
  /** The name that the platform (or the page) uses to sort by this column. */
  sortBy?: string
  /** Figures are right-aligned. */
  align?: 'right'
  /** Hides the column on a phone, where a row is a card. Use it only for values that the page behind the row shows, too. */
  isMinor?: boolean
}

export type Sorting = { by: string; order: 'ASC' | 'DESC' }
/**
 * The position in a list. If `isComplete` is false, the platform has examined only a part of the items, and `next` is
 * the position where the next part begins.
 */
export type Paging = {
  page: number
  totalPages: number
  totalItems: number
  isComplete?: boolean
  next?: string | null
}

/**
 * Sorts a complete list and returns one page of it.
 *
 * @param values for each name that `sorting.by` can have, a function that returns the compared value of a row
 */
export function sortedPage<Row>(
  rows: readonly Row[],
  sorting: Sorting,
  page: number,
  pageSize: number,
  values: Record<string, (row: Row) => string | number | null>,
): { rows: Row[]; paging: Paging } {
  const comparedBy = values[sorting.by]
  const sorted = comparedBy ? [...rows].sort((one, other) => compare(comparedBy(one), comparedBy(other))) : [...rows]
  if (sorting.order === 'DESC' && comparedBy) sorted.reverse()
  return pageOf(sorted, page, pageSize)
}

/** Returns one page of a complete list. If the page is past the end, returns the last page. */
export function pageOf<Row>(rows: readonly Row[], page: number, pageSize: number): { rows: Row[]; paging: Paging } {
  const totalPages = Math.ceil(rows.length / pageSize)
  const shown = Math.min(page, Math.max(totalPages, 1))
  return {
    rows: rows.slice((shown - 1) * pageSize, shown * pageSize),
    paging: { page: shown, totalPages, totalItems: rows.length },
  }
}

function compare(one: string | number | null, other: string | number | null): number {
  if (one === null || other === null) return Number(other === null) - Number(one === null)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one).localeCompare(String(other))
}
