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
