/**
 * Long reads take turns: a few at a time share the processor and the memory, none of the banks can take all of them, and the others
 * wait for a bounded time.
 */
import { DomainError } from '../errors.ts'

export type TurnLimits = {
  atOnce: number
  /** Of these, for one bank. */
  perBank: number
  waiting: number
  waitMs: number
}

export type Turns = {
  /**
   * Waits for a turn.
   *
   * @returns ends it
   * @throws DomainError 'unavailable' when too many wait, none came in time, or the reader left
   */
  take(bankId: string, left: AbortSignal): Promise<() => void>
}

type Waiter = { bankId: string; start(): void }

const refusal = (text: string) => new DomainError('unavailable', text, { retryAfterSeconds: 10 })

export function createTurns(limits: TurnLimits): Turns {
  const running: string[] = []
  const waiters = new Set<Waiter>()

  const isFree = (bankId: string): boolean =>
    running.length < limits.atOnce && running.filter(other => other === bankId).length < limits.perBank
  const begin = (bankId: string): (() => void) => {
    running.push(bankId)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      running.splice(running.indexOf(bankId), 1)
      for (const waiter of waiters) if (isFree(waiter.bankId)) waiter.start()
    }
  }

  return {
    async take(bankId, left) {
      if (isFree(bankId)) return begin(bankId)
      if (waiters.size >= limits.waiting) throw refusal('Too many lists are being read: try again in a moment')
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
        const leave = () => giveUp('The reader has left')
        const waiter: Waiter = {
          bankId,
          start() {
            stopWaiting()
            resolve(begin(bankId))
          },
        }
        const timer = setTimeout(giveUp, limits.waitMs, 'Other lists are still being read: try again in a moment')
        left.addEventListener('abort', leave)
        waiters.add(waiter)
        if (left.aborted) leave()
      })
    },
  }
}
