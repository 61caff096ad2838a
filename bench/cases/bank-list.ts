/**
 * The bank's list of campaigns, compared with psql's `copy` of the same stored texts. The list is long because of many
 * campaigns, or because of long lists of terminals and segments. The case also measures how one and ten readers affect
 * the process and its other requests, and how long a read of the unchanged list takes.
 */
import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { atMost, type Bench, type Case, using } from '../bench.ts'
import { type CampaignPlatform, columnsOf, createCampaign, serveCampaigns } from '../campaigns.ts'
import { requireExpected, runLoad } from '../load.ts'
import { memoryOf, runProgram } from '../processes.ts'
import type { Read, Reading } from '../reader.ts'
import type { Figure } from '../report.ts'
import { compare, median } from '../rounds.ts'

const database = 'bench_bank_list'
const path = '/cashbacks/for-bank'
const program = fileURLToPath(new URL('../reader.ts', import.meta.url))
const targets = { total: 1.3, firstByteMs: 50, oneMb: 100, tenMb: 300, loopMs: 50, others: 2, unchangedMs: 2 }
const dayMs = 86_400_000
/** The time that the process with the readers needs to start and to begin its reads. */
const readersLeadMs = 500

/** A bank, and the size of its list. */
type List = { name: string; bank: number; campaigns: number; terminals: number; customers: number }

const lists = (quick: boolean): List[] => [
  { name: 'many campaigns', bank: 0, campaigns: quick ? 2_000 : 10_000, terminals: 50, customers: 0 },
  { name: 'long campaigns', bank: 1, campaigns: quick ? 20 : 200, terminals: 5_000, customers: 200_000 },
]

type Served = CampaignPlatform & { metricsUrl: string }

export const bankListCase: Case = {
  name: 'bank-list',
  async run(bench) {
    const metricsPort = await freePort()
    const settings = {
      METRICS_PORT: String(metricsPort),
      PENDING_CAMPAIGNS: '1000000',
      PENDING_CAMPAIGN_MIB: '1000000',
    }
    return using(serveCampaigns(bench, database, settings), async platform => {
      const served = { ...platform, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` }
      for (const list of lists(bench.quick)) await fill(bench, served, list)
      await bench.server.run(database, 'vacuum analyze', 'checkpoint')
      const figures: Figure[] = []
      for (const list of lists(bench.quick)) figures.push(...(await measure(bench, served, list)))
      return [...figures, await unchanged(bench, served)]
    })
  },
}

async function measure(bench: Bench, platform: Served, list: List): Promise<Figure[]> {
  const { name, campaigns, terminals } = list
  const said = `list of ${campaigns.toLocaleString('en')} campaigns of ${terminals.toLocaleString('en')} terminals`
  const rounds = bench.quick ? 3 : bench.rounds
  const one = async (headers: Record<string, string> = {}): Promise<Read> =>
    (await read(platform, list, { atOnce: 1, headers }))[0] as Read
  await one()
  await copyOut(bench, platform, list)
  const firstBytes: number[] = []
  let bytes = 0
  const compared = await compare(
    rounds,
    async () => {
      const { totalMs, firstByteMs, bytes: size } = await one()
      firstBytes.push(firstByteMs)
      bytes = size
      return totalMs / 1000
    },
    () => copyOut(bench, platform, list),
  )
  const figures: Figure[] = [
    {
      name: `${said} (${Math.round(bytes / 1e6)} MB), against psql's copy of the same texts`,
      ours: `${compared.ours.toFixed(2)} s`,
      limit: `${compared.limit.toFixed(2)} s`,
      ratio: compared.ratio,
      target: `<= ${targets.total}`,
      pass: compared.ratio <= targets.total,
    },
    atMost(`${name}: first byte`, median(firstBytes), 'ms', targets.firstByteMs),
    ...(await cost(bench, platform, list, { readers: 1, targetMb: targets.oneMb })),
    ...(await cost(bench, platform, list, { readers: 10, targetMb: targets.tenMb })),
  ]
  for (const coding of ['zstd', 'gzip', 'br']) {
    const { totalMs, firstByteMs, bytes: size } = await one({ 'Accept-Encoding': coding })
    const text = `${(totalMs / 1000).toFixed(2)} s, ${Math.round(size / 1e6)} MB, first byte ${Math.round(firstByteMs)} ms`
    figures.push({ name: `${name}: ${coding}`, ours: text, limit: '', ratio: null, target: '', pass: null })
  }
  return figures
}

async function read(
  { port, bankTokens }: Served,
  { bank }: List,
  how: Pick<Reading, 'atOnce' | 'headers' | 'seconds'>,
): Promise<Read[]> {
  const reading: Reading = { port, path, token: bankTokens[bank] ?? '', ...how }
  return JSON.parse(await runProgram(process.execPath, [program, JSON.stringify(reading)])) as Read[]
}

/**
 * Measures the limit: psql reads the same texts in the same order and discards them.
 * @returns seconds
 */
async function copyOut({ server }: Bench, { bankIds }: Served, { bank }: List): Promise<number> {
  if (!server.psql) throw new Error('psql is missing: install PostgreSQL (Debian: postgresql)')
  const copy = `copy (
    select c.card, b.participation, c.standing, c.terminals, s.customer_ids
    from campaign_banks b join campaigns c using (cashback_id)
    left join campaign_segments s on s.cashback_id = b.cashback_id and s.bank_id = b.bank_id
    where b.bank_id = '${bankIds[bank]}' order by b.created_at desc, b.cashback_id) to stdout (format binary)`
  const start = performance.now()
  const args = [
    '-X',
    '-h',
    server.socketFolder,
    '-p',
    String(server.port),
    '-U',
    'perkline',
    '-o',
    '/dev/null',
    '-c',
    copy,
  ]
  await runProgram(server.psql, [...args, database])
  return (performance.now() - start) / 1000
}

/** Measures how readers that read repeatedly at the same time affect the process and its other requests. */
async function cost(
  bench: Bench,
  platform: Served,
  list: List,
  { readers, targetMb }: { readers: number; targetMb: number },
): Promise<Figure[]> {
  const { pid } = platform.child
  const seconds = bench.seconds * 2
  const before = memoryOf(pid)
  let peakMb = 0
  const loopsMs: number[] = []
  const compared = await compare(
    bench.quick ? 1 : 5,
    async () => {
      // Resets the peak of the process's memory.
      await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
      await loopDelay(platform)
      const reading = read(platform, list, { atOnce: readers, seconds: seconds + readersLeadMs / 1000 })
      await sleep(readersLeadMs)
      const busyMs = await others(platform, seconds)
      loopsMs.push(await loopDelay(platform))
      await reading
      peakMb = Math.max(peakMb, memoryOf(pid).peakMb)
      return busyMs
    },
    () => others(platform, seconds),
  )
  const name = `${list.name}, ${readers === 1 ? 'a reader' : `${readers} readers at once`}`
  return [
    atMost(
      `${name}: growth of the process (${Math.round(before.nowMb)} MB before)`,
      peakMb - before.nowMb,
      'MB',
      targetMb,
    ),
    atMost(`${name}: p99 of the event loop's delay`, median(loopsMs), 'ms', targets.loopMs),
    {
      name: `${name}: p99 of other requests, against none`,
      ours: `${compared.ours.toFixed(1)} ms`,
      limit: `${compared.limit.toFixed(1)} ms`,
      ratio: compared.ratio,
      target: `<= ${targets.others}`,
      pass: compared.ratio <= targets.others,
    },
  ]
}

/**
 * Sends about 200 requests a second that do not read the bank's list.
 * @returns the 99th percentile of their times in milliseconds
 */
async function others({ port, bankTokens }: Served, seconds: number): Promise<number> {
  const load = { kind: 'get' as const, paths: ['/retailers'] }
  const job = { ports: [port], token: bankTokens[2] ?? null, connections: 2, seconds, load, pauseMs: 10 }
  const result = await runLoad(job)
  requireExpected(result)
  return result.answered.get?.p99Ms ?? Number.NaN
}

/** The 99th percentile of the event loop's delay since the last call, in milliseconds. */
async function loopDelay({ metricsUrl }: Served): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1]) * 1000
}

