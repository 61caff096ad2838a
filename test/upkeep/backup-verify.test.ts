/**
 * `perkline backup verify` checks a restored copy, and names what is wrong with it (contract/production.md, "Backup").
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { perkline } from '../support/command.ts'
import { openPerson, setUpTotp } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
/** A copy of the platform's database to which nobody is connected, so that further copies can be made of it. */
let frozenUrl: string
let first: TestPlatform
let masterKey: string
before(async () => {
  first = await startPlatform()
  platform = first
  masterKey = platform.config.masterKeys[0]?.toString('base64') ?? ''
  await platform.addStock('kyivstar', 'eu-10gb', 40)
  const token = await platform.bankToken()
  for (let index = 0; index < 12; index++) {
    const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: `copy-${index}` }
    const { orderId } = (await platform.call('POST', '/esim/v1/orders', { token, body })).body
    if (index % 2 === 0) await platform.call('POST', `/esim/v1/orders/${orderId}/confirm`, { token, body: {} })
  }
  await setUpTotp(await openPerson(platform, { bank: 'alpha' }, 'VIEWER'))
  // After two days the sales are added to the figures, and the statement of their day is closed.
  assert.equal((await first.call('POST', '/sandbox/clock', { body: { advance: 'P2DT1M' } })).status, 200)
  // PostgreSQL copies a database only if nobody is connected to it. So this platform is closed, and another one is
  // started afterwards.
  await first.platform.close()
  const source = new URL(first.databaseUrl)
  const name = `${source.pathname.slice(1)}_frozen`
  await run(
    Object.assign(new URL(source), { pathname: '/postgres' }).href,
    `create database ${name} template ${source.pathname.slice(1)}`,
  )
  frozenUrl = Object.assign(new URL(source), { pathname: `/${name}` }).href
  platform = await first.sibling()
})
after(async () => {
  await platform.close()
  const admin = Object.assign(new URL(frozenUrl), { pathname: '/postgres' }).href
  for (const url of [frozenUrl, first.databaseUrl])
    await run(admin, `drop database ${new URL(url).pathname.slice(1)} with (force)`)
  await rm(first.dataDir, { recursive: true, force: true })
})

type Report = {
  ok: boolean
  checks: { name: string; ok: boolean; detail: string }[]
  newest: Record<string, { at: string; ageSeconds: number } | null>
  counts: { table: string; rows: number }[]
  durationSeconds: number
}

