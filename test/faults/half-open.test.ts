/**
 * The network to the database falls silent (contract/reliability.md, "When something is away"): open connections
 * deliver nothing, and new ones are accepted but stay silent. Nobody is notified, so only time limits help.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { createTestDatabase } from '../support/database.ts'
import { assertError, bankAt, proveBooks, range, until } from '../support/esim.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { proveSales, recoverWithinMs, type Sale, sell } from '../support/sales.ts'
import { openShop } from '../support/world.ts'

const profiles = 1_500
/** A statement may take 10 s; the rest is a reserve for a busy machine. */
const answeredWithinMs = 13_500

type Asked = { what: string; status: number; retryAfter: string | null; ms: number }

/** Sends every kind of request that needs the database, and returns the status and the duration of each. */
async function askEverything(platform: PerklineProcess, token: string, operatorKey: string, wave: string) {
  const bank = bankAt(platform, token)
  const operator = { token: operatorKey }
  const csv = {
    ...operator,
    raw: [...profileLines({ count: 5, seed: 9 })].join(''),
    headers: { 'content-type': 'text/csv' },
  }
  const credential = { clientId: 'pk_0123456789abcdef01234567', secret: 'x' }
  const asked: Record<string, () => Promise<{ status: number; headers: Headers }>> = {
    'health/ready': () => platform.call('GET', '/health/ready'),
    token: () => platform.call('POST', '/getToken/auth', { body: credential }),
    tariffs: () => bank.tariffs(),
    read: () => bank.read('0b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11'),
    confirm: () => bank.confirm('0b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11'),
    'bank’s list': () => platform.call('GET', '/cashbacks/for-bank', { token }),
    stock: () => platform.call('GET', '/admin/stock', operator),
    audit: () => platform.call('GET', '/admin/audit', operator),
    upload: () => platform.call('POST', '/admin/profiles?operator=kyivstar&tariff=eu-10gb', csv),
    ...Object.fromEntries(range(150).map(n => [`reserve ${n}`, () => bank.reserve(`silent-${wave}-${n}`)])),
  }
  return Promise.all(
    Object.entries(asked).map(async ([what, ask]): Promise<Asked> => {
      const startedMs = performance.now()
      const ms = () => Math.round(performance.now() - startedMs)
      const { status, headers } = await ask().catch(() => ({ status: -1, headers: new Headers() }))
      return { what: `${wave} ${what}`, status, retryAfter: headers.get('retry-after'), ms: ms() }
    }),
  )
}

function proveRefused(answers: readonly Asked[]): void {
  const wrong = answers.filter(({ status, retryAfter, ms }) => status !== 503 || !retryAfter || ms > answeredWithinMs)
  assert.deepEqual(wrong, [])
}

test('a database that falls silent: 503 within the time limits, and 5 seconds after it speaks again all is well', async t => {
  const database = await createTestDatabase()
  const proxy = await startMuteProxy(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'perkline-half-open-'))
  const settings = sharedSettings(proxy.url, folder)
  const platform = await startProcess(settings)
  let going = true
  try {
    const { alpha } = await openShop(platform, { profiles, seed: 7_401 })
    const at = () => bankAt(platform, alpha)
    const sales: Sale[] = []
    const sellers = range(6).map(() => sell(at, sales, () => going))
    await until('sales go on', () => sales.length > 40)
    const operator = { token: settings.OPERATOR_KEY ?? '' }
    // The audit runs on a connection of its own, on which only PostgreSQL limits the time of a statement (20 s). This lock keeps a
    // statement waiting, so that the network falls silent while it runs.
    const client = await database.database.connect()
    await client.query('begin; lock table campaign_history in access exclusive mode')
    const audit = platform.call('GET', '/admin/audit', operator)
    await until('the audit waits', async () => {
      const rows = await database.database.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query ilike '%campaign_history%'`,
      )
      return rows.length > 0
    })
    const caught = proxy.fallSilent()
    assert.ok(caught > 3, `${caught} connections`)
    const silentAtMs = performance.now()
    const waves = [askEverything(platform, alpha, operator.token, 'first')]
    await sleep(1_000)
    waves.push(askEverything(platform, alpha, operator.token, 'second'))
    const audited = audit.then(({ status, headers }): Asked[] => [
      { what: 'audit', status, retryAfter: headers.get('retry-after'), ms: Math.round(performance.now() - silentAtMs) },
    ])
    const answers = (await Promise.all([...waves, audited])).flat()
    await client.end()
    t.diagnostic(`slowest ${JSON.stringify(answers.toSorted((a, b) => b.ms - a.ms).slice(0, 3))}`)
    proveRefused(answers)
    assert.equal((await platform.call('GET', '/health/live')).status, 200)

    proxy.speakAgain()
    const spokeAt = performance.now()
    const before = sales.length
    await until('it is ready', async () => (await platform.call('GET', '/health/ready')).status === 200)
    await until('sales go on', () => sales.length > before + 20)
    const tookMs = Math.round(performance.now() - spokeAt)
    assert.ok(tookMs < recoverWithinMs(), `it took ${tookMs} ms until sales went on`)
    going = false
    await Promise.all(sellers)
    // No request may get a connection that stays silent forever.
    for (const answer of await Promise.all(range(40).map(n => at().reserve(`spoken-${n}`))))
      if (answer.status !== 201) assertError(answer, 201)
    t.diagnostic(`${caught} connections caught; back in ${tookMs} ms`)
    await proveSales(at, sales)
    const books = await proveBooks(database.database, new Date())
    assert.equal(books.profiles, profiles)
    assert.equal((await platform.admin('GET', '/audit')).ok, true)
    assert.doesNotMatch(platform.output(), /"statusCode":500|unexpected error/)
  } finally {
    going = false
    await platform.kill()
    await proxy.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
