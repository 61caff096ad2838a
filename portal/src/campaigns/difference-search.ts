/** Which differences a page shows: of one kind, found by a transaction, sorted, cut. Pure. */
import { oneOf, tableFields, text } from '../app/search.ts'
import { type Paging, type Sorting, sortedPage } from '../ui/data-table/columns.ts'
import type { Difference, DifferenceKind } from './types.ts'

/** As the platform orders them. */
export const differenceKinds = [
  'outside-period',
  'unknown-terminal',
  'amount-out-of-range',
  'wrong-cashback',
  'repeated-transaction',
  'budget-exceeded',
  'amount-differs',
  'only-in-bank-report',
  'only-in-merchant-report',
] as const satisfies readonly DifferenceKind[]

/** For the `searchParams` of a route whose page shows differences. */
export const differenceFields = {
  ...tableFields(['kind', 'transactionId', 'bankLine', 'merchantLine']),
  kind: oneOf(differenceKinds),
  find: text,
}

export type DifferenceSearch = {
  page?: number | undefined
  sortBy?: string | undefined
  sortOrder?: 'ASC' | 'DESC' | undefined
  kind?: DifferenceKind | undefined
  find?: string | undefined
}

const pageSize = 25

/** Those of one transaction stay in the platform's order. */
export function findDifferences(
  items: readonly Difference[],
  { kind, find, sortBy = 'transactionId', sortOrder = 'ASC', page = 1 }: DifferenceSearch,
): { rows: Difference[]; paging: Paging; sorting: Sorting } {
  const words = find?.toLowerCase()
  const found = items.filter(
    item => (!kind || item.kind === kind) && (!words || item.transactionId.toLowerCase().includes(words)),
  )
  const sorting: Sorting = { by: sortBy, order: sortOrder }
  return { ...sortedPage(found, sorting, page, pageSize, comparedBy), sorting }
}

const comparedBy: Record<string, (item: Difference) => string | number | null> = {
  kind: ({ kind }) => differenceKinds.indexOf(kind),
  transactionId: ({ transactionId }) => transactionId,
  bankLine: ({ bankLine }) => bankLine,
  merchantLine: ({ merchantLine }) => merchantLine,
}
