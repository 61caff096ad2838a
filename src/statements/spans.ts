/**
 * Which period a statement covers: pure rules about days in a time zone (contract/statements.md, "Days and closing").
 */
import { dayAfter, dayOf, daysFromTo, startOfDay } from '../text/days.ts'

/** A period; `to` is exclusive. `day` is the local date of the last instant of the period. */
export type StatementSpan = { from: Date; to: Date; day: string }

/**
 * How far a bank's days are closed. `from` is where its next statement begins. `day` is the last closed day; for a bank
 * without statements, it is the day before the first sale.
 */
export type Standing = { from: Date; day: string; timeZone: string }

/** The delay before a day is closed. All sales confirmed on that day are committed by then. */
export const closingDelayMs = 60_000
/** If more days than this are missing, one statement covers them all. */
const maxMissingDays = 400

/**
 * How far the days of a bank without statements are closed. The first statement begins at the start of the day of the
 * first sale. So the day before that counts as closed, and `nextSpan` continues after it.
 *
 * @param firstSale when the bank's first order was confirmed
 */
export function beginningWith(firstSale: Date, timeZone: string): Standing {
  const day = dayOf(firstSale, timeZone)
  return { from: startOfDay(day, timeZone), day: dayAfter(day, -1), timeZone }
}

/** The period of the statement that will be closed next, even before it ends. */
export function nextSpan({ from, day: lastDay, timeZone }: Standing): StatementSpan {
  for (let local = dayOf(from, timeZone); ; local = dayAfter(local)) {
    const to = startOfDay(dayAfter(local), timeZone)
    const day = dayOf(new Date(to.getTime() - 1), timeZone)
    // Skip the days up to the last closed day. After a bank changes to a time zone further west, the last closed day
    // may still go on there, or may even begin again.
    if (to > from && day > lastDay) return { from, to, day }
  }
}

/** The period of the statement that is due now; null: none. */
export function dueSpan(standing: Standing, now: Date): StatementSpan | null {
  const next = nextSpan(standing)
  const ended = new Date(now.getTime() - closingDelayMs)
  if (next.to > ended) return null
  const today = dayOf(ended, standing.timeZone)
  const missing = daysFromTo(next.day, today)
  if (missing <= maxMissingDays) return next
  const to = startOfDay(today, standing.timeZone)
  return { from: standing.from, to, day: dayOf(new Date(to.getTime() - 1), standing.timeZone) }
}
