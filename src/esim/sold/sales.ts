/** A bank's sales by day. */
import type { Clock } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import { type Days, dayOf } from '../../text/days.ts'
import { countSales, findTimeZone } from './figures-store.ts'

const maxDays = 366
const dayMs = 86_400_000
/** The default number of days. */
const defaultDays = 30

export type SalesDeps = {
  database: Queryable
  clock: Clock
  /**
   * Finds when the days of a range begin and end. They are the days of the bank's statements, so the statements decide
   * this (`statements/sales-days.ts`).
   */
  findSalesDays(
    database: Queryable,
    bankId: string,
    range: { from: string; to: string; timeZone: string },
    maxDays: number,
  ): Promise<Days>
}

/**
 * Counts the orders that ended on each day of the bank's statements, by tariff. Without `from` and `to`, it counts
 * those of the last 30 days.
 *
 * @returns the JSON text of the answer, in pieces
 * @throws DomainError 'invalid' for invalid or too many days
 */
export async function readSales(
  deps: SalesDeps,
  params: { bankId: string; from?: string; to?: string },
): Promise<string[]> {
  const now = deps.clock.now()
  const { bankId } = params
  const timeZone = await findTimeZone(deps.database, bankId)
  const to = params.to ?? dayOf(now, timeZone)
  const from = params.from ?? dayOf(new Date(Date.parse(to) - (defaultDays - 1) * dayMs), 'UTC')
  const { names, bounds } = await deps.findSalesDays(deps.database, bankId, { from, to, timeZone }, maxDays)
  const { days, totals } = await countSales(deps.database, { bankId, names, bounds, now })
  const head = JSON.stringify({ timeZone, from, to }).slice(0, -1)
  return [`${head},"days":[`, ...days.map((day, index) => (index > 0 ? `,${day}` : day)), `],"totals":${totals}}`]
}
