import { setTimeout as sleep } from 'node:timers/promises'

/** How long a value that metrics read from the database is reused for all scrapes. */
const readEveryMs = 15_000

/**
 * @returns a function that reads at most every 15 seconds. In between, and while reading fails, it returns the last
 *   value; null when it was never read
 */
export function seldom<T>(read: () => Promise<T>): () => Promise<T | null> {
  let readAtMs = Number.NEGATIVE_INFINITY
  let known: Promise<T | null> = Promise.resolve(null)
  return () => {
    if (performance.now() - readAtMs < readEveryMs) return known
    readAtMs = performance.now()
    const before = known
    known = read().catch(() => before)
    return known
  }
}

/** Prometheus waits ten seconds for the whole page. */
const waitMs = 2_000

/**
 * @returns a function that waits at most two seconds, and then returns null. A connection that has fallen silent answers much later, and
 *   the other metrics are needed most then. The read goes on, and later calls wait for the same one
 */
export function inTime<T>(read: () => Promise<T>): () => Promise<T | null> {
  let running: Promise<T> | null = null
  return () => {
    running ??= read().finally(() => {
      running = null
    })
    return Promise.race([running, sleep(waitMs, null, { ref: false })])
  }
}
