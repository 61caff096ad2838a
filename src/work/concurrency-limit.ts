/**
 * Limits work that needs much processor time, memory or connections: how many callers do it at the same time, in total
 * and for each partner. The time of waiting is limited, too. Waiting callers are served in turn: next is the group
 * (such as a partner) that was served longest ago.
 */
import { DomainError } from '../errors.ts'

export type ConcurrencyLimits = {
  atOnce: number
  /** How many of the `atOnce` places one partner may use at the same time. */
  perPartner: number
  /** True: a partner that uses a place already cannot get the last free one. */
  lastForOthers?: boolean
  waiting: number
  waitMs: number
}

/** The error for callers who are refused. */
export type LimitRefusal = { code: 'unavailable' | 'too-many'; text: string; retryAfterSeconds?: number }

export type ConcurrencyLimit = {
  /**
   * Waits for a free place.
   *
   * @param who the partner, or the groups of the caller from the widest to the narrowest, which is the partner. Free
   *   places are shared fairly among the widest groups, then within each of them
   * @param signal aborts when the caller stops waiting
   * @returns a function that frees the place
   * @throws the error for refused callers when too many callers wait, the wait was too long, or the caller left
   */
  take(who: string | readonly string[], signal: AbortSignal): Promise<() => void>
}

type Waiter = { groups: readonly string[]; start(): void; giveUp(text: string): void }

/** The kinds of work that are limited. The list is closed, because a metric has one series for each kind. */
const limitedKinds = [
  'reads',
  'costly-reads',
  'uploads',
  'bodies',
  'logins',
  'lists',
  'files',
  'documents',
  'others',
] as const
export type LimitedKind = (typeof limitedKinds)[number]

/** The number of waiting callers of all limits in this process. */
const waitingNow = new Map<LimitedKind, number>(limitedKinds.map(kind => [kind, 0]))

/** How many callers wait at this moment, by kind. */
export const countWaiting = (): ReadonlyMap<LimitedKind, number> => waitingNow

/**
 * @param busy the error for refused callers. If it is only a text, the error has this text and the code 'unavailable'
 */
export function createConcurrencyLimit(
  limits: ConcurrencyLimits,
  busy: string | LimitRefusal,
  kind: LimitedKind = 'others',
): ConcurrencyLimit {
  const refusal: LimitRefusal = typeof busy === 'string' ? { code: 'unavailable', text: busy } : busy
  const refuse = (text: string) =>
    new DomainError(refusal.code, text, { retryAfterSeconds: refusal.retryAfterSeconds ?? 10 })
  const waiters = new Set<Waiter>()
  const count = (change: number) => waitingNow.set(kind, (waitingNow.get(kind) ?? 0) + change)
  const { isFree, begin } = createPlaces(limits, waiters)
  const makeRoom = (groups: readonly string[]): boolean => {
    if (waiters.size < limits.waiting) return true
    const dropped = findDropped(waiters, groups)
    dropped?.giveUp(refusal.text)
    return dropped !== null
  }

  return {
    async take(who, signal) {
      const groups = typeof who === 'string' ? [who] : who
      if (isFree(groups)) return begin(groups)
      if (!makeRoom(groups)) throw refuse(refusal.text)
      return new Promise((resolve, reject) => {
        const waiter = createWaiter(groups, {
          start: () => resolve(begin(groups)),
          giveUp: text => reject(refuse(text)),
          onEnd: () => {
            if (waiters.delete(waiter)) count(-1)
          },
        })
        waiters.add(waiter)
        count(1)
        waiter.wait(limits.waitMs, refusal.text, signal)
      })
    },
  }
}

/** Keeps the places. Each caller that works occupies one. A place that becomes free is given to one of `waiters`. */
function createPlaces(limits: ConcurrencyLimits, waiters: ReadonlySet<Waiter>) {
  /** The partner in each occupied place. */
  const running: string[] = []
  /** When each group was served last, as a sequence number. Cleared when no caller works or waits. */
  const servedAt = new Map<string, number>()
  let served = 0

  const isFree = (groups: readonly string[]): boolean => {
    const own = running.filter(other => other === groups.at(-1)).length
    const kept = limits.lastForOthers && own > 0 ? 1 : 0
    return running.length < limits.atOnce - kept && own < limits.perPartner
  }
  const findNext = () =>
    findFirst(
      waiters.values().filter(({ groups }) => isFree(groups)),
      servedAt,
    )
  /** @returns a function that frees the place */
  const begin = (groups: readonly string[]): (() => void) => {
    const partner = groups.at(-1) ?? ''
    running.push(partner)
    served++
    for (const group of groups) servedAt.set(group, served)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      running.splice(running.indexOf(partner), 1)
      for (let next = findNext(); next; next = findNext()) next.start()
      if (running.length + waiters.size === 0) servedAt.clear()
    }
  }
  return { isFree, begin }
}

/** @param then.onEnd called when the wait ends, before `start` or `giveUp` is called */
function createWaiter(
  groups: readonly string[],
  then: { start(): void; giveUp(text: string): void; onEnd(): void },
): Waiter & { wait(maxMs: number, lateText: string, signal: AbortSignal): void } {
  let stopWaiting = () => {}
  const waiter = {
    groups,
    start() {
      stopWaiting()
      then.start()
    },
    giveUp(text: string) {
      stopWaiting()
      then.giveUp(text)
    },
    wait(maxMs: number, lateText: string, signal: AbortSignal) {
      const leave = () => waiter.giveUp('The caller has left')
      const timer = setTimeout(waiter.giveUp, maxMs, lateText)
      stopWaiting = () => {
        then.onEnd()
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
      signal.addEventListener('abort', leave)
      if (signal.aborted) leave()
    },
  }
  return waiter
}

/**
 * Returns the waiter whose groups were served longest ago. Of several such waiters, it returns the one that has
 * waited longest.
 */
function findFirst(waiters: Iterable<Waiter>, servedAt: ReadonlyMap<string, number>): Waiter | null {
  let first: Waiter | null = null
  for (const waiter of waiters) if (!first || isServedBefore(waiter.groups, first.groups, servedAt)) first = waiter
  return first
}

/**
 * Returns the waiter that must leave a full queue so that a newcomer can join it: the newest waiter of the group with
 * the most waiters. A waiter counts only for its first group, which contains its other groups.
 *
 * @returns null when the newcomer must be refused: if it joined, its own group would have at least as many waiters as
 *   any other group
 */
function findDropped(waiters: ReadonlySet<Waiter>, newcomer: readonly string[]): Waiter | null {
  const byGroup = Map.groupBy(waiters, waiter => waiter.groups[0])
  const [largest = []] = [...byGroup.values()].sort((a, b) => b.length - a.length)
  if (largest.length <= (byGroup.get(newcomer[0])?.length ?? 0) + 1) return null
  return largest.at(-1) ?? null
}

function isServedBefore(
  groups: readonly string[],
  others: readonly string[],
  servedAt: ReadonlyMap<string, number>,
): boolean {
  for (const [index, group] of groups.entries()) {
    const difference = (servedAt.get(group) ?? 0) - (servedAt.get(others[index] ?? '') ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
