/**
 * Limits how many live reservations one bank may hold (contract/limits.md, "Campaigns and stock"), over all processes.
 * Near the limit, reservations are counted and made under a lock that all processes share. Far from the limit no lock
 * is needed: after each count, a process may make only a part of the remaining reservations, and only for a short time.
 * These bounds are so small that all processes together cannot reach the limit.
 */

/** The assumed maximum rate of one bank's reservations over all processes. No database server reaches it. */
const maxPerSecond = 20_000
/** After this time at the latest, a bank's open reservations are counted again. */
const maxCountAgeMs = 60_000
/** The part of the remaining reservations that one process may make after a count. */
const shareOfRoom = 1 / 16
/**
 * When the bank is nearer to its limit than this many reservations, every reservation is counted under the lock. The
 * number is so large that the bank stays within the limit even if a statement is delayed for a second.
 */
const minRoom = 4_000

/**
 * What a count allows. `credit`: how many reservations this process may still make without the lock. When the credit falls
 * below `refreshBelow`, or half of `validMs` has passed, the reservations are counted again in the background.
 */
type Estimate = { credit: number; refreshBelow: number; countedAtMs: number; validMs: number }

export type OpenReservations = {
  /**
   * Whether the bank is so far from its limit that it may make `wanted` more reservations without the lock. If so,
   * subtracts them from the credit.
   */
  far(bankId: string, wanted: number): boolean
  /** Stores a new count of the live reservations of the bank. */
  counted(bankId: string, open: number): void
}

/**
 * Creates the estimates of one process, for all banks.
 *
 * @param deps.count counts the live reservations of a bank, up to the limit
 * @param deps.onError called when a count in the background fails. When the old count is no longer valid, requests take
 *   the lock
 */
export function createOpenReservations(deps: {
  limit: number
  count(bankId: string): Promise<number>
  onError(error: unknown): void
}): OpenReservations {
  const estimates = new Map<string, Estimate>()
  const counting = new Set<string>()

  const counted = (bankId: string, open: number): void => {
    const room = deps.limit - open
    const credit = room < minRoom ? 0 : Math.floor(room * shareOfRoom)
    const validMs = Math.min(maxCountAgeMs, (room / 2 / maxPerSecond) * 1000)
    estimates.set(bankId, { credit, refreshBelow: credit / 2, countedAtMs: performance.now(), validMs })
  }

  const countBeside = (bankId: string): void => {
    if (counting.has(bankId)) return
    counting.add(bankId)
    deps
      .count(bankId)
      .then(open => counted(bankId, open))
      .catch(deps.onError)
      .finally(() => counting.delete(bankId))
  }

  return {
    far(bankId, wanted) {
      const estimate = estimates.get(bankId)
      if (!estimate || estimate.credit < wanted) return false
      const ageMs = performance.now() - estimate.countedAtMs
      if (ageMs > estimate.validMs) return false
      estimate.credit -= wanted
      if (estimate.credit < estimate.refreshBelow || ageMs > estimate.validMs / 2) countBeside(bankId)
      return true
    },
    counted,
  }
}
