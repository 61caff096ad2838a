/** In what a report may differ from the campaign's terms, and two reports from each other (contract/reconciliation.md, "Differences"). */

export const sides = ['bank', 'merchant'] as const
/** Who uploaded a report. */
export type Side = (typeof sides)[number]

export const otherSide = (side: Side): Side => (side === 'bank' ? 'merchant' : 'bank')

/** What a line breaks by itself or within its report: such a line of the bank's is not compensated. */
export const termKinds = [
  'outside-period',
  'unknown-terminal',
  'amount-out-of-range',
  'wrong-cashback',
  'repeated-transaction',
  'budget-exceeded',
] as const

/** What the reports of the bank and of the merchant differ in. */
export const matchKinds = ['amount-differs', 'only-in-bank-report', 'only-in-merchant-report'] as const

/** In the order in which the differences of one line are told. */
export const differenceKinds = [...termKinds, ...matchKinds] as const
export type DifferenceKind = (typeof differenceKinds)[number]

export type CountsByKind = Record<DifferenceKind, number>

/** @param counts each of the kinds that there are; they are added up */
export function countEveryKind(...counts: (Partial<CountsByKind> | null)[]): CountsByKind {
  const sum = (kind: DifferenceKind) => counts.reduce((count, some) => count + (some?.[kind] ?? 0), 0)
  return Object.fromEntries(differenceKinds.map(kind => [kind, sum(kind)])) as CountsByKind
}

export const totalOf = (counts: CountsByKind): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

export type Difference = {
  kind: DifferenceKind
  transactionId: string
  /** The line of the bank's report that it is about; null: of the merchant's alone. */
  bankLine: number | null
  merchantLine: number | null
  /** What the terms or the merchant's report say; null: nothing. */
  expected: string | null
  /** What stands in the line; null: there is none. */
  found: string | null
}
