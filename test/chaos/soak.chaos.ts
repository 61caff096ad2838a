/**
 * One process under an even load of everything, for CHAOS_SECONDS. Its memory, descriptors and connections must not
 * keep growing. `npm run chaos -- soak` runs for an hour.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { proveBooks } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { startWorld, type World } from '../support/world.ts'

const durationMs = Number(process.env.CHAOS_SECONDS ?? 3_600) * 1_000
const profiles = 150_000
const requestsPerSecond = 100
/** Growth at the beginning does not count, because caches (of orders, plans, connections) fill up first. */
const warmUpMs = Math.min(600_000, durationMs / 2)
const lookEveryMs = 2_000
const mostUnderWay = 300

const mebibyte = 1024 * 1024
/** The allowed growth of each value in 10 minutes. Resident memory also varies by itself, so it may grow more. */
const bounds: Record<string, { metric: string; unit: number; most: number }> = {
  'heap, MiB': { metric: 'nodejs_heap_size_used_bytes', unit: mebibyte, most: 1 },
  'external, MiB': { metric: 'nodejs_external_memory_bytes', unit: mebibyte, most: 1 },
  'resident, MiB': { metric: 'process_resident_memory_bytes', unit: mebibyte, most: 3 },
  descriptors: { metric: 'process_open_fds', unit: 1, most: 2 },
  connections: { metric: 'perkline_database_connections', unit: 1, most: 2 },
}
type Sample = { minutes: number; values: Record<string, number> }

test(`${requestsPerSecond} requests a second: nothing grows without end`, async () => {
  const metricsPort = await freePort()
  const settings = { METRICS_PORT: String(metricsPort), LOG_LEVEL: 'warn' }
  const world = await startWorld({ processes: 1, profiles, seed: 8_301, settings })
  try {
    const samples: Sample[] = []
    const startedMs = performance.now()
    const goesOn = () => performance.now() - startedMs < durationMs
    const loading = load(world, goesOn)
    while (goesOn()) {
      await sleep(lookEveryMs)
      const minutes = (performance.now() - startedMs) / 60_000
      const values = await look(metricsPort)
      if (!values) continue
      if (Math.floor(minutes) > Math.floor(samples.at(-1)?.minutes ?? 0)) console.log(told(minutes, values))
      samples.push({ minutes, values })
    }
    const answers = await loading
    console.log(JSON.stringify(answers))
    await proveBooks(world.database, new Date())
    report(samples)
  } finally {
    await world.close()
  }
})

/**
 * Sends requests at fixed times, however long each takes.
 * @returns the answers by status
 */
async function load(world: World, goesOn: () => boolean): Promise<Record<string, number>> {
  const ask = await requests(world)
  const counts: Record<string, number> = {}
  const underWay = new Set<Promise<void>>()
  const startedMs = performance.now()
  for (let n = 0; goesOn(); n++) {
    const dueMs = startedMs + (n * 1_000) / requestsPerSecond
    const earlyMs = dueMs - performance.now()
    if (earlyMs > 0) await sleep(earlyMs)
    if (underWay.size >= mostUnderWay) await Promise.race(underWay)
    const asked = ask(n).then(
      answer => {
        counts[answer.status] = (counts[answer.status] ?? 0) + 1
      },
      () => {
        counts.broken = (counts.broken ?? 0) + 1
      },
    )
    underWay.add(asked)
    void asked.then(() => underWay.delete(asked))
  }
  await Promise.all(underWay)
  return counts
}

type Ask = () => Promise<{ status: number }>

/**
 * Of 100 requests: 20 reserve, 10 confirm, 8 cancel, 30 read one of the last orders; the rest are other reads and
 * tokens.
 */
