/**
 * ISO 8601 durations: `PT15M`, `P30D`, `P1Y2M3DT4H5M6S`, `P2W`, `PT0.5H`. Only the last unit may have a fraction. Years
 * and months may have none, because their length varies. A result is rounded to milliseconds.
 */

const fraction = '(?:[.,]\\d{1,9}(?=[A-Z]$))?'
const form = new RegExp(
  `^P(?!$)(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+${fraction})W)?(?:(\\d+${fraction})D)?` +
    `(?:T(?=\\d)(?:(\\d+${fraction})H)?(?:(\\d+${fraction})M)?(?:(\\d+${fraction})S)?)?$`,
)

const documented = '\\d+(?:[.,]\\d{1,9})?'
/** A pattern for the OpenAPI documents. It accepts units in any order; `isDuration` refuses that. */
export const durationPattern = `^P(?:(?:${documented}[YMWD])+(?:T(?:${documented}[HMS])+)?|T(?:${documented}[HMS])+)$`

export const isDuration = (text: string): boolean => text.length <= 64 && form.test(text)

/**
 * Adds a duration to an instant in the calendar of UTC. When the resulting month has fewer days, the result is its last
 * day.
 *
 * @returns the later instant; null for an invalid duration, or when the result is after the year 9999
 */
export function addDuration(from: Date, text: string): Date | null {
  const match = isDuration(text) ? form.exec(text) : null
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
