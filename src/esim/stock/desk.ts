/** How long the stock of each tariff lasts, for the people who buy new profiles. */
import type { Clock } from '../../clock.ts'
import type { Queryable } from '../../db/database.ts'
import { countHolders } from '../orders/reserve-store.ts'
import { countStock, type StockCount } from '../sold/figures-store.ts'
import { readPace, type TariffPace } from './pace-store.ts'

const dayMs = 86_400_000
/**
 * The pace is the average number of sales per day over this many days. With one day, a single busy day could raise an
 * alarm.
 */
export const paceDays = 7
/** A stock that lasts for fewer days is low, because the operator needs this time to buy and load new profiles. */
export const lowBelowDays = 7

export const stockLevels = ['enough', 'low', 'out'] as const
export type StockLevel = (typeof stockLevels)[number]

export type DeskTariff = StockCount &
  Omit<TariffPace, 'sold'> & {
    soldLastDays: number
    /** How many days the stock lasts at the pace of the last days; null when nothing was sold in them. */
    daysOfCover: number | null
    level: StockLevel
    /** The banks that hold live reservations of this tariff; the bank with the most comes first. */
    holders: { bank: string; reserved: number }[]
  }

/**
 * Returns every tariff with its stock, how fast it sells, and how long the stock will last.
 *
 * @param deps.database one snapshot, if the reserved profiles must be those of the holders
 */
export async function readStockDesk(deps: { database: Queryable; clock: Clock }): Promise<DeskTariff[]> {
  const now = deps.clock.now()
  const counts = await countStock(deps.database, now)
  const paces = await readPace(deps.database, new Date(now.getTime() - paceDays * dayMs))
  const held = await countHolders(deps.database, now)
  const holdersOf = Map.groupBy(held, keyOf)
  const paceOf = new Map(paces.map(pace => [keyOf(pace), pace]))
  return counts.flatMap(count => {
    const pace = paceOf.get(keyOf(count))
    const holders = (holdersOf.get(keyOf(count)) ?? []).map(({ bank, reserved }) => ({ bank, reserved }))
    return pace ? [{ ...deskTariff(count, pace), holders }] : []
  })
}

const keyOf = ({ operatorCode, tariffCode }: { operatorCode: string; tariffCode: string }): string =>
  JSON.stringify([operatorCode, tariffCode])

function deskTariff(count: StockCount, { sold, ...pace }: TariffPace): Omit<DeskTariff, 'holders'> {
  const daysOfCover = sold === 0 ? null : Math.floor((count.free * paceDays * 10) / sold) / 10
  return { ...pace, ...count, soldLastDays: sold, daysOfCover, level: levelOf(count.free, daysOfCover, pace.isOffered) }
}

/** The level of a tariff's stock. A tariff that is not on sale needs no stock, so its level is always `enough`. */
function levelOf(free: number, daysOfCover: number | null, isOffered: boolean): StockLevel {
  if (!isOffered) return 'enough'
  if (free === 0) return 'out'
  return daysOfCover !== null && daysOfCover < lowBelowDays ? 'low' : 'enough'
}
