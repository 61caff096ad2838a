/**
 * The kinds of differences between a report and the campaign's terms, and between two reports (contract/reconciliation.md,
 * "Differences").
 */

export const sides = ['bank', 'merchant'] as const
/** Who uploaded a report. */
export type Side = (typeof sides)[number]

export const otherSide = (side: Side): Side => (side === 'bank' ? 'merchant' : 'bank')

/** Violations that one report shows without the other one. A line of the bank's report with a violation is not compensated. */
export const termKinds = [
  'outside-period',
  'unknown-terminal',
  'amount-out-of-range',
  'wrong-cashback',
  'repeated-transaction',
  'budget-exceeded',
] as const

/** Differences between the bank's and the merchant's report. */
export const matchKinds = ['amount-differs', 'only-in-bank-report', 'only-in-merchant-report'] as const

/** All kinds of differences, in the order in which the differences of one line are listed. */
export const differenceKinds = [...termKinds, ...matchKinds] as const
export type DifferenceKind = (typeof differenceKinds)[number]

export type CountsByKind = Record<DifferenceKind, number>

/** Adds up counts by kind. @param counts objects that are added up; absent kinds count 0 */
export function countEveryKind(...counts: (Partial<CountsByKind> | null)[]): CountsByKind {
  const sum = (kind: DifferenceKind) => counts.reduce((count, some) => count + (some?.[kind] ?? 0), 0)
  return Object.fromEntries(differenceKinds.map(kind => [kind, sum(kind)])) as CountsByKind
}

export const totalOf = (counts: CountsByKind): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

export type Difference = {
  kind: DifferenceKind
  transactionId: string
  /** The line of the bank's report; null: the transaction is only in the merchant's. */
  bankLine: number | null
  merchantLine: number | null
  /** The value that the terms or the merchant's report have; null: none. */
  expected: string | null
  /** The value in the bank's report; for a repeated transaction the first line that has it, as `line 7`; null: none. */
  found: string | null
}
