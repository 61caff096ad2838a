/**
 * How many live reservations one bank may hold (contract/limits.md, "Campaigns and stock"). The limit holds over all processes,
 * because near it reservations are counted and made under a lock that they share. Far from it a process may make some without:
 * after each count only so many, and for so short a time, that all processes together cannot come to the limit meanwhile.
 */

/** No bank gets more reservations than this, whatever the number of processes: well above what a database server carries. */
const mostPerSecond = 20_000
const longestMs = 60_000
const shareOfRoom = 1 / 16
/** With less room than this every reservation is counted: a statement that is held up for a second must do no harm. */
const leastRoom = 4_000

type Estimate = { credit: number; refreshBelow: number; countedAtMs: number; validMs: number }

export type OpenReservations = {
  /** True when the bank may make `wanted` more reservations without the lock, at once. */
  far(bankId: string, wanted: number): boolean
  /** Takes note of how many live reservations the bank has. */
  counted(bankId: string, open: number): void
}

/**
 * @param deps.count live reservations of a bank, counted up to the limit
 * @param deps.onError told when a count beside the requests fails; they then take the lock
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
    const credit = room < leastRoom ? 0 : Math.floor(room * shareOfRoom)
    const validMs = Math.min(longestMs, (room / 2 / mostPerSecond) * 1000)
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
