/**
 * Splits time spans into whole days, whole hours (UTC), and rests of less than an hour. The sums of days and hours are
 * stored; the orders in the rests must be counted. Each end of a span is first rounded to the nearest day. Then the
 * hours and the rest between this end and that day are added or subtracted.
 */

const hourMs = 3_600_000
const dayMs = 86_400_000

/** A part of the span with the number `span`. `sign`: 1 if the part is added to the span, -1 if it is subtracted. */
type Signed = { span: number; sign: 1 | -1 }

export type Parts = {
  /** `yyyy-mm-dd` */
  days: { span: number; day: string }[]
  /** The beginning of each hour. */
  hours: (Signed & { hour: Date })[]
  /** Parts of less than an hour. Each includes `from` and excludes `until`. */
  rests: (Signed & { from: Date; until: Date })[]
}

/**
 * Splits consecutive spans into parts.
 *
 * @param bounds the ends of the spans, in the order of time; n spans have n + 1 bounds
 * @returns the parts that add up to each span; spans are numbered from 0
 */
export function partsOf(bounds: readonly Date[]): Parts {
  const parts: Parts = { days: [], hours: [], rests: [] }
  for (const [index, bound] of bounds.entries()) {
    const [from, until] = [nearestDay(bound), nearestDay(bounds[index + 1] ?? bound)]
    for (let ms = from; ms < until; ms += dayMs) parts.days.push({ span: index, day: dayName(ms) })
    const { hours, rests } = edgeOf(bound)
    for (const { sign, ...part } of hours) parts.hours.push(...onBothSides(index, sign).map(of => ({ ...of, ...part })))
    for (const { sign, ...part } of rests) parts.rests.push(...onBothSides(index, sign).map(of => ({ ...of, ...part })))
  }
  const isSpan = ({ span }: { span: number }) => span >= 0 && span < bounds.length - 1
  return { days: parts.days, hours: parts.hours.filter(isSpan), rests: parts.rests.filter(isSpan) }
}

/**
 * The bound with the number `index` is the end of one span and the beginning of the next. A part that is added to one
 * of these two spans is subtracted from the other.
 */
const onBothSides = (index: number, sign: 1 | -1): Signed[] => [
  { span: index, sign },
  { span: index - 1, sign: sign === 1 ? -1 : 1 },
]

/**
 * For a span that begins with an instant: the nearest day, and the hours and the rest between the instant and that day.
 */
export function edgeOf(at: Date): {
  day: string
  hours: { sign: 1 | -1; hour: Date }[]
  rests: { sign: 1 | -1; from: Date; until: Date }[]
} {
  const [ms, hour, day] = [at.getTime(), nearest(at, hourMs), nearestDay(at)]
  const hours: { sign: 1 | -1; hour: Date }[] = []
  const sign = hour < day ? 1 : -1
  for (let from = Math.min(hour, day); from < Math.max(hour, day); from += hourMs)
    hours.push({ sign, hour: new Date(from) })
  const rest = { from: new Date(Math.min(ms, hour)), until: new Date(Math.max(ms, hour)) }
  return { day: dayName(day), hours, rests: ms === hour ? [] : [{ sign: ms < hour ? 1 : -1, ...rest }] }
}

const nearest = (at: Date, unitMs: number): number => Math.round(at.getTime() / unitMs) * unitMs
const nearestDay = (at: Date): number => nearest(at, dayMs)
const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
