/**
 * Readers that wait for the next event of their account (long polls). A waiting reader holds no database connection:
 * after each run that has numbered events, one query finds out whose feed has grown.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '../caller.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findLasts } from './feed-store.ts'

/** The maximum number of waiting requests of one account in one process. */
const maxWaiting = 4

export type FeedWaiters = {
  /**
   * Waits until the account's feed has an event after `after`, for at most `ms`, or until `signal` aborts or the
   * process stops.
   *
   * @returns false when the wait ended without such an event
   */
  wait(account: Account, after: number, ms: number, signal: AbortSignal): Promise<boolean>
  /**
   * Counts a request as one of the account's waiting requests, however often it waits.
   *
   * @returns a function after which the request is no longer counted
   * @throws DomainError 'too-many' when `maxWaiting` requests of the account are waiting
   */
  take(account: Account): () => void
  /** Wakes the readers whose feeds have grown. */
  wake(): Promise<void>
  /** The number of waiting requests. */
  count(): number
  /** Ends all waits, current and future, because the process stops. */
  stop(): void
}

type Waiter = { account: Account; after: number; wake(): void }

export function createFeedWaiters(database: Queryable): FeedWaiters {
  const waiters = new Set<Waiter>()
  const places = new Map<string, number>()
  const stopping = new AbortController()

  const look = createSharedRead(async () => {
    const accounts = [...new Map([...waiters].map(({ account }) => [keyOf(account), account])).values()]
    if (accounts.length === 0) return new Map<string, number>()
    const lasts = await findLasts(database, accounts)
    return new Map(accounts.map((account, index) => [keyOf(account), lasts[index] ?? 0]))
  })

  const wake = async () => {
    const lasts = await look()
    for (const waiter of waiters) if ((lasts.get(keyOf(waiter.account)) ?? 0) > waiter.after) waiter.wake()
  }
  return {
    wake,
    take(account) {
      const key = keyOf(account)
      const taken = places.get(key) ?? 0
      if (taken >= maxWaiting)
        throw new DomainError('too-many', `${maxWaiting} requests of this account are waiting already`, {
          retryAfterSeconds: 1,
        })
      places.set(key, taken + 1)
      return () => {
        const left = (places.get(key) ?? 1) - 1
        if (left === 0) places.delete(key)
        else places.set(key, left)
      }
    },
    async wait(account, after, ms, left) {
      const ended = new AbortController()
      const waiter = { account, after, wake: () => ended.abort('woken') }
      waiters.add(waiter)
      try {
        // Check once more after registering: an event may have been numbered after the reader last read the feed, but
        // before it was registered here. No call of `wake` has reported that event to this reader.
        await wake()
        const signal = AbortSignal.any([ended.signal, stopping.signal, left])
        await sleep(ms, undefined, { signal }).catch((error: Error) => {
          if (error.name !== 'AbortError') throw error
        })
        return ended.signal.aborted
      } finally {
        waiters.delete(waiter)
      }
    },
    count: () => waiters.size,
    stop: () => stopping.abort(),
  }
}

const keyOf = ({ type, id }: Account): string => `${type} ${id}`
