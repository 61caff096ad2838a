/** Which instants a statement is for: pure rules over days of a time zone (contract/statements.md, "Days and closing"). */
import { dayAfter, dayOf, daysFromTo, startOfDay } from '../text/days.ts'

/** Half-open. `day` is the local date of the last instant before `to`. */
export type StatementSpan = { from: Date; to: Date; day: string }

/** Where a bank's statements stand: the end of the last one, or the beginning of the first. `day` is the last one that is closed. */
export type Standing = { from: Date; day: string; timeZone: string }

/** A day is closed so long after its end: what was confirmed within it is committed by then. */
export const closingDelayMs = 60_000
/** More missing days than these are covered by one statement. */
const mostMissingDays = 400

/** Where a bank begins, of which nothing is closed yet. @param firstSale when its first order was confirmed */
export function beginningWith(firstSale: Date, timeZone: string): Standing {
  const day = dayOf(firstSale, timeZone)
  return { from: startOfDay(day, timeZone), day: dayAfter(day, -1), timeZone }
}

/** The statement that will be closed next, as of any moment before its end. */
export function nextSpan({ from, day: lastDay, timeZone }: Standing): StatementSpan {
  for (let local = dayOf(from, timeZone); ; local = dayAfter(local)) {
    const to = startOfDay(dayAfter(local), timeZone)
    const day = dayOf(new Date(to.getTime() - 1), timeZone)
    // In a zone further west the day of the last statement may not be over, or begin again.
    if (to > from && day > lastDay) return { from, to, day }
  }
}

/** The statement that is to be closed now; null: none is due. */
export function dueSpan(standing: Standing, now: Date): StatementSpan | null {
  const next = nextSpan(standing)
  const ended = new Date(now.getTime() - closingDelayMs)
  if (next.to > ended) return null
  const today = dayOf(ended, standing.timeZone)
  const missing = daysFromTo(next.day, today)
  if (missing <= mostMissingDays) return next
  const to = startOfDay(today, standing.timeZone)
  return { from: standing.from, to, day: dayOf(new Date(to.getTime() - 1), standing.timeZone) }
}
