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

/** How long one value may take. Prometheus waits only ten seconds for the whole page of metrics. */
const waitMs = 2_000

/**
 * @returns a function that reads a value, but returns null when reading takes longer than two seconds. The read then
 *   continues, and later calls wait for it. On a silent connection a read takes much longer, and the other metrics
 *   must not wait for it
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
