/**
 * Measures the speed of ticks, which give the recorded events their numbers. It also compares how long it takes to read
 * pages of the feed and of the log of deliveries for an account with a million events and for one with ten thousand.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Database } from '../../src/db/database.ts'
import { type Bench, using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import type { Pages } from '../page-reader.ts'
import { timeToRead } from '../reading.ts'
import type { Figure } from '../report.ts'
import { compare, median } from '../rounds.ts'
import { deliverAll, numberAll, tellMany } from './filling.ts'

const accounts = 10
/**
 * The events of the smaller account. It is also the maximum that a filter without an index examines, so such a filter
 * examines equally many events in both accounts.
 */
const smallEvents = 10_000
const leastOfInsert = 0.5
const mostOfSmall = 2
const mostOfCopy = 2
const mostBetweenPages = 1.5
/**
 * A time in milliseconds that is fast enough even if the ratio is bad. The ratio of such short times is not reliable.
 */
const quickMs = 10

/** Numbers events in a database without a platform, compared with one insert of the same rows into a similar table. */
export async function measureTick(bench: Bench, database: Database, bankIds: readonly string[]): Promise<Figure> {
  const count = bench.quick ? 20_000 : 200_000
  await database.execute('create table plain_events (like events including all)')
  const { ours, limit, ratio } = await compare(
    bench.quick ? 1 : 3,
    async () => {
      await tellMany(database, bankIds, count)
      return rate(count, () => numberAll(database))
    },
    async () => {
      await database.execute('truncate plain_events')
      return rate(count, () =>
        database.dedicated(client =>
          client.query('insert into plain_events select * from events order by recorded_at desc limit $1', [count]),
        ),
      )
    },
  )
  return {
    name: `a tick: ${count.toLocaleString('en')} events of ${accounts} accounts, against an insert ... select of them`,
    ours: `${Math.round(ours)}/s`,
    limit: `${Math.round(limit)}/s`,
    ratio,
    target: `>= ${leastOfInsert}`,
    pass: ratio >= leastOfInsert,
  }
}

async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (count * 1_000) / (performance.now() - start)
}

type Side = { token: string; events: number; endpointId: string; eventId: string }

/** Measures reads of two accounts of one platform. One of them has many times more events than the other. */
export function measureReads(bench: Bench): Promise<Figure[]> {
  const large = bench.quick ? 100_000 : 1_000_000
  return using(serveCampaigns(bench, 'bench_feed', {}, 2), async platform => {
    const big = await fill(bench, platform, 0, large)
    const small = await fill(bench, platform, 1, smallEvents)
    await platform.database.dedicated(client => client.query('vacuum analyze'))
    return [...(await wholeFeed(bench, platform, big)), ...(await besideSmall(platform, big, small))]
  })
}

async function fill(bench: Bench, platform: CampaignPlatform, index: number, events: number): Promise<Side> {
  const { database, bankTokens, bankIds, call } = platform
  const token = bankTokens[index] ?? ''
  // The filter matches none of the events, so nothing is sent.
  const fields = { url: 'http://127.0.0.1:9/', eventTypes: ['order.*'] }
  const { body } = await call('POST', '/partner/v1/webhook-endpoints', token, fields)
  for (let told = 0; told < events; told += 100_000) {
    await tellMany(database, [bankIds[index] ?? ''], Math.min(100_000, events - told))
    await numberAll(database)
    bench.tell(`${told} events`)
  }
  await call('POST', `/partner/v1/webhook-endpoints/${body.endpointId}/disable`, token, {})
  await deliverAll(database, body.endpointId)
  const { body: page } = await call('GET', `/partner/v1/events?after=${Math.floor(events / 2)}&limit=1`, token)
  return { token, events, endpointId: body.endpointId, eventId: page.data[0].id }
}

/**
 * Compares reading the whole feed in pages of 1,000 events with psql, which copies the same texts. Also compares the first, a
 * middle and the last page with each other.
 */
