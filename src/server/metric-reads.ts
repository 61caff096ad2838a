/** How metrics read values from the database: not too often, and not for too long. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { FailureLog } from './failure-log.ts'

/**
 * How long a value is reused after it was read from the database. Meanwhile all scrapes of the metrics get this value.
 */
const readEveryMs = 15_000
/** How long the last value is used while reading fails. After that, the metric has no value, so that alerts notice. */
const keptMs = 5 * 60_000
/**
 * How long a scrape waits for a read. It is shorter than `waitMs`, so that a slow read shows the last value instead of
 * no value.
 */
const readWithinMs = 1_500

/**
 * @param name the name of the metric, for the log
 * @returns a function that reads at most every 15 seconds and returns the last value in between. It also returns the
 *   last value while reading fails or takes long, but for 5 minutes at most; null when there is no value
 */
export function cached<T>(name: string, log: FailureLog, read: () => Promise<T>): () => Promise<T | null> {
  let begunAtMs = Number.NEGATIVE_INFINITY
  let readAtMs = Number.NEGATIVE_INFINITY
  let value: T | null = null
  let running: Promise<void> | null = null
  const readAgain = async () => {
    try {
      value = await read()
      readAtMs = performance.now()
      log.succeeded(name)
    } catch (error) {
      log.failed(name, error)
    } finally {
      running = null
    }
  }
  return async () => {
    if (running === null && performance.now() - begunAtMs >= readEveryMs) {
      begunAtMs = performance.now()
      running = readAgain()
    }
    if (running !== null) await Promise.race([running, sleep(readWithinMs, null, { ref: false })])
    return performance.now() - readAtMs > keptMs ? null : value
  }
}

/** How long one value may take. By default, Prometheus waits only ten seconds for the whole page of metrics. */
const waitMs = 2_000

/**
 * @returns a function that reads a value, or returns null if the read takes longer than two seconds. If the database
 * does not answer, a read takes much longer, and the other metrics must not wait for it. A late read continues, and
 * later calls wait for this read instead of starting another
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
 * Adds a gauge whose value is read for each collection. If the value is unknown, the gauge shows `withoutAnswer`. If
 * `withoutAnswer` is not given, the gauge shows no value, because 0 would be wrong.
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
