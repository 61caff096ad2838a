/**
 * Computes at which instants the days of a time zone begin. It uses the time zone data of Node.js, so the database
 * needs none.
 */
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { wallClock } from './time-zones.ts'

const dayMs = 86_400_000

export type Days = {
  /** `yyyy-mm-dd`, in order. */
  names: string[]
  /** The beginning of each day, and the end of the last one. */
  bounds: Date[]
}

/**
 * Returns all days of a range in a time zone.
 *
 * @param params.from,to the first and the last day, `yyyy-mm-dd`
 * @param params.timeZone an IANA zone, or `UTC`
 * @throws DomainError 'invalid' for an unknown zone, for invalid days, for a wrong order and for more days than the
 *   maximum
 */
export function daysBetween(params: { from: string; to: string; timeZone: string }, max: number): Days {
  const offsetAt = offsets(params.timeZone)
  const count = countDays(params, max)
  const midnights = Array.from({ length: count + 1 }, (_, index) => Date.parse(params.from) + index * dayMs)
  return {
    names: midnights.slice(0, -1).map(dayName),
    bounds: midnights.map(midnight => new Date(startOf(midnight, offsetAt))),
  }
}

/**
 * Returns the number of days from the first to the last day. Both are counted.
 *
 * @throws DomainError 'invalid' for invalid days, the wrong order, or more than `maxDays`
 */
export function countDays(params: { from: string; to: string }, maxDays: number): number {
  requireDays(params)
  const [first, last] = [Date.parse(params.from), Date.parse(params.to)]
  if (last < first) throw new DomainError('invalid', [broken('to', 'not-before', { field: 'from' })])
  const count = (last - first) / dayMs + 1
  if (count > maxDays) throw new DomainError('invalid', [broken('to', 'max-days', { max: maxDays, field: 'from' })])
  return count
}

/** Refuses texts that are no days. @throws DomainError 'invalid' with the names of their fields */
export function requireDays(params: { from?: string; to?: string }): void {
  const isWrong = (text: string | undefined) => text !== undefined && !isDay(text)
  const errors = (['from', 'to'] as const).filter(field => isWrong(params[field])).map(field => broken(field, 'day'))
  if (errors.length > 0) throw new DomainError('invalid', errors)
}

/** The day of an instant in a time zone. @throws DomainError 'invalid' for an unknown zone */
export function dayOf(at: Date, timeZone: string): string {
  return dayName(at.getTime() + offsets(timeZone)(at.getTime()))
}

/**
 * Returns the instant at which a day begins in a time zone. If the zone skipped that day, this is the beginning of the
 * next day.
 * @param day `yyyy-mm-dd`
 */
export function startOfDay(day: string, timeZone: string): Date {
  return new Date(startOf(Date.parse(day), offsets(timeZone)))
}

/** Returns the day that is this many days later. @param day `yyyy-mm-dd` */
export const dayAfter = (day: string, days = 1): string => dayName(Date.parse(day) + days * dayMs)

/** The number of calendar days between two days. */
export const daysFromTo = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs

const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/**
 * The first and the last day that we accept. Both `Date.UTC` and the database can handle the instants at which these
 * days begin and end, in every time zone.
 */
const [firstDay, lastDay] = ['0100-01-02', '9999-12-30']

export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  firstDay <= text &&
  text <= lastDay &&
  !Number.isNaN(Date.parse(text)) &&
  dayName(Date.parse(text)) === text

/**
 * The instant at which a day begins. If the clocks skip midnight, the day begins at the end of the gap.
 * @param midnight 00:00 of the day as if it were UTC
 */
function startOf(midnight: number, offsetAt: (ms: number) => number): number {
  const before = midnight - offsetAt(midnight - dayMs)
  const after = midnight - offsetAt(midnight + dayMs)
  const isMidnight = (ms: number) => ms + offsetAt(ms) === midnight
  // When clocks are set back over midnight, midnight occurs twice. The day begins with the first one.
  return [Math.min(before, after), Math.max(before, after)].find(isMidnight) ?? before
}

/** The offset of a zone's wall clock from UTC, in milliseconds. */
function offsets(timeZone: string): (ms: number) => number {
  const clock = wallClock(timeZone)
  if (!clock) throw new DomainError('invalid', [broken('timeZone', 'time-zone')])
  return ms => {
    const [year, month, day, hour, minute, second] = clock.format(ms).match(/\d+/g)?.map(Number) ?? []
    return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
  }
}
