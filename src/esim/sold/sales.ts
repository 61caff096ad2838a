/** What a bank has sold, day by day. */
import type { Clock } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import { dayOf, daysBetween } from '../../text/days.ts'
import { countSales, type SalesRow } from './figures-store.ts'

const mostDays = 366
const dayMs = 86_400_000
/** What is shown when no days are asked for. */
const usualDays = 30

export type Counts = {
  confirmed: number
  cancelled: number
  expired: number
  /** What the confirmed orders cost, by currency. */
  amounts: { currency: string; amount: number }[]
}

export type Sales = {
  timeZone: string
  from: string
  to: string
  days: ({ day: string; operatorCode: string; tariffCode: string } & Counts)[]
  totals: Counts
}

/**
 * Orders that came to their end on each day, by tariff; without `from` and `to` the last 30 days.
 *
 * @throws DomainError 'invalid' for an unknown time zone, and for days that are none or too many
 */
export async function readSales(
  deps: { database: Queryable; clock: Clock },
  asked: { bankId: string; from?: string; to?: string; timeZone: string },
): Promise<Sales> {
  const now = deps.clock.now()
  const { timeZone } = asked
  const to = asked.to ?? dayOf(now, timeZone)
  const from = asked.from ?? dayOf(new Date(Date.parse(to) - (usualDays - 1) * dayMs), 'UTC')
  const { names, bounds } = daysBetween({ from, to, timeZone }, mostDays)
  const rows = await countSales(deps.database, { bankId: asked.bankId, bounds, now })
  const groups = Map.groupBy(rows, row => JSON.stringify([row.span, row.operatorCode, row.tariffCode]))
  const days = [...groups.values()].map(group => {
    const [{ span = 0, operatorCode = '', tariffCode = '' } = {}] = group
    return { day: names[span] ?? from, operatorCode, tariffCode, ...summed(group) }
  })
  return { timeZone, from, to, days, totals: summed(rows) }
}

function summed(rows: readonly SalesRow[]): Counts {
  const sum = (of: 'confirmed' | 'cancelled' | 'expired') => rows.reduce((total, row) => total + row[of], 0)
  const byCurrency = Map.groupBy(
    rows.filter(({ confirmed }) => confirmed > 0),
    ({ currency }) => currency,
  )
  const amounts = [...byCurrency].map(([currency, some]) => ({ currency, amount: exactSum(some) }))
  return { confirmed: sum('confirmed'), cancelled: sum('cancelled'), expired: sum('expired'), amounts }
}

/** Money is added in whole cents, never as a float. */
function exactSum(rows: readonly SalesRow[]): number {
  const cents = rows.reduce((total, { amount }) => {
    const [whole = '0', fraction = ''] = amount.split('.')
    return total + BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'))
  }, 0n)
  return Number(`${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`)
}
