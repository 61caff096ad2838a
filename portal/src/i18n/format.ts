/** Writes numbers, money, dates, times, periods and lists in the chosen language and time zone, with `Intl`. */
import type { Language } from './language.ts'
import { daysBetween, daysOfPeriod, fromZoned } from './time-zone.ts'

const locales: Record<Language, string> = { uk: 'uk-UA', en: 'en-GB' }

/** The maximum number of decimals in a percentage. More digits are not exact in JavaScript. */
export const percentDecimals = 15

/** 100 % minus a share. Rounds to 12 decimals, because a subtraction in JavaScript may be wrong in the last digits. */
export const restOfPercent = (share: number): number => Number((100 - share).toFixed(12))

/** Creates a format only when it is first used, because creating one takes time and no page uses all of them. */
function whenNeeded<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}

export type Format = ReturnType<typeof createFormat>

/** Makes the functions that write values as text: numbers, money, sizes, dates, periods, quotations and lists. */
export function createFormat(language: Language, timeZone: string) {
  const locale = locales[language]
  const dates = (options: Intl.DateTimeFormatOptions) =>
    whenNeeded(() => new Intl.DateTimeFormat(locale, { timeZone, ...options }))
  const number = whenNeeded(() => new Intl.NumberFormat(locale))
  const compact = whenNeeded(() => new Intl.NumberFormat(locale, { notation: 'compact' }))
  const percent = whenNeeded(
    () => new Intl.NumberFormat(locale, { style: 'unit', unit: 'percent', maximumFractionDigits: percentDecimals }),
  )
  const day = dates({ day: 'numeric', month: 'short', year: 'numeric' })
  const dayTime = dates({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })
  const dayOfYear = dates({ timeZone: 'UTC', day: 'numeric', month: 'short' })
  const calendarDay = dates({ timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' })
  const time = dates({ hour: '2-digit', minute: '2-digit' })
  const precise = dates({ dateStyle: 'full', timeStyle: 'long' })
  const utc = dates({ timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })
  const relative = whenNeeded(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
  const list = whenNeeded(() => new Intl.ListFormat(locale, { type: 'conjunction' }))
  const monies = new Map<string, Intl.NumberFormat>()

  return {
    locale,
    number: (value: number): string => number().format(value),
    /** `12 K`: for the scale of a chart. */
    compact: (value: number): string => compact().format(value),
    /**
     * Shows all decimals, because percentages are terms that merchant and bank agree on.
     * @param value as in the API: 5.5 means 5.5 %
     */
    percent: (value: number): string => percent().format(value),
    /** @param currency code of ISO 4217; without it, the bare amount with two decimals */
    money(amount: number, currency?: string | null): string {
      const key = currency ?? ''
      let format = monies.get(key)
      if (!format) {
        const style = currency ? ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const) : {}
        format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2, ...style })
        monies.set(key, format)
      }
      return format.format(amount)
    },
    date: (instant: string | Date): string => day().format(new Date(instant)),
    /**
     * A day without its year, for the axis of a chart.
     * @param day `YYYY-MM-DD`: a calendar day, in no time zone
     */
    dayOfYear: (day: string): string => dayOfYear().format(new Date(`${day}T00:00:00Z`)),
    /**
     * Like `dayOfYear`, with the year.
     * @param day `YYYY-MM-DD`
     */
    calendarDay: (day: string): string => calendarDay().format(new Date(`${day}T00:00:00Z`)),
    time: (instant: string | Date): string => time().format(new Date(instant)),
    dateTime: (instant: string | Date): string => dayTime().format(new Date(instant)),
    /** Formats in UTC and adds "UTC", for documents that two sides read. */
    utc: (instant: string | Date): string => `${utc().format(new Date(instant))} UTC`,
    /** Formats with weekday, seconds and time zone, for tooltips. */
    precise: (instant: string | Date): string => precise().format(new Date(instant)),
    /** Formats a period. A period of whole days is shown by its first and last day, any other one with its times. */
    period(dateFrom: string, dateTo: string): string {
      const days = daysOfPeriod(dateFrom, dateTo, timeZone)
      if (!days) return dayTime().formatRange(new Date(dateFrom), new Date(dateTo))
      return day().formatRange(fromZoned(days.from, timeZone), fromZoned(days.to, timeZone))
    },
    isWholeDays: (dateFrom: string, dateTo: string): boolean => daysOfPeriod(dateFrom, dateTo, timeZone) !== null,
    /** The last day of a period that ends at this instant: midnight belongs to the day before, as in `period`. */
    lastDay: (dateTo: string): string => day().format(new Date(Date.parse(dateTo) - 1)),
    /**
     * `in 3 days`, `2 hours ago`. From 24 hours on, it counts calendar days of the time zone. Shorter times are given
     * in whole hours or minutes, without the rest.
     */
    relative(instant: string | Date, now: Date): string {
      const seconds = (new Date(instant).getTime() - now.getTime()) / 1000
      const days = Math.abs(seconds) >= 86_400 ? daysBetween(now, instant, timeZone) : 0
      if (days !== 0) return relative().format(days, 'day')
      const [unit, length] = Math.abs(seconds) >= 3_600 ? (['hour', 3_600] as const) : (['minute', 60] as const)
      return relative().format(Math.trunc(seconds / length), unit)
    },
    bytes(size: number): string {
      const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
      const power = Math.min(units.length - 1, size < 1000 ? 0 : Math.floor(Math.log10(size) / 3))
      const options = {
        style: 'unit',
        unit: units[power] ?? 'byte',
        // The long form, because the short form of `Intl` for bytes would be "198 byte", without the plural.
        unitDisplay: power === 0 ? 'long' : 'short',
        maximumFractionDigits: power === 0 ? 0 : 1,
      } as const
      return new Intl.NumberFormat(locale, options).format(size / 1000 ** power)
    },
    /**
     * An amount of mobile data as people write it: `100 MB`, `10 GB`.
     * @param megabytes shown in gigabytes if it is at least 1,000 and a multiple of 512 (1 GB is then 1,024 MB) or of
     *   1,000 (1 GB is then 1,000 MB)
     */
    dataVolume(megabytes: number): string {
      const step = [1024, 1000, 512].find(each => megabytes >= 1000 && megabytes % each === 0) ?? 1
      const value = step === 1 ? megabytes : megabytes / (step === 1000 ? 1000 : 1024)
      const unit = step === 1 ? 'megabyte' : 'gigabyte'
      return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value)
    },
    /**
     * A text of another person, in the quotation marks of the language. Characters that change the direction of writing are
     * removed, because they could move the end of the text behind the closing quotation mark.
     */
    quoted(text: string): string {
      const straight = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
      return language === 'uk' ? `«${straight}»` : `“${straight}”`
    },
    /** A list in words: `Alpha, Beta and Gamma`. */
    list: (items: readonly string[]): string => list().format(items),
  }
}