async function requests(world: World): Promise<(n: number) => Promise<{ status: number }>> {
  const last: string[] = []
  const bank = world.at(0)
  const [platform] = world.processes
  assert.ok(platform)
  const credential = await platform.admin('POST', '/credentials', { bank: 'alpha', role: 'ADMIN', label: 'soak' })
  const newOrder = async () => {
    const answer = await bank.reserve(`soak-${randomInt(2 ** 47)}`)
    if (answer.status === 201) last.push(answer.body.orderId)
    if (last.length > 2_000) last.shift()
    return answer
  }
  const onOne = (act: (orderId: string) => Promise<{ status: number }>) => {
    const orderId = last[randomInt(Math.max(1, last.length))]
    return orderId === undefined ? newOrder() : act(orderId)
  }
  const getToken = () => platform.call('POST', '/getToken/auth', { body: credential })
  const read = (path: string) => () => platform.call('GET', path, { token: world.tokens.alpha })
  const mix: [number, Ask][] = [
    [20, newOrder],
    [10, () => onOne(bank.confirm)],
    [8, () => onOne(bank.cancel)],
    [30, () => onOne(bank.read)],
    [10, bank.operators],
    [8, () => bank.tariffs()],
    [4, () => onOne(bank.qr)],
    [4, read('/cashbacks/for-bank')],
    [2, read('/portal/esim/orders?status=reserved')],
    [1, read('/portal/esim/sales')],
    [1, read('/portal/home')],
    [1, read('/portal/session')],
    [1, getToken],
  ]
  const plan = mix.flatMap(([times, ask]) => Array.from({ length: times }, () => ask))
  // The step has no divisor in common with 100, so that the kinds of requests alternate.
  return n => (plan[(n * 37) % plan.length] ?? newOrder)()
}

const told = (minutes: number, values: Sample['values']): string =>
  [`${minutes.toFixed(0)} min`, ...Object.entries(values).map(([name, value]) => `${name} ${value.toFixed(1)}`)].join(
    ', ',
  )

/** @returns null when the machine is too busy to answer */
async function look(port: number): Promise<Sample['values'] | null> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) }).then(
    answer => answer.text(),
    () => null,
  )
  if (text === null) return null
  const sumOf = (metric: string) =>
    text
      .split('\n')
      .filter(line => (line.startsWith(`${metric} `) || line.startsWith(`${metric}{`)) && !line.includes('waiting'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return Object.fromEntries(Object.entries(bounds).map(([name, { metric, unit }]) => [name, sumOf(metric) / unit]))
}

function report(samples: readonly Sample[]): void {
  const later = samples.filter(({ minutes }) => minutes * 60_000 >= warmUpMs)
  const grown: string[] = []
  for (const [name, { most }] of Object.entries(bounds)) {
    const points = lowest(later, name)
    const { slope, error } = fit(points)
    const [first, end] = [samples[0]?.values[name] ?? 0, later.at(-1)?.values[name] ?? 0]
    const told = `${name}: ${first.toFixed(1)} to ${end.toFixed(1)}; ${(slope * 10).toFixed(2)} ± ${(error * 10).toFixed(2)} in 10 minutes`
    console.log(told)
    // The growth counts only if it is larger than random variation.
    if ((slope - 2 * error) * 10 > most) grown.push(told)
  }
  assert.deepEqual(grown, [])
}

/** The lowest value of each half minute. Higher values of memory include garbage that has not been collected yet. */
function lowest(samples: readonly Sample[], name: string): { x: number; y: number }[] {
  const byTime = Map.groupBy(samples, ({ minutes }) => Math.floor(minutes * 2))
  return [...byTime].map(([half, some]) => ({
    x: half / 2,
    y: Math.min(...some.map(({ values }) => values[name] ?? 0)),
  }))
}

/** Fits a line to the points by least squares. @returns its slope per minute, and the standard error of the slope */
function fit(points: readonly { x: number; y: number }[]): { slope: number; error: number } {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))]
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  return { slope, error: Math.sqrt(rest / Math.max(1, points.length - 2) / spread) }
}
