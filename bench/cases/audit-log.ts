/**
 * Three measurements of the audit log: chaining entries, compared with one `insert ... select` of the same entries; how
 * much the log slows down a bank's confirms; and `audit-log verify`, compared with `sha256sum`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chainEntries } from '../../src/audit-log/chain-store.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { writeChain } from '../audit-chain.ts'
import { type Bench, type Case, runParts, using } from '../bench.ts'
import { type CampaignPlatform, serveCampaigns } from '../campaigns.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { confirmFor, createCampaigns } from './bank-confirm.ts'

const name = 'bench_audit_log'
const accounts = 50
const leastRatio = 0.4
const leastRate = 2_000
const mostVerifyRatio = 4
const leastConfirms = 0.9
const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))

const parts: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  chaining: withDatabase,
  confirms: async bench => [await confirming(bench)],
  verify: async bench => [await verifying(bench)],
}

/** Measures the audit log. The option `--parts chaining,verify`, for example, measures only these two parts. */
export const auditLogCase: Case = {
  name: 'audit-log',
  run: bench => runParts(bench, parts),
}

async function withDatabase(bench: Bench): Promise<Figure[]> {
  await bench.server.create(name, (await bench.world()).template)
  const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 4 })
  try {
    return await chaining(bench, database)
  } finally {
    await database.close()
  }
}

/** Measures a bank's confirms over HTTP, compared with the same confirms on a platform without the log. */
async function confirming(bench: Bench): Promise<Figure> {
  const without = { NODE_OPTIONS: `--import=${fileURLToPath(new URL('../without-audit-log.ts', import.meta.url))}` }
  const { ours, limit, ratio } = await using(serveCampaigns(bench, `${name}_with`), one =>
    using(serveCampaigns(bench, `${name}_without`, without), async other => {
      const confirms = (platform: CampaignPlatform, database: string) => {
        const campaigns = createCampaigns(bench, platform, database)
        return (seconds: number) => confirmFor(seconds, { bench, platform, campaigns })
      }
      const [withLog, withoutLog] = [confirms(one, `${name}_with`), confirms(other, `${name}_without`)]
      await withLog(2)
      await withoutLog(2)
      await requireEntries(one, true)
      await requireEntries(other, false)
      return compare(
        bench.rounds,
        () => withLog(bench.seconds),
        () => withoutLog(bench.seconds),
      )
    }),
  )
  return {
    name: 'a bank confirms campaigns over HTTP, with the audit log against without',
    ours: `${Math.round(ours)}/s`,
    limit: `${Math.round(limit)}/s`,
    ratio,
    target: `>= ${leastConfirms}`,
    pass: ratio >= leastConfirms,
  }
}

/**
 * Checks that a platform with the log has written entries about confirms, or that a platform without the log has not.
 */
async function requireEntries({ database }: CampaignPlatform, areExpected: boolean): Promise<void> {
  const [row] = await database.query<{ found: boolean }>(
    `select exists (select from outbox where kind = 'audit' and data ->> 'action' = 'campaign.confirm') as found`,
  )
  if (row?.found !== areExpected) throw new Error(`entries of confirms: ${row?.found}, not ${areExpected}`)
}

async function chaining(bench: Bench, database: Database): Promise<Figure[]> {
  const entries = bench.quick ? 20_000 : 200_000
  await database.execute('create table plain_log (like audit_log including all)')
  const { ours, limit, ratio } = await compare(
    bench.quick ? 1 : 5,
    async () => {
      await tell(database, entries)
      return rateOf(entries, async () => {
        while (await chainEntries(database, true));
      })
    },
    () => rateOf(entries, () => insertPlainly(database, entries)),
  )
  const shown = { ours: `${Math.round(ours)}/s`, limit: `${Math.round(limit)}/s` }
  const what = `chaining ${entries.toLocaleString('en')} entries of ${accounts} accounts`
  return [
    {
      name: `${what}, against an insert ... select of them`,
      ...shown,
      ratio,
      target: `>= ${leastRatio}`,
      pass: ratio >= leastRatio,
    },
    {
      name: `${what}, a second`,
      ours: shown.ours,
      limit: `${leastRate}/s`,
      ratio: ours / leastRate,
      target: '>= 1',
      pass: ours >= leastRate,
    },
  ]
}

/** Measures the command that verifies a file of the log, and compares it with `sha256sum` of the same file. */
async function verifying(bench: Bench): Promise<Figure> {
  const file = join(bench.folder, 'audit-log.jsonl')
  const entries = bench.quick ? 1_000_000 : 10_000_000
  const bytes = await writeChain(file, entries)
  bench.tell(`${entries} entries, ${Math.round(bytes / 1e6)} MB`)
  const start = await secondsOf(program, ['--version'])
  const { ours, limit, ratio } = await compare(
    1,
    // The time to start the process is subtracted, because it does not matter for a log of years.
    async () => (await secondsOf(program, ['audit-log', 'verify', '--file', file])) - start,
    () => secondsOf('sha256sum', [file]),
  )
  await rm(file)
  return {
    name: `audit-log verify of ${entries.toLocaleString('en')} entries, against sha256sum`,
    ours: `${ours.toFixed(2)} s`,
    limit: `${limit.toFixed(2)} s`,
    ratio,
    target: `<= ${mostVerifyRatio}`,
    pass: ratio <= mostVerifyRatio,
  }
}

/** Runs a program, which must succeed, and returns how many seconds it took. */
async function secondsOf(command: string, args: readonly string[]): Promise<number> {
  const begun = performance.now()
  const [code] = await once(spawn(command, args, { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} exits with ${code}`)
  return (performance.now() - begun) / 1000
}

async function rateOf(entries: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (entries * 1000) / (performance.now() - start)
}

/** Adds entries that are not chained yet. */
async function tell(database: Database, count: number): Promise<void> {
  await database.dedicated(client =>
    client.query(
      `insert into outbox (kind, account_type, account, data)
       select 'audit', 'bank', lpad(to_hex(n % $2), 32, '0')::uuid, jsonb_build_object('at', instant_text(now()),
         'actor', jsonb_build_object('type', 'system', 'id', 'pk_' || n % 7), 'via', 'api', 'action', 'credential.issued',
         'object', jsonb_build_object('type', 'credential', 'id', 'pk_' || n), 'outcome', 'done',
         'change', '{"role":[null,"ADMIN"],"label":[null,"Core"]}'::jsonb, 'requestId', gen_random_uuid(), 'address', '192.0.2.1')
       from generate_series(1, $1::int) as n`,
      [count, accounts],
    ),
  )
}

/** Inserts copies of the log's newest entries into a plain table with the same indexes. */
async function insertPlainly(database: Database, count: number): Promise<void> {
  await database.dedicated(async client => {
    await client.query('truncate plain_log')
    await client.query('insert into plain_log select * from audit_log order by seq desc limit $1', [count])
  })
}
