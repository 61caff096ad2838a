/**
 * How many live reservations one bank may hold (behaviour.md, section 4, OPEN_RESERVATIONS). The limit holds over all processes,
 * because near it reservations are counted and made under a lock that they share. Far from it a process may make some without:
 * after each count only so many, and for so short a time, that all processes together cannot come to the limit meanwhile.
 */
import { type Batcher, createBatcher } from '../db/batching.ts'

/** No bank gets more reservations than this, whatever the number of processes: well above what a database server carries. */
const mostPerSecond = 20_000
const longestMs = 60_000
const shareOfRoom = 1 / 16

type Estimate = { credit: number; refreshBelow: number; countedAtMs: number; validMs: number }

export type OpenReservations = {
  /** True when the bank may make one more reservation without the lock. */
  far(bankId: string): boolean
  /** Takes note of how many live reservations the bank has. */
  counted(bankId: string, open: number): void
}

/**
 * @param deps.count live reservations of a bank, counted up to the limit
 * @param deps.onFault told when a count beside the requests fails; they then take the lock
 */
export function createOpenReservations(deps: {
  limit: number
  count(bankId: string): Promise<number>
  onFault(error: unknown): void
}): OpenReservations {
  const estimates = new Map<string, Estimate>()
  const counting = new Set<string>()

  const counted = (bankId: string, open: number): void => {
    const room = deps.limit - open
    const credit = Math.floor(room * shareOfRoom)
    const validMs = Math.min(longestMs, (room / 2 / mostPerSecond) * 1000)
    estimates.set(bankId, { credit, refreshBelow: credit / 2, countedAtMs: performance.now(), validMs })
  }

  const countBeside = (bankId: string): void => {
    if (counting.has(bankId)) return
    counting.add(bankId)
    deps
      .count(bankId)
      .then(open => counted(bankId, open))
      .catch(deps.onFault)
      .finally(() => counting.delete(bankId))
  }

  return {
    far(bankId) {
      const estimate = estimates.get(bankId)
      if (!estimate || estimate.credit < 1) return false
      const ageMs = performance.now() - estimate.countedAtMs
      if (ageMs > estimate.validMs) return false
      estimate.credit--
      if (estimate.credit < estimate.refreshBelow || ageMs > estimate.validMs / 2) countBeside(bankId)
      return true
    },
    counted,
  }
}

/** One batcher for each bank: what waits for one bank's lock holds up no other bank. */
export function createBankBatchers<Item extends { reservation: { bankId: string } }, Result>(
  options: Parameters<typeof createBatcher<Item, Result>>[0],
): Batcher<Item, Result> {
  const batchers = new Map<string, Batcher<Item, Result>>()
  return item => {
    const { bankId } = item.reservation
    const batcher = batchers.get(bankId) ?? createBatcher(options)
    batchers.set(bankId, batcher)
    return batcher(item)
  }
}