async function unchanged(bench: Bench, { port, bankTokens }: Served): Promise<Figure> {
  const token = bankTokens[0] ?? ''
  const head = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
  })
  const load = { kind: 'known' as const, path, etag: head.headers.get('etag') ?? '' }
  const medians: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    const result = await runLoad({ ports: [port], token, connections: 1, seconds: bench.seconds / 2, load })
    requireExpected(result)
    medians.push(result.answered.known?.p50Ms ?? Number.NaN)
  }
  return atMost('an unchanged list (304): median of a whole request', median(medians), 'ms', targets.unchangedMs)
}

/**
 * Makes copies of a campaign. Each copy stores a list of terminals and a segment. All copies have the same two lists,
 * but no two entries of a list are the same.
 */
async function fill(bench: Bench, platform: Served, { bank, campaigns, terminals, customers }: List): Promise<void> {
  const now = Date.now()
  const one = await createCampaign(platform, { dateFrom: new Date(now + dayMs), dateTo: new Date(now + 90 * dayMs) })
  const bankId = platform.bankIds[bank]
  const terminal = `format('{"terminal_id":"T-%s","terminal_name":"Shop %s of the grocer","terminal_location":"Kyiv, %s Street %s","merchant_id":"M-%s","merchant_name":"GROCER %s"}',
    i, i, md5(i::text), i % 300, i % 50, i)`
  await bench.server.run(
    database,
    `with texts as (
       select '[' || string_agg(${terminal}, ',') || ']' as terminals from generate_series(1, ${terminals}) i
     ), ids as (
       select n, gen_random_uuid() as id from generate_series(1, ${campaigns}) n
     ), copies as (
       insert into campaigns (${await columnsOf(platform.database, 'campaigns')})
       select ${await columnsOf(platform.database, 'campaigns', 'copy')}
       from campaigns c, texts t, ids, jsonb_populate_record(c, jsonb_build_object(
         'cashback_id', id, 'card', replace(c.card, c.cashback_id::text, id::text), 'terminals_platform', false,
         'terminals_count', ${terminals}, 'terminals', t.terminals, 'created_at', c.created_at - n * interval '1 minute')) copy
       where c.cashback_id = '${one}' returning cashback_id, created_at, status, date_to
     )
     insert into campaign_banks (cashback_id, bank_id, status, created_at, campaign_status, date_to)
     select cashback_id, '${bankId}', 'pending', created_at, status, date_to from copies`,
    `with texts as (
       select '[' || string_agg('"' || 10000000 + i || '"', ',') || ']' as ids from generate_series(1, ${customers}) i
     )
     insert into campaign_segments
     select cashback_id, bank_id, gen_random_uuid(), ${customers}, ids, now(), 'segment.csv'
     from campaign_banks, texts where bank_id = '${bankId}' and cashback_id <> '${one}' and ids is not null`,
  )
}
