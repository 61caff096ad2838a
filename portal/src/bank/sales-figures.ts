/** Sales figures prepared for charts: every day of the span, and the most important tariffs. Pure. */
import { addDays } from '../i18n/time-zone.ts'
import type { ChartPoint, ChartSeries } from '../ui/chart-figures.ts'
import type { TariffSearch } from './search.ts'
import type { Sales } from './types.ts'

type SoldDays = Pick<Sales, 'from' | 'to' | 'days'>
type Counted = { confirmed: number; cancelled: number; expired: number }

/** The maximum number of days for which the platform counts sales. */
export const maxDays = 366

/** The number of days, both ends included. */
export const daysIn = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000) + 1

/** The maximum number of tariffs that a chart shows separately. One more series sums up the remaining tariffs. */
const maxSeries = 5
const others = 'others'

/** A tariff. Its code alone does not name it, because two mobile operators may use the same code. */
export type TariffCodes = { operatorCode: string; tariffCode: string }

const keyOf = ({ operatorCode, tariffCode }: TariffCodes): string => `${tariffCode} ${operatorCode}`

/** The tariffs of the span, the most sold first. Tariffs with only failed orders come last. */
export function tariffsOf({ days }: Pick<Sales, 'days'>): ({ tariff: TariffCodes } & Counted)[] {
  return [...Map.groupBy(days, keyOf).values()]
    .flatMap(some => some.slice(0, 1).map(tariff => ({ tariff, ...summed(some) })))
    .toSorted((one, other) => other.confirmed - one.confirmed || (keyOf(one.tariff) < keyOf(other.tariff) ? -1 : 1))
}

/** Whether this is the chosen tariff. If no mobile operator is chosen, only the tariff's code is compared. */
export const isChosen = ({ operatorCode, tariffCode }: TariffCodes, { operator, tariff }: TariffSearch): boolean =>
  tariffCode === tariff && (operator === undefined || operatorCode === operator)

/** The sales of one tariff, if one is chosen. */
export const onlyTariff = <Some extends Pick<Sales, 'days'>>(sales: Some, chosen: TariffSearch): Some =>
  chosen.tariff === undefined ? sales : { ...sales, days: sales.days.filter(day => isChosen(day, chosen)) }

/** The sales figures with the sums of all their days. Money is added in whole cents. */
export function withTotals(sales: Sales): Sales {
  const cents = new Map<string, number>()
  for (const { currency, amount } of sales.days.flatMap(({ amounts }) => amounts))
    cents.set(currency, (cents.get(currency) ?? 0) + Math.round(amount * 100))
  const amounts = [...cents].map(([currency, sum]) => ({ currency, amount: sum / 100 }))
  return { ...sales, totals: { ...summed(sales.days), amounts } }
}

const summed = (counts: readonly Counted[]): Counted => ({
  confirmed: counts.reduce((sum, { confirmed }) => sum + confirmed, 0),
  cancelled: counts.reduce((sum, { cancelled }) => sum + cancelled, 0),
  expired: counts.reduce((sum, { expired }) => sum + expired, 0),
})

/**
 * Sold orders of each day by tariff; when there are many tariffs, the least sold ones are summed up.
 *
 * @param input.labelOf returns the label of a day
 * @param input.nameOf returns the name of a tariff
 */
export function soldByDay(
  sales: SoldDays,
  input: { labelOf: (day: string) => string; nameOf: (tariff: TariffCodes) => string; othersName: string },
): { points: ChartPoint[]; series: ChartSeries[] } {
  const sold = tariffsOf(sales).filter(({ confirmed }) => confirmed > 0)
  const hasOthers = sold.length > maxSeries
  const own = sold.slice(0, hasOthers ? maxSeries - 1 : maxSeries)
  const seriesOf = new Map(own.map(({ tariff }, index) => [keyOf(tariff), `tariff${index}`]))
  const series = own.map(({ tariff }, index) => ({ name: `tariff${index}`, label: input.nameOf(tariff) }))
  const points = pointsOf(sales, input.labelOf, (point, day) => {
    const name = seriesOf.get(keyOf(day)) ?? others
    if (day.confirmed > 0) point[name] = Number(point[name] ?? 0) + day.confirmed
  })
  return { points, series: hasOthers ? [...series, { name: others, label: input.othersName }] : series }
}

/** Orders that ended on each day: sold, cancelled, and expired. */
export const endedByDay = (sales: SoldDays, labelOf: (day: string) => string): ChartPoint[] =>
  pointsOf(sales, labelOf, (point, { confirmed, cancelled, expired }) => {
    point.confirmed = Number(point.confirmed ?? 0) + confirmed
    point.cancelled = Number(point.cancelled ?? 0) + cancelled
    point.expired = Number(point.expired ?? 0) + expired
  })

/** The points of a chart, one for each day of the span, also for days without orders. */
function pointsOf(
  { from, to, days }: SoldDays,
  labelOf: (day: string) => string,
  add: (point: ChartPoint, day: SoldDays['days'][number]) => void,
): ChartPoint[] {
  const byDay = Map.groupBy(days, ({ day }) => day)
  return Array.from({ length: daysIn(from, to) }, (_, index) => {
    const day = addDays(from, index)
    const point: ChartPoint = { label: labelOf(day) }
    for (const each of byDay.get(day) ?? []) add(point, each)
    return point
  })
}