/** Makes a copy of the platform's database that no platform uses. */
async function openCopy(): Promise<{ url: string; run(sql: string): Promise<void>; close(): Promise<void> }> {
  const name = `perkline_test_copy_${process.pid}_${randomBytes(6).toString('hex')}`
  const url = Object.assign(new URL(frozenUrl), { pathname: `/${name}` }).href
  const asAdmin = (sql: string) => run(Object.assign(new URL(frozenUrl), { pathname: '/postgres' }).href, sql)
  await asAdmin(`create database ${name} template ${new URL(frozenUrl).pathname.slice(1)}`)
  return { url, run: sql => run(url, sql), close: () => asAdmin(`drop database ${name} with (force)`) }
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

async function verify(url: string, args: string[] = [], env: Record<string, string> = {}) {
  const told = await perkline(['backup', 'verify', '--database-url', url, '--json', ...args], {
    env: { MASTER_KEY: masterKey, OPERATOR_KEY: '', ...env },
  })
  return { ...told, report: (told.stdout === '' ? null : JSON.parse(told.stdout)) as Report | null }
}

const failing = (report: Report | null): string[] => report?.checks.flatMap(({ name, ok }) => (ok ? [] : name)) ?? []

test('a correct copy: exit code 0, with its newest records and the counts of its tables', async () => {
  const copy = await openCopy()
  try {
    const { code, report, stderr } = await verify(copy.url)
    assert.equal(code, 0, stderr)
    assert.ok(report?.ok)
    assert.deepEqual(Object.keys(report), ['ok', 'checks', 'newest', 'counts', 'durationSeconds'])
    assert.deepEqual(Object.keys(report.checks[0] ?? {}), ['name', 'ok', 'detail'])
    const names = report.checks.map(({ name }) => name)
    assert.deepEqual([names[0], names[1], ...names.slice(-2)], ['schema', 'master-key', 'newest', 'counts'])
    assert.match(report.checks[1]?.detail ?? '', /opens 40 profiles .* secrets of 1 authenticator apps/)
    assert.ok(names.includes('live-orders'), `the checks of the audit: ${names}`)
    // Ages are measured by the sandbox's clock, which was moved by two days after the sales.
    assert.ok(report.newest.order && report.newest.order.ageSeconds < 3 * 86_400)
    assert.equal(report.counts.find(({ table }) => table === 'orders')?.rows, 12)
    assert.equal((await verify(copy.url)).code, 0, 'it was not changed')
  } finally {
    await copy.close()
  }
})

test('a copy whose transactions are read-only by default is checked', async () => {
  const copy = await openCopy()
  try {
    await copy.run(`alter database ${new URL(copy.url).pathname.slice(1)} set default_transaction_read_only = on`)
    const { code, report, stderr } = await verify(copy.url)
    assert.equal(code, 0, stderr)
    assert.ok(report?.ok)
  } finally {
    await copy.close()
  }
})

test('a copy from the end of a long backlog of events is correct: newer orders need no event yet', async () => {
  const copy = await openCopy()
  try {
    // The numbering has just ended a backlog that began before this order was confirmed.
    await copy.run(`
      update orders set confirmed_at = now() + interval '3 days'
      where order_id = (select min(order_id::text)::uuid from orders where status = 'confirmed')`)
    await copy.run(
      `delete from events using orders where subject = order_id and confirmed_at > now() + interval '2 days'`,
    )
    const tick = (at: string, towards: string) =>
      copy.run(`
        insert into event_ticks (consumer, at, snapshot, towards, reached)
        select consumer, ${at}, snapshot, ${towards}
        from event_ticks where consumer = 'events' order by tick_id desc limit 1`)
    const isMissed = async () => failing((await verify(copy.url)).report).includes('feed-confirmed')
    await tick(`now()`, 'snapshot, 0')
    await tick(`now() + interval '2 days'`, 'null, null')
    assert.equal(await isMissed(), false)
    await tick(`now() + interval '2 days'`, 'null, null')
    assert.equal(await isMissed(), true)
  } finally {
    await copy.close()
  }
})

test('the address of the copy may come from a file, so that its password is in no list of processes', async () => {
  const copy = await openCopy()
  const file = join(first.dataDir, 'copy-url')
  const told = (env: Record<string, string>) =>
    perkline(['backup', 'verify', '--json'], { env: { MASTER_KEY: masterKey, OPERATOR_KEY: '', ...env } })
  try {
    await writeFile(file, `${copy.url}\n`, { mode: 0o600 })
    const { code, stdout } = await told({ DATABASE_URL_FILE: file })
    assert.deepEqual([code, JSON.parse(stdout).ok], [0, true])
    const without = await told({})
    assert.equal(without.code, 2)
    assert.match(without.stderr, /^Which copy\?/)
    const both = await told({ DATABASE_URL_FILE: file, DATABASE_URL: copy.url })
    assert.match(both.stderr, /are both set/)
  } finally {
    await copy.close()
  }
})

test('the database on which a platform serves is refused: exit code 2', async () => {
  const { code, stdout, stderr } = await verify(platform.databaseUrl)
  assert.equal(code, 2)
  assert.equal(stdout, '')
  assert.match(stderr, /A platform is serving on this database/)
})

test('--expect-after: exit code 1 when the newest record is older', async () => {
  const copy = await openCopy()
  try {
    const newest = (await verify(copy.url)).report?.newest ?? {}
    const latest = Math.max(...Object.values(newest).map(record => (record ? Date.parse(record.at) : 0)))
    const at = (ms: number) => new Date(ms).toISOString()
    assert.equal((await verify(copy.url, ['--expect-after', at(latest - 1_000)])).code, 0)
    const late = await verify(copy.url, ['--expect-after', at(latest + 1_000)])
    assert.equal(late.code, 1)
    assert.deepEqual(failing(late.report), ['newest'])
    assert.equal((await verify(copy.url, ['--expect-after', 'yesterday'])).code, 2)
  } finally {
    await copy.close()
  }
})

test('--live tells which counts differ from the platform’s', async () => {
  const copy = await openCopy()
  try {
    await copy.run(`delete from credentials`)
    await copy.run(`delete from ended_access`)
    const operator = { token: platform.config.operatorKey }
    const body = { bank: 'alpha', role: 'VIEWER', label: 'Ended' }
    const { clientId } = (await platform.call('POST', '/admin/credentials', { ...operator, body })).body
    assert.equal((await platform.call('POST', `/admin/credentials/${clientId}/revoke`, operator)).status, 200)
    const env = { OPERATOR_KEY: platform.config.operatorKey }
    const { report } = await verify(copy.url, ['--live', platform.url], env)
    const counted = report?.checks.find(({ name }) => name === 'counts')
    assert.match(counted?.detail ?? '', /others than there: .*credentials 0 \(there \d+\)/)
    assert.match(counted?.detail ?? '', /ended_access 0 \(there \d+\)/)
    assert.match(counted?.detail ?? '', /LOOK AT ended_access: access that has ended there works again in this copy/)
  } finally {
    await copy.close()
  }
})

const damages: [what: string, sql: string, name: RegExp][] = [
  [
    'an order is gone',
    `delete from orders where status = 'confirmed' and order_id = (select min(order_id::text)::uuid from orders where status = 'confirmed')`,
    /stock|sales|live|figures/,
  ],
  [
    'a sealed profile was changed',
    `update profiles set sealed = overlay(sealed placing '\\x00'::bytea from 40 for 1)`,
    /master-key|sealed/,
  ],
  [
    'migrations are missing',
    `delete from schema_migrations where version = (select max(version) from schema_migrations)`,
    /schema/,
  ],
  [
    'the sealed secret of an authenticator app was changed',
    'update totp_factors set sealed_secret = set_byte(sealed_secret, 39, (get_byte(sealed_secret, 39) + 1) % 256)',
    /master-key/,
  ],
  [
    'a byte of a statement was changed',
    `update statement_files set bytes = set_byte(bytes, 20, (get_byte(bytes, 20) + 1) % 256)
     where piece = 0 or piece = (select min(piece) from statement_files)`,
    /^statement-chain$/,
  ],
  ['the key of the stock is gone', 'delete from sealed_keys', /master-key/],
]
for (const [what, sql, name] of damages)
  test(`damaged: ${what}; exit code 1 names it`, async () => {
    const copy = await openCopy()
    try {
      await copy.run(sql)
      const { code, report, stderr } = await verify(copy.url)
      assert.equal(code, 1, stderr)
      assert.ok(
        failing(report).some(each => name.test(each)),
        `${failing(report)}`,
      )
    } finally {
      await copy.close()
    }
  })

test('another master key: exit code 1 names it', async () => {
  const copy = await openCopy()
  try {
    const { code, report } = await verify(copy.url, [], { MASTER_KEY: randomBytes(32).toString('base64') })
    assert.equal(code, 1)
    assert.ok(failing(report).includes('master-key'))
  } finally {
    await copy.close()
  }
})

test('wrong usage and a copy that can’t be reached', async () => {
  assert.equal((await verify('mysql://x')).code, 2)
  const away = await verify('postgres://u:planted@127.0.0.1:1/x')
  assert.equal(away.code, 1)
  assert.match(away.stderr, /The copy can't be reached/)
  assert.doesNotMatch(away.stderr, /planted/)
})
