/**
 * Dates and times as partners write them (contract/campaigns.md, "Create"): ISO 8601. A time needs a zone or `Z`; a date alone is
 * midnight UTC. The zone may be `+02:00`, `+0200` or `+02`.
 */
const form =
  /^((\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?)(Z|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?)?$/i

/** The rule that a text breaks when it is not a valid instant. */
export const instantRule = { rule: 'instant', params: { from: 1970, to: 9999 } } as const

/** A pattern for the OpenAPI documents. It accepts days that the calendar lacks; `readInstant` refuses them. */
export const instantPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]|[+-]\\d{2}(:?\\d{2})?))?$'

const first = new Date(0)
const last = new Date('9999-12-31T23:59:59.999Z')

/** Reads an instant. @returns null when the text is not an instant that the platform can store */
export function readInstant(text: string): Date | null {
  const found = form.exec(text)
  if (!found) return null
  const [, local = '', date = '', hour, minute = '00', second = '00', zone, zoneHour, zoneMinute = '00'] = found
  if ((hour === undefined) !== (zone === undefined)) return null
  if ((hour ?? '00') > '23' || minute > '59' || second > '59' || !isDate(date)) return null
  const offset = zoneHour === undefined ? (zone ?? '') : `${zoneHour}:${zoneMinute}`
  const instant = new Date(`${local}${offset}`.toUpperCase())
  return instant >= first && instant <= last ? instant : null
}

/**
 * Reads an instant that begins or ends a range. The platform stores whole milliseconds, so a more precise instant is
 * rounded up to the next millisecond. Example: for 0.0005 s the bound is 1 ms. An event at 0 ms is before this bound,
 * as it is before the given instant.
 *
 * @returns null as `readInstant`
 */
export function readBound(text: string): Date | null {
  const instant = readInstant(text)
  return instant && (/\.\d{3}\d*[1-9]/.test(text) ? later(instant, 1) : instant)
}

/** Whether a text is a date without a time. */
export const isDateAlone = (text: string): boolean => text.length === 'yyyy-mm-dd'.length

const dayMs = 86_400_000

/** The instant this much later, but never later than the last one that the platform can store. */
export const later = (instant: Date, ms: number): Date => new Date(Math.min(instant.getTime() + ms, last.getTime()))

/**
 * The end of a range that a text names: for a date without a time the end of that day, otherwise the instant itself.
 *
 * @param instant the result of `readInstant` for the text
 */
export const endOf = (text: string, instant: Date): Date => (isDateAlone(text) ? later(instant, dayMs) : instant)

/**
 * Whether the calendar has this day; `Date` reads 30 February as 2 March. This function makes no `Date` object, because
 * a file may have a million instants.
 */
function isDate(text: string): boolean {
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : (daysOfMonths[month - 1] ?? 0))
}

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
