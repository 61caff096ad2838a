/**
 * Long work takes turns: a little of it at a time shares the processor, the memory and the connections, none of the partners can take
 * all of it, and the others wait for a bounded time.
 */
import { DomainError } from './errors.ts'

export type TurnLimits = {
  atOnce: number
  /** Of these, for one partner. */
  perPartner: number
  waiting: number
  waitMs: number
}

export type Turns = {
  /**
   * Waits for a turn.
   *
   * @returns ends it
   * @throws DomainError 'unavailable' when too many wait, none came in time, or the caller left
   */
  take(partnerId: string, left: AbortSignal): Promise<() => void>
}

type Waiter = { partnerId: string; start(): void }

const refusal = (text: string) => new DomainError('unavailable', text, { retryAfterSeconds: 10 })

/** @param busy says to whom is refused what keeps the others */
export function createTurns(limits: TurnLimits, busy: string): Turns {
  const running: string[] = []
  const waiters = new Set<Waiter>()

  const isFree = (partnerId: string): boolean =>
    running.length < limits.atOnce && running.filter(other => other === partnerId).length < limits.perPartner
  const begin = (partnerId: string): (() => void) => {
    running.push(partnerId)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      running.splice(running.indexOf(partnerId), 1)
      for (const waiter of waiters) if (isFree(waiter.partnerId)) waiter.start()
    }
  }

  return {
    async take(partnerId, left) {
      if (isFree(partnerId)) return begin(partnerId)
      if (waiters.size >= limits.waiting) throw refusal(busy)
      return new Promise((resolve, reject) => {
        const stopWaiting = () => {
          waiters.delete(waiter)
          clearTimeout(timer)
          left.removeEventListener('abort', leave)
        }
        const giveUp = (text: string) => {
          stopWaiting()
          reject(refusal(text))
        }
        const leave = () => giveUp('The caller has left')
        const waiter: Waiter = {
          partnerId,
          start() {
            stopWaiting()
            resolve(begin(partnerId))
          },
        }
        const timer = setTimeout(giveUp, limits.waitMs, busy)
        left.addEventListener('abort', leave)
        waiters.add(waiter)
        if (left.aborted) leave()
      })
    },
  }
}
