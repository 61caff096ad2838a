/** The shown differences: the kind, the searched transaction, and the page. They are kept in the address. */
import { counting, oneOf, text } from '../../routing/search.ts'
import type { DifferenceKind } from '../types.ts'

/** The kinds of differences, in the platform's order. */
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

/** For the `searchParams` of a route that shows differences. */
export const differenceFields = { page: counting, kind: oneOf(differenceKinds), find: text }

export type DifferenceSearch = {
  page?: number | undefined
  kind?: DifferenceKind | undefined
  find?: string | undefined
}
