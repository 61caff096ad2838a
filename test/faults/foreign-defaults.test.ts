/**
 * A database administrator may set defaults for the sessions of a database or a role. The platform's sessions have
 * settings of their own, so these defaults change no answers, no stored data and no time limits.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { profileLines } from '../../samples/make-profiles.ts'
import { assertOrder, bankAt, provenBooks } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const limitMs = 300
const defaults = {
  array_nulls: 'off',
  bytea_output: 'escape',
  datestyle: 'SQL, DMY',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-10',
  intervalstyle: 'sql_standard',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  idle_session_timeout: `${limitMs}`,
  lock_timeout: `${limitMs}`,
  statement_timeout: `${limitMs}`,
  // This setting exists from PostgreSQL 17 on.
  transaction_timeout: `${limitMs}`,
}

let first: TestPlatform
let platform: TestPlatform
/** A connection whose session began before the defaults were set. */
let blocker: pg.Client
before(async () => {
  first = await startPlatform()
  blocker = new pg.Client({ connectionString: first.databaseUrl })
  await blocker.connect()
  const name = new URL(first.databaseUrl).pathname.slice(1)
  const rows = await first.platform.database.query<{ name: string }>('select name from pg_settings')
  const known = new Set(rows.map(row => row.name))
  for (const [setting, value] of Object.entries(defaults).filter(([setting]) => known.has(setting)))
    await first.platform.database.execute(`alter database ${name} set ${setting} = '${value}'`)
  // The sessions of this second platform begin with the defaults.
  platform = await first.sibling()
})
after(async () => {
  await blocker.end()
  await platform.close()
  await first.close()
})

const operator = () => ({ token: platform.config.operatorKey })

test('stock is imported, sold and audited as ever', async () => {
  await platform.addStock('kyivstar', 'eu-10gb', 3)
  const bank = bankAt(platform, await platform.bankToken())
  const { orderId } = assertOrder(await bank.reserve('foreign-1'), { status: 'reserved' }, 201)
  assert.equal((await bank.confirm(orderId)).status, 200)
  assertOrder(await bank.read(orderId), { status: 'confirmed' })
  const cancelled = await bank.reserve('foreign-2')
  assert.equal((await bank.cancel(cancelled.body.orderId)).status, 200)
  assert.deepEqual(await provenBooks(platform), { profiles: 3, free: 2, reserved: 0, sold: 1, withdrawn: 0 })
  const audit = await platform.call('GET', '/admin/audit', operator())
  assert.deepEqual([audit.status, audit.body.ok], [200, true], audit.text)
})

test('an import that waits longer than a foreign limit goes on', async () => {
  await blocker.query('begin; lock table profiles in share mode')
  const raw = [...profileLines({ count: 2, seed: 4_321 })].join('')
  const headers = { 'content-type': 'text/csv' }
  const path = '/admin/profiles?operator=kyivstar&tariff=ua-5gb'
  const importing = platform.call('POST', path, { ...operator(), raw, headers })
  let hasAnswered = false
  importing.finally(() => (hasAnswered = true)).catch(() => {})
  while (!hasAnswered && (await countWaiting()) === 0) await sleep(10)
  await sleep(2 * limitMs)
  await blocker.query('commit')
  const imported = await importing
  assert.equal(imported.status, 200, imported.text)
})

/** How many sessions of this database wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await first.platform.database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count ?? 0
}
