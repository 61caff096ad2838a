/**
 * Work that takes much of something takes turns: so little at a time that everybody shares the processor, the memory and the
 * connections. No partner can take all of it, and the others wait for a bounded time. Who waits is served in turns too: first those
 * whose group was served longest ago.
 */
import { DomainError } from '../errors.ts'

export type TurnLimits = {
  atOnce: number
  /** Of these, for one partner. */
  perPartner: number
  waiting: number
  waitMs: number
}

/** What is told to those who get no turn, and as what. */
export type TurnRefusal = { code: 'unavailable' | 'too-many'; text: string; retryAfterSeconds?: number }

export type Turns = {
  /**
   * Waits for a turn.
   *
   * @param who the partner, or the groups to which the caller belongs, the widest first: each group gets its share
   * @param left aborts when the caller does not wait any more
   * @returns ends it
   * @throws DomainError as the refusal says when too many wait, none came in time, or the caller left
   */
  take(who: string | readonly string[], left: AbortSignal): Promise<() => void>
}

type Waiter = { groups: readonly string[]; start(): void; giveUp(text: string): void }

/** What takes turns; a closed list, as a metric has one series for each. */
export const turnKinds = [
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
export type TurnKind = (typeof turnKinds)[number]

/** Of all turns in this process. */
const waitingNow = new Map<TurnKind, number>(turnKinds.map(kind => [kind, 0]))

/** How many wait for their turn at this moment, by what they wait for. */
export const countWaitingTurns = (): ReadonlyMap<TurnKind, number> => waitingNow

/** @param busy a text is told as 'unavailable' */
export function createTurns(limits: TurnLimits, busy: string | TurnRefusal, kind: TurnKind = 'others'): Turns {
  const refusal: TurnRefusal = typeof busy === 'string' ? { code: 'unavailable', text: busy } : busy
  const refuse = (text: string) =>
    new DomainError(refusal.code, text, { retryAfterSeconds: refusal.retryAfterSeconds ?? 10 })
  const running: string[] = []
  const waiters = new Set<Waiter>()
  /** When each group was served last, for as long as anybody runs or waits. */
  const servedAt = new Map<string, number>()
  let served = 0

  const count = (change: number) => waitingNow.set(kind, (waitingNow.get(kind) ?? 0) + change)
  const isFree = (groups: readonly string[]): boolean =>
    running.length < limits.atOnce && running.filter(other => other === groups.at(-1)).length < limits.perPartner
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
      for (let next = nextOf(); next; next = nextOf()) next.start()
      if (running.length + waiters.size === 0) servedAt.clear()
    }
  }
  const nextOf = (): Waiter | null => {
    let next: Waiter | null = null
    for (const waiter of waiters)
      if (isFree(waiter.groups) && (!next || isServedBefore(waiter.groups, next.groups, servedAt))) next = waiter
    return next
  }
  /** In a full queue the group with the most waiters makes room, unless the newcomer is of it. @returns whether there is room */
  const makeRoom = (groups: readonly string[]): boolean => {
    if (waiters.size < limits.waiting) return true
    const byGroup = Map.groupBy(waiters, waiter => waiter.groups[0])
    const [largest = []] = [...byGroup.values()].sort((a, b) => b.length - a.length)
    if (largest.length <= (byGroup.get(groups[0])?.length ?? 0) + 1) return false
    largest.at(-1)?.giveUp(refusal.text)
    return true
  }

  return {
    async take(who, left) {
      const groups = typeof who === 'string' ? [who] : who
      if (isFree(groups)) return begin(groups)
      if (!makeRoom(groups)) throw refuse(refusal.text)
      return new Promise((resolve, reject) => {
        const stopWaiting = () => {
          if (waiters.delete(waiter)) count(-1)
          clearTimeout(timer)
          left.removeEventListener('abort', leave)
        }
        const waiter: Waiter = {
          groups,
          start() {
            stopWaiting()
            resolve(begin(groups))
          },
          giveUp(text) {
            stopWaiting()
            reject(refuse(text))
          },
        }
        const leave = () => waiter.giveUp('The caller has left')
        const timer = setTimeout(waiter.giveUp, limits.waitMs, refusal.text)
        left.addEventListener('abort', leave)
        waiters.add(waiter)
        count(1)
        if (left.aborted) leave()
      })
    },
  }
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
