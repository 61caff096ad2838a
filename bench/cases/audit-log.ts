/**
 * Numbering and chaining entries of the audit log, compared with one `insert ... select` of the same entries into a
 * similar table.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chainEntries } from '../../src/audit-log/chain-store.ts'
import { readLines } from '../../src/audit-log/lines-store.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Bench, Case } from '../bench.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'

const name = 'bench_audit_log'
const accounts = 50
const leastRatio = 0.4
const leastRate = 2_000
const mostVerifyRatio = 4
const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))

export const auditLogCase: Case = {
  name: 'audit-log',
  async run(bench) {
    await bench.server.create(name, (await bench.world()).template)
    const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 4 })
    try {
      return [...(await chaining(bench, database)), await verifying(bench, database)]
    } finally {
      await database.close()
    }
  },
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

/** The command that verifies a file of the log, compared with the system's checksum of the same bytes. */
async function verifying(bench: Bench, database: Database): Promise<Figure> {
  const file = join(bench.folder, 'audit-log.jsonl')
  const entries = await writeLog(database, file)
  const start = await secondsOf(program, ['--version'])
  const { ours, limit, ratio } = await compare(
    bench.rounds,
    // For a log of years, the start of the process does not matter.
    async () => (await secondsOf(program, ['audit-log', 'verify', '--file', file])) - start,
    () => secondsOf('sha256sum', [file]),
  )
  return {
    name: `audit-log verify of ${entries.toLocaleString('en')} entries, against sha256sum`,
    ours: `${ours.toFixed(2)} s`,
    limit: `${limit.toFixed(2)} s`,
    ratio,
    target: `<= ${mostVerifyRatio}`,
    pass: ratio <= mostVerifyRatio,
  }
}

async function writeLog(database: Database, file: string): Promise<number> {
  const out = await open(file, 'w')
  let entries = 0
  try {
    for await (const lines of readLines(database, null, { from: null, until: null })) {
      const text = lines.map(({ seq, entry, accountHash, hash }) =>
        JSON.stringify({ seq, entry, accountHash: accountHash.toString('hex'), hash: hash.toString('hex') }),
      )
      await out.write(`${text.join('\n')}\n`)
      entries += lines.length
    }
  } finally {
    await out.close()
  }
  return entries
}

/** How long a program runs; it must succeed. */
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

/** Entries that are not chained yet. */
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

/** The newest entries of the log, with the same indexes. */
async function insertPlainly(database: Database, count: number): Promise<void> {
  await database.dedicated(async client => {
    await client.query('truncate plain_log')
    await client.query('insert into plain_log select * from audit_log order by seq desc limit $1', [count])
  })
}
