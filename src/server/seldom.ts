/** What a scrape takes from the database is read once for all scrapes of this time. */
const readEveryMs = 15_000

/** @returns reads at most every 15 seconds; what was read last is told meanwhile, and while it can't be read. null: never read */
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
