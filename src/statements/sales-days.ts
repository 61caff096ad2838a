/**
 * The days of a bank's sales figures are the days of its statements (contract/statements.md, "Days of the sales
 * figures").
 */
import type { Queryable } from '../db/database.ts'
import { type Days, dayAfter, dayOf, daysBetween } from '../text/days.ts'
import { nextSpan } from './spans.ts'

type ClosedDay = { day: string; from: Date; to: Date; timeZone: string }
type ZonedRange = { from: string; to: string; timeZone: string }

/**
 * Finds when each day of a range begins and ends. A closed day begins and ends with its statement, whatever its time
 * zone was. Days before the first statement are calendar days in the time zone of the first statement. The day after
 * the last statement begins where that statement ends.
 *
 * @param range the first and the last day, `yyyy-mm-dd`, and the time zone of the days after the last statement
 * @throws DomainError 'invalid' as `daysBetween`
 */
export async function findSalesDays(
  database: Queryable,
  bankId: string,
  range: ZonedRange,
  maxDays: number,
): Promise<Days> {
  const plain = daysBetween(range, maxDays)
  const edges = await findEdges(database, bankId)
  if (edges === null) return plain
  const { first, last } = edges
  // The last day before the first statement. Compute it from the statement's beginning and not from its `day`: the
  // statement may cover many days, and `day` is the last of them.
  const lastBefore = dayAfter(dayOf(first.from, first.timeZone), -1)
  return joined([
    daysWithin({ ...range, to: earlier(range.to, lastBefore), timeZone: first.timeZone }, maxDays),
    await findClosed(database, bankId, range),
    daysAfter(last, range, maxDays),
  ])
}

/** The first and the last statement of a bank. @returns null: nothing is closed yet */
async function findEdges(database: Queryable, bankId: string): Promise<{ first: ClosedDay; last: ClosedDay } | null> {
  const edge = (direction: string) =>
    database.query<ClosedDay>(
      `select day::text, from_at as "from", to_at as "to", time_zone as "timeZone" from statements
       where bank_id = $1 order by number ${direction} limit 1`,
      [bankId],
    )
  const [[first], [last]] = [await edge('asc'), await edge('desc')]
  return first && last ? { first, last } : null
}

async function findClosed(database: Queryable, bankId: string, { from, to }: ZonedRange): Promise<Days> {
  const rows = await database.query<{ day: string; from: Date; to: Date }>(
    `select day::text, from_at as "from", to_at as "to" from statements
     where bank_id = $1 and day between $2 and $3 order by day`,
    [bankId, from, to],
  )
  const end = rows.at(-1)?.to
  return { names: rows.map(({ day }) => day), bounds: [...rows.map(row => row.from), ...(end ? [end] : [])] }
}

const none: Days = { names: [], bounds: [] }

const daysWithin = (range: ZonedRange, maxDays: number): Days =>
  range.from > range.to ? none : daysBetween(range, maxDays)

/** The day of the next statement may be longer than a calendar day. The days after it are calendar days. */
function daysAfter(last: ClosedDay, range: ZonedRange, maxDays: number): Days {
  const { from, to, day } = nextSpan({ from: last.to, day: last.day, timeZone: range.timeZone })
  const isInRange = range.from <= day && day <= range.to
  const next = isInRange ? { names: [day], bounds: [from, to] } : none
  return joined([next, daysWithin({ ...range, from: later(range.from, dayAfter(day)) }, maxDays)])
}

/** Joins parts of a range of days. Each part must begin where the part before it ends. */
function joined(parts: readonly Days[]): Days {
  const some = parts.filter(({ names }) => names.length > 0)
  const end = some.at(-1)?.bounds.at(-1)
  return {
    names: some.flatMap(({ names }) => names),
    bounds: [...some.flatMap(({ bounds }) => bounds.slice(0, -1)), ...(end ? [end] : [])],
  }
}

const earlier = (one: string, other: string): string => (one < other ? one : other)
const later = (one: string, other: string): string => (one > other ? one : other)
