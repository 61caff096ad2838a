/** What a bank has sold, day by day. */
import type { Clock } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import { findSalesDays } from '../../statements/sales-days.ts'
import { dayOf } from '../../text/days.ts'
import { countSales, findTimeZone } from './figures-store.ts'

const mostDays = 366
const dayMs = 86_400_000
/** What is shown when no days are asked for. */
const usualDays = 30

/**
 * Orders that came to their end on each day of the bank's statements, by tariff; without `from` and `to` the last 30 days.
 *
 * @returns JSON as readers get it
 * @throws DomainError 'invalid' for days that are none or too many
 */
export async function readSales(
  deps: { database: Queryable; clock: Clock },
  asked: { bankId: string; from?: string; to?: string },
): Promise<string> {
  const now = deps.clock.now()
  const { bankId } = asked
  const timeZone = await findTimeZone(deps.database, bankId)
  const to = asked.to ?? dayOf(now, timeZone)
  const from = asked.from ?? dayOf(new Date(Date.parse(to) - (usualDays - 1) * dayMs), 'UTC')
  const { names, bounds } = await findSalesDays(deps.database, bankId, { from, to, timeZone }, mostDays)
  const { days, totals } = await countSales(deps.database, { bankId, names, bounds, now })
  return `${JSON.stringify({ timeZone, from, to }).slice(0, -1)},"days":[${days}],"totals":${totals}}`
}
