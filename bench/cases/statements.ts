/**
 * Measures the closing of a day of 20 banks with its files, and compares it with one update of the same lines and an
 * insert of the same bytes. It also measures reservations during a closing, and downloads and look-ups of a bank's back
 * office.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock } from '../../src/clock.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { closeStatements } from '../../src/statements/closing.ts'
import { type Bench, type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import { requireExpected, runLoad } from '../load.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { measureBackOffice, officeParts } from '../statements/back-office.ts'
import { operatorCode, tariffCode } from '../world.ts'

const name = 'bench_statements'
const banks = 20
const mostTimes = 2.5
const othersMostTimes = 1.2

const closingParts: Record<string, (bench: Bench, database: Database) => Promise<Figure>> = {
  closing,
  beside: reserveBeside,
}

/** Measures statements. `--parts closing,orders-csv` measures only these two parts. */
export const statementsCase: Case = {
  name: 'statements',
  async run(bench) {
    const isChosen = (part: string) => bench.parts.length === 0 || bench.parts.includes(part)
    const figures = await measureClosing(bench, Object.keys(closingParts).filter(isChosen))
    return [...figures, ...(await measureBackOffice(bench, officeParts.filter(isChosen)))]
  },
}

async function measureClosing(bench: Bench, parts: readonly string[]): Promise<Figure[]> {
  if (parts.length === 0) return []
  await bench.server.create(name, (await bench.world()).template)
  const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 4 })
  try {
    const figures: Figure[] = []
    for (const [part, measure] of Object.entries(closingParts))
      if (parts.includes(part)) figures.push(await measure(bench, database))
    return figures
  } finally {
    await database.close()
  }
}

async function closing(bench: Bench, database: Database): Promise<Figure> {
  const lines = bench.quick ? 20_000 : 1_000_000
  const { ours, limit, ratio } = await compare(
    bench.quick ? 1 : 3,
    async () => {
      await makeLines(database, lines)
      return timed(async () => {
        while (await closeStatements({ database, clock: createClock() }, true));
      })
    },
    async () => {
      const files = await database.query<{ bytes: Buffer }>(
        'select bytes from statement_files order by statement_id, piece',
      )
      await makeLines(database, lines)
      await database.execute('create table if not exists plain_files (bytes bytea)')
      return timed(() => writePlainly(database, files))
    },
  )
  return {
    name: `closing ${lines.toLocaleString('en')} lines of ${banks} banks, against one update and an insert of the same bytes`,
    ours: `${(ours / 1000).toFixed(2)} s`,
    limit: `${(limit / 1000).toFixed(2)} s`,
    ratio,
    target: `<= ${mostTimes}`,
    pass: ratio <= mostTimes,
  }
}

/**
 * Measures reservations while the platform's job closes statements. For comparison, it also measures reservations while
 * nothing is closed. The database then has the same number of new lines, but they are not due yet.
 */
function reserveBeside(bench: Bench, database: Database): Promise<Figure> {
  const lines = bench.quick ? 20_000 : 200_000
  return using(serve(bench, name), async platform => {
    await reserve(bench, platform)
    const { ours, limit, ratio } = await compare(
      bench.rounds,
      async () => {
        await makeLines(database, lines)
        const p99 = await reserve(bench, platform)
        await untilClosed(database)
        return p99
      },
      async () => {
        await makeLines(database, lines, 'today')
        return reserve(bench, platform)
      },
    )
    return {
      name: `reservations while ${lines.toLocaleString('en')} lines of ${banks} banks are closed: p99, against none`,
      ours: `${ours.toFixed(1)} ms`,
      limit: `${limit.toFixed(1)} ms`,
      ratio,
      target: `<= ${othersMostTimes}`,
      pass: ratio <= othersMostTimes,
    }
  })
}

/**
 * Reserves for at least 6 seconds, because the job that closes statements runs every 5 seconds.
 * @returns the 99th percentile in milliseconds
 */
async function reserve(bench: Bench, { port, token }: Served): Promise<number> {
  const load = { kind: 'reserve' as const, operatorCode, tariffCode, prefix: freshPrefix() }
  const seconds = Math.max(6, bench.seconds)
  const result = await runLoad({ ports: [port], token, connections: 4, seconds, load, pauseMs: 5 })
  requireExpected(result)
  return result.answered.reserve?.p99Ms ?? Number.NaN
}

async function untilClosed(database: Database): Promise<void> {
  const isOpen = () => database.query('select 1 from statement_lines where statement_id is null limit 1')
  while ((await isOpen()).length > 0) await sleep(100)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Deletes all lines and statements, and makes lines of one day. A closing takes only lines of yesterday. */
async function makeLines(database: Database, count: number, day: 'today' | 'yesterday' = 'yesterday'): Promise<void> {
  await database.dedicated(async client => {
    await client.query('truncate statements, statement_lines, statement_files')
    await client.query(
      `insert into banks (bank_id, code, name, logo_url, api_version, status, esim_delivery_mode, esim_all_operators)
       select gen_random_uuid(), 'statements-' || n, 'Bank', '', '1.0', 'active', 'local', true from generate_series(1, $1) n
       on conflict (code) do nothing`,
      [banks],
    )
    await client.query(
      `insert into statement_lines (order_id, bank_id, external_id, tariff_id, tariff_name, confirmed_at, currency, amount)
       select gen_random_uuid(), b.bank_id, 'payment-' || n, (select min(tariff_id) from tariffs), 'Europe 10 GB',
              date_trunc('day', now(), 'UTC') + interval '1 day' * (random() - $3), 'UAH', 399
       from generate_series(1, $1::int / $2::int) n cross join (select bank_id from banks where code like 'statements-%') b`,
      [count, banks, day === 'yesterday' ? 1 : 0],
    )
    await client.query('analyze statement_lines')
  })
}

async function writePlainly(database: Database, files: { bytes: Buffer }[]): Promise<void> {
  await database.dedicated(async client => {
    await client.query('begin')
    await client.query(
      `update statement_lines l set statement_id = bank_id, line = n.line
       from (select order_id, row_number() over (partition by bank_id order by confirmed_at)::int as line from statement_lines) as n
       where n.order_id = l.order_id`,
    )
    for (const { bytes } of files) await client.query('insert into plain_files values ($1)', [bytes])
    await client.query('commit')
  })
}
