/** How metrics read values from the database: not too often, and not for too long. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'

/** How long a value that was read from the database is used for all scrapes of the metrics. */
const readEveryMs = 15_000

/**
 * @returns a function that reads at most every 15 seconds. In between, and while reading fails, it returns the last
 *   value; null when it was never read
 */
export function cached<T>(read: () => Promise<T>): () => Promise<T | null> {
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

/** How long one value may take. By default, Prometheus waits only ten seconds for the whole page of metrics. */
const waitMs = 2_000

/**
 * @returns a function that reads a value, but returns null when the read takes longer than two seconds. On a silent
 *   connection it takes much longer, and the other metrics must not wait for it. The read goes on, and calls that come
 *   meanwhile wait for the same read
 */
export function timeLimited<T>(read: () => Promise<T>): () => Promise<T | null> {
  let running: Promise<T> | null = null
  return () => {
    running ??= read().finally(() => {
      running = null
    })
    return Promise.race([running, sleep(waitMs, null, { ref: false })])
  }
}

type GaugeAs = { name: string; help: string; withoutAnswer?: number }

/**
 * Adds a gauge whose value is read for each collection. If the value is unknown, the gauge shows `withoutAnswer`.
 * Without `withoutAnswer`, it shows no value, because 0 would be wrong.
 */
export function addGauge(
  registers: Registry[],
  { name, help, withoutAnswer }: GaugeAs,
  read: () => Promise<number | null>,
): void {
  const readTimeLimited = timeLimited(read)
  new Gauge({
    name,
    help,
    registers,
    async collect() {
      const value = (await readTimeLimited().catch(() => null)) ?? withoutAnswer
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}
