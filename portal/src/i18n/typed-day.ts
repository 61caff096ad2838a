/**
 * Reads days and times that people type, in the formats that are common in both languages; anything else is refused.
 * Pure.
 */
import type { Language } from './language.ts'

const months: Record<string, number> = {}
for (const locale of ['en-GB', 'uk-UA'])
  for (const options of [{ month: 'long' }, { month: 'short' }, { day: 'numeric', month: 'long' }] as const)
    for (let month = 0; month < 12; month++) {
      const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).formatToParts(
        Date.UTC(2026, month, 1),
      )
      const name = parts
        .find(({ type }) => type === 'month')
        ?.value.toLowerCase()
        .replace(/\.$/, '')
      if (name) months[name] = month + 1
    }
// Some versions of `Intl` write "Sept" and others "Sep", so both are accepted.
months.sep = 9

const two = (value: number | string): string => String(value).padStart(2, '0')

/**
 * @param typed `31.12.2026`, `31/12/2026`, `2026-12-31`, `31 Dec 2026` or `31 грудня 2026`
 * @returns `YYYY-MM-DD`; null when it is no calendar day, or the year does not have four digits
 */
export function readDay(typed: string): string | null {
  const parts = readParts(typed)
  if (!parts) return null
  const day = `${parts.year}-${two(parts.month)}-${two(parts.day)}`
  const instant = new Date(`${day}T00:00:00Z`)
  // `Date` would read the 31st of February as a day of March.
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(day) ? day : null
}

/** Whether the format and the month are valid, but the month does not have this day: `31.11.2026`. */
export function isMissingDay(typed: string): boolean {
  const month = Number(readParts(typed)?.month ?? 0)
  return month >= 1 && month <= 12 && readDay(typed) === null
}

function readParts(typed: string): { year: string; month: string | number; day: string } | null {
  const text = typed.trim().toLowerCase()
  const iso = /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/.exec(text)
  const numbers = /^(?<day>\d{1,2})([./-])(?<month>\d{1,2})\2(?<year>\d{4})$/.exec(text)
  const words = /^(?<day>\d{1,2})\s+(?<name>\p{L}+)\.?,?\s+(?<year>\d{4})(?:\s*р\.?)?$/u.exec(text)
  const found = (iso ?? numbers ?? words)?.groups
  const { year, day, month = months[found?.name ?? ''] } = found ?? {}
  return year === undefined || day === undefined || month === undefined ? null : { year, month, day }
}

const english = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' })

/**
 * @param day `YYYY-MM-DD`
 * @returns `31 Dec 2026`, or `31.12.2026` in Ukrainian: `readDay` reads both
 */
export function writeDay(day: string, language: Language): string {
  if (language === 'en') return english.format(new Date(`${day}T00:00:00Z`))
  return day.split('-').reverse().join('.')
}

/**
 * @param typed `9:30`, `09:30`, `09.30` or `09:30:15`
 * @returns `HH:mm:ss`; null when it is no time of day
 */
export function readClock(typed: string): string | null {
  const [, hours, minutes, seconds = '00'] = /^(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?$/.exec(typed.trim()) ?? []
  if (hours === undefined || minutes === undefined) return null
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null
  return `${two(hours)}:${minutes}:${seconds}`
}

/**
 * @param clock `HH:mm:ss`
 * @returns `09:30`; seconds only if they are not zero
 */
export const writeClock = (clock: string): string => (clock.endsWith(':00') ? clock.slice(0, 5) : clock)
