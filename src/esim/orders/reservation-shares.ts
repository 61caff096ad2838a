/**
 * Limits how many live reservations of a tariff one bank may hold: a share of the tariff's unsold stock
 * (contract/limits.md, "Campaigns and stock"). The stock is counted only for banks whose share is below 100 %.
 */
import type { Database } from '../../db/database.ts'
import { countUnsold } from './reserve-store.ts'

/**
 * A count of the stock is used for a second. If counting takes long, the count is used for 20 times as long as counting
 * took. So counting takes at most a twentieth of the time.
 */
const minMs = 1_000
const timesItsDuration = 20

type Counted = { unsold: number; validUntilMs: number }

export type ReservationShares = {
  /**
   * How many live reservations of each tariff a bank with this share may hold: rounded down, and at least 1.
   * @param share in per cent
   */
  limitsOf(tariffIds: readonly number[], share: number): Promise<Map<number, number>>
}

export function createReservationShares(database: Database): ReservationShares {
  const counts = new Map<number, Counted>()
  const unsoldOf = async (tariffId: number): Promise<number> => {
    const startedMs = performance.now()
    const known = counts.get(tariffId)
    if (known && startedMs < known.validUntilMs) return known.unsold
    const unsold = await countUnsold(database, tariffId)
    const nowMs = performance.now()
    const validMs = Math.max(minMs, timesItsDuration * (nowMs - startedMs))
    counts.set(tariffId, { unsold, validUntilMs: nowMs + validMs })
    return unsold
  }
  return {
    async limitsOf(tariffIds, share) {
      const limits = new Map<number, number>()
      for (const tariffId of new Set(tariffIds))
        limits.set(tariffId, Math.max(1, Math.floor(((await unsoldOf(tariffId)) * share) / 100)))
      return limits
    },
  }
}
