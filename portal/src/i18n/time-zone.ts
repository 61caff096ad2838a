/** Days and times in a chosen time zone: campaign periods are entered and shown in it, and kept in UTC. */

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

/** Browsers go on calling it by its old name. */
const newName = (zone: string): string => (zone === 'Europe/Kiev' ? 'Europe/Kyiv' : zone)

/** The zone that the browser lives in. */
export const browserTimeZone = (): string => newName(new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** All that may be chosen. */
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

/** What clocks in the zone show at an instant, as `YYYY-MM-DD HH:mm:ss`. */
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
 * The instant at which clocks in the zone show this.
 *
 * @param local `YYYY-MM-DD`, for midnight, or `YYYY-MM-DD HH:mm:ss`; where a clock is put back the earlier of the two instants is
 *   meant, where it is put forward the skipped time counts on from before
 */
export function fromZoned(local: string, zone: string): Date {
  const asUtc = Date.parse(`${local.length === 10 ? `${local} 00:00:00` : local}Z`.replace(' ', 'T'))
  const offsetAt = (instant: number) => Date.parse(`${toZoned(new Date(instant), zone)}Z`.replace(' ', 'T')) - instant
  const dayMs = 86_400_000
  const before = asUtc - offsetAt(asUtc - dayMs)
  const after = asUtc - offsetAt(asUtc + dayMs)
  return new Date(offsetAt(before) === asUtc - before ? before : offsetAt(after) === asUtc - after ? after : before)
}

/** The day after, both as `YYYY-MM-DD`; `days` may be negative. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/**
 * A period of whole days in the zone, the last one included, as a half-open period in UTC.
 *
 * @param from @param to the first and the last day, `YYYY-MM-DD`
 */
export const periodOfDays = (from: string, to: string, zone: string): { dateFrom: string; dateTo: string } => ({
  dateFrom: fromZoned(from, zone).toISOString(),
  dateTo: fromZoned(addDays(to, 1), zone).toISOString(),
})

/** The other way; null when the period does not begin and end at midnight in the zone. */
export function daysOfPeriod(dateFrom: string, dateTo: string, zone: string): { from: string; to: string } | null {
  const [from, to] = [toZoned(dateFrom, zone), toZoned(dateTo, zone)]
  if (!from.endsWith('00:00:00') || !to.endsWith('00:00:00')) return null
  return { from: from.slice(0, 10), to: addDays(to.slice(0, 10), -1) }
}
