/**
 * Converts days and times between a chosen time zone and UTC. Campaign periods are entered and shown in that zone, and
 * stored in UTC.
 */

const fields: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
}
const formats = new Map<string, Intl.DateTimeFormat>()

/** Some browsers still call the zone Europe/Kyiv by its old name, Europe/Kiev. */
const newName = (zone: string): string => (zone === 'Europe/Kiev' ? 'Europe/Kyiv' : zone)

/** The browser's own time zone. */
export const browserTimeZone = (): string => newName(new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** All time zones that can be chosen. */
export const timeZones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone').map(newName)]

export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string') return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/**
 * The name by which `timeZones` lists a zone.
 *
 * @param name any name of the zone, such as `Europe/Kiev` or `US/Pacific`; spaces stand for `_`
 * @returns null for an unknown name. A browser that does not know that two names mean one zone gives the name itself
 */
export function listedTimeZone(name: string): string | null {
  const timeZone = name.replace(/\s+/g, '_')
  return isTimeZone(timeZone) ? newName(new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone) : null
}

/** The wall clock of the zone at an instant, as `YYYY-MM-DD HH:mm:ss`. */
export function toZoned(instant: Date | string, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en', { ...fields, timeZone: zone })
    formats.set(zone, format)
  }
  const part = Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]))
  return `${part.year?.padStart(4, '0')}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`
}

/**
 * The instant at which the zone's wall clock shows this time.
 *
 * @param local `YYYY-MM-DD`, for midnight, or `YYYY-MM-DD HH:mm:ss`. A time that occurs twice, because clocks are set
 *   back, is the earlier instant. A time that is skipped, because clocks are set forward, is read with the offset from
 *   before the change
 */
export function fromZoned(local: string, zone: string): Date {
  const asUtc = Date.parse(`${local.length === 10 ? `${local} 00:00:00` : local}Z`.replace(' ', 'T'))
  const offsetAt = (instant: number) => Date.parse(`${toZoned(new Date(instant), zone)}Z`.replace(' ', 'T')) - instant
  const dayMs = 86_400_000
  const before = asUtc - offsetAt(asUtc - dayMs)
  const after = asUtc - offsetAt(asUtc + dayMs)
  return new Date(offsetAt(before) === asUtc - before ? before : offsetAt(after) === asUtc - after ? after : before)
}

/** Whether the zone's wall clock skips this time, because clocks are set forward. `local` is as for `fromZoned`. */
export const isSkipped = (local: string, zone: string): boolean => toZoned(fromZoned(local, zone), zone) !== local

/** The day that comes `days` days later, or earlier if `days` is negative. Both days are `YYYY-MM-DD`. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/** The number of calendar days in the zone from the first instant to the second; negative if the second is earlier. */
export function daysBetween(from: Date | string, to: Date | string, zone: string): number {
  const [first, last] = [from, to].map(instant => Date.parse(`${toZoned(instant, zone).slice(0, 10)}T00:00:00Z`))
  return ((last ?? 0) - (first ?? 0)) / 86_400_000
}

/**
 * A period of whole days in the zone, the last one included, as a half-open period in UTC.
 *
 * @param from the first day, `YYYY-MM-DD`
 * @param to the last day
 */
export const periodOfDays = (from: string, to: string, zone: string): { dateFrom: string; dateTo: string } => ({
  dateFrom: fromZoned(from, zone).toISOString(),
  dateTo: fromZoned(addDays(to, 1), zone).toISOString(),
})

/** The reverse of `periodOfDays`; null when the period does not begin and end at midnight in the zone. */
export function daysOfPeriod(dateFrom: string, dateTo: string, zone: string): { from: string; to: string } | null {
  const [from, to] = [toZoned(dateFrom, zone), toZoned(dateTo, zone)]
  if (!from.endsWith('00:00:00') || !to.endsWith('00:00:00')) return null
  return { from: from.slice(0, 10), to: addDays(to.slice(0, 10), -1) }
}
