/** Months, `YYYY-MM`, and their days. */

/** @param months how many months later; negative: earlier */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7)
}

/** The first and the last day of a month, `YYYY-MM-DD`. */
export function daysOfMonth(month: string): { from: string; to: string } {
  const end = Date.parse(`${monthAfter(month, 1)}-01T00:00:00Z`) - 1
  return { from: `${month}-01`, to: new Date(end).toISOString().slice(0, 10) }
}
