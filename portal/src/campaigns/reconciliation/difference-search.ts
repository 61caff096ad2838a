/** Which differences a page shows: of one kind, found by a transaction, one page of them. The address keeps it. */
import { counting, oneOf, text } from '../../routing/search.ts'
import type { DifferenceKind } from '../types.ts'

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
export const differenceFields = { page: counting, kind: oneOf(differenceKinds), find: text }

export type DifferenceSearch = {
  page?: number | undefined
  kind?: DifferenceKind | undefined
  find?: string | undefined
}
