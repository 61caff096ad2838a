/**
 * ISO 8601 durations: `PT15M`, `P30D`, `P1Y2M3DT4H5M6S`, `P2W`, `PT0.5H`. Only the last unit may have a fraction. Years
 * and months may have none, because their length varies. A result is rounded to milliseconds.
 */

const whole = '\\d+'
const decimal = '\\d+(?:[.,]\\d{1,9})?'
const optional = (units: string) => [...units].map(unit => `(?:${whole}${unit})?`).join('')
/** Some of the units, in their order; only the last one may have a fraction, if it is not one of `wholeOnly`. */
const someOf = (units: string, wholeOnly = '') => {
  const ending = (last: string) => `${wholeOnly.includes(last) ? whole : decimal}${last}`
  return `(?:${[...units].map((last, index) => optional(units.slice(0, index)) + ending(last)).join('|')})`
}

/** The pattern of a duration, also for the OpenAPI documents, where look-around is not allowed. */
export const durationPattern = `^P(?:${someOf('YMWD', 'YM')}|${optional('YMWD')}T${someOf('HMS')})$`

const duration = new RegExp(durationPattern)
export const isDuration = (text: string): boolean => text.length <= 64 && duration.test(text)

/** Divides a duration into the numbers of its units. */
const numbers = (() => {
  const perUnit = (units: string) => [...units].map(unit => `(?:([\\d.,]+)${unit})?`).join('')
  return new RegExp(`^P${perUnit('YMWD')}(?:T${perUnit('HMS')})?$`)
})()

/**
 * Adds a duration to an instant in the calendar of UTC. When the resulting month has fewer days, the result is its last
 * day.
 *
 * @returns the later instant; null for an invalid duration, or when the result is after the year 9999
 */
export function addDuration(from: Date, text: string): Date | null {
  const match = isDuration(text) ? numbers.exec(text) : null
  if (!match) return null
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1, 8)
    .map(part => Number((part ?? '0').replace(',', '.')))
  const date = addMonths(from, years * 12 + months)
  const addedSeconds = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
  const result = new Date(date.getTime() + Math.round(addedSeconds * 1000))
  return Number.isNaN(result.getTime()) || result.getUTCFullYear() > 9999 ? null : result
}

function addMonths(from: Date, months: number): Date {
  const date = new Date(from)
  date.setUTCDate(1)
  date.setUTCMonth(from.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(from.getUTCDate(), lastDay))
  return date
}
