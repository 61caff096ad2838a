/**
 * The kinds of differences (contract/reconciliation.md, "Differences"). A line of a report differs when it breaks the
 * campaign's terms, or when it does not match the other side's report. `comparison-sql.ts` decides which lines differ.
 */

export const sides = ['bank', 'merchant'] as const
/** Who uploaded a report. */
export type Side = (typeof sides)[number]

export const otherSide = (side: Side): Side => (side === 'bank' ? 'merchant' : 'bank')

/**
 * Violations of the campaign's terms. Each report is checked for them without the other side's report. A line of the
 * bank's report with a violation is not compensated.
 */
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

/**
 * Adds up the counts of each kind of difference. @param counts the objects to add up; a kind that is absent counts 0
 */
export function countEveryKind(...counts: (Partial<CountsByKind> | null)[]): CountsByKind {
  const sum = (kind: DifferenceKind) => counts.reduce((count, some) => count + (some?.[kind] ?? 0), 0)
  return Object.fromEntries(differenceKinds.map(kind => [kind, sum(kind)])) as CountsByKind
}

export const totalOf = (counts: CountsByKind): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

export type Difference = {
  kind: DifferenceKind
  transactionId: string
  /** The line of the bank's report; null: the difference is only about a line of the merchant's report. */
  bankLine: number | null
  /** The line of the merchant's report; null: the difference is only about a line of the bank's report. */
  merchantLine: number | null
  /** The value that the terms require, or the merchant's amount when two reports differ; null: there is none. */
  expected: string | null
  /**
   * The value in the line that breaks the terms, or the bank's amount when two reports differ; null: there is none. For
   * a repeated transaction it names the first line with that transaction, such as `line 7`.
   */
  found: string | null
}