async function wholeFeed(
  bench: Bench,
  { port, database, bankIds: [bankId = ''] }: CampaignPlatform,
  side: Side,
): Promise<Figure[]> {
  const pathOf = (after: number) => `/partner/v1/events?after=${after}&limit=1000`
  const page = (after: number) => timeToRead(port, side.token, pathOf(after))
  const pages = Array.from({ length: side.events / 1_000 }, (_, index) => pathOf(index * 1_000))
  const all = () => timeToReadAll({ port, token: side.token, paths: pages })
  // A new process compiles its code during the first thousand pages. They take up to twice as long as later ones.
  await all()
  const { ours, limit, ratio } = await compare(bench.quick ? 1 : 3, all, () => copyBodies(bench, database, bankId))
  const places = [0, Math.floor(side.events / 2), side.events - 1_000]
  // Each round reads the first, a middle and the last page, so that a change of the machine's speed affects all three.
  const rounds = await repeat(15, async () => {
    const round = []
    for (const after of places) round.push(await page(after))
    return round
  })
  const times = places.map((_, place) => median(rounds.map(round => round[place] ?? Number.NaN)))
  const spread = Math.max(...times) / Math.min(...times)
  return [
    {
      name: `${side.events.toLocaleString('en')} events, 1,000 a page, against psql copying their texts`,
      ours: `${(ours / 1_000).toFixed(2)} s`,
      limit: `${(limit / 1_000).toFixed(2)} s`,
      ratio,
      target: `<= ${mostOfCopy}`,
      pass: ratio <= mostOfCopy,
    },
    {
      name: 'first, middle and last page of 1,000, the slowest against the quickest',
      ours: `${Math.max(...times).toFixed(1)} ms`,
      limit: `${Math.min(...times).toFixed(1)} ms`,
      ratio: spread,
      target: `<= ${mostBetweenPages}`,
      pass: spread <= mostBetweenPages,
    },
  ]
}

async function timeToReadAll(pages: Pages): Promise<number> {
  const program = fileURLToPath(new URL('../page-reader.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(pages)])
  return JSON.parse(stdout)
}

async function copyBodies(bench: Bench, database: Database, bankId: string): Promise<number> {
  const [{ name } = { name: '' }] = await database.query<{ name: string }>('select current_database() as name')
  const text = `copy (select body from events where account_type = 'bank' and account_id = '${bankId}' order by sequence) to stdout`
  const { psql, socketFolder, port } = bench.server
  if (!psql) throw new Error('psql is missing: install PostgreSQL (Debian: postgresql)')
  const start = performance.now()
  const child = spawn(psql, ['-h', socketFolder, '-p', String(port), '-U', 'perkline', '-c', text, name], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`psql exits with ${code}`)
  return performance.now() - start
}

async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let n = 0; n < times; n++) results.push(await work())
  return results
}

const log = (query: string) => () => `/partner/v1/webhook-deliveries?limit=100${query}`
const reads: Record<string, (side: Side) => string> = {
  'feed, first page of 100': () => '/partner/v1/events?limit=100',
  'feed, last page of 100': ({ events }) => `/partner/v1/events?limit=100&after=${events - 100}`,
  'feed, a type that is not there': ({ events }) =>
    `/partner/v1/events?limit=100&type=order.*&after=${Math.max(0, events - 5_000)}`,
  'one event': ({ eventId }) => `/partner/v1/events/${eventId}`,
  'log, no filter': log(''),
  'log, endpoint': ({ endpointId }) => `/partner/v1/webhook-deliveries?limit=100&endpointId=${endpointId}`,
  'log, delivered': log('&state=delivered'),
  'log, endpoint and delivered': side => `${reads['log, endpoint']?.(side)}&state=delivered`,
  'log, endpoint and a state that none has': side => `${reads['log, endpoint']?.(side)}&state=pending`,
  'log, a state that none has': log('&state=skipped'),
  'log, a type that none has': log('&type=order.confirmed'),
  'log, one event': ({ eventId }) => `/partner/v1/webhook-deliveries?limit=100&eventId=${eventId}`,
  'log, an hour': log(`&from=${new Date(Date.now() - 3_600_000).toISOString()}`),
  endpoints: () => '/partner/v1/webhook-endpoints',
}

async function besideSmall({ port }: CampaignPlatform, big: Side, small: Side): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, pathOf] of Object.entries(reads)) {
    const time = (side: Side) => timeToRead(port, side.token, pathOf(side))
    await time(big)
    await time(small)
    const { ours, limit, ratio } = await compare(
      31,
      () => time(big),
      () => time(small),
    )
    figures.push({
      name: `${name}: ${big.events.toLocaleString('en')} against ${small.events.toLocaleString('en')} events`,
      ours: `${ours.toFixed(1)} ms`,
      limit: `${limit.toFixed(1)} ms`,
      ratio,
      target: `<= ${mostOfSmall}, or ${quickMs} ms`,
      pass: ratio <= mostOfSmall || ours <= quickMs,
    })
  }
  return figures
}
