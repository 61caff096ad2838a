/**
 * Only one audit runs at a time. It ends when its client disconnects, and can be resumed after that or after its
 * process was killed.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type pg from 'pg'
import type { Database } from '../../src/db/database.ts'
import { campaignDirectory, createCampaign } from '../support/campaigns.ts'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'

const esim = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [
        { code: eu-10gb, name: Europe, price: 399.00, currency: UAH, validityDays: 30 }] }
`

/** Statements of audits that are waiting for a lock now. */
const waiting = async (database: Database) =>
  (
    await database.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%campaign_history%'`,
    )
  ).length

suite('one audit', () => {
  let platform: TestPlatform
  let database: Database
  let blocker: pg.Client
  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory + esim })
    database = platform.platform.database
    await createCampaign(platform)
    blocker = await database.connect()
  })
  after(async () => {
    await blocker.end()
    await platform.close()
  })

  const operator = () => ({ token: platform.config.operatorKey })
  const last = async () => (await platform.call('GET', '/admin/audit/last', operator())).body
  /** Blocks audits after their check of the orders, until this transaction ends. */
  const block = () => blocker.query('begin; lock table campaign_history in access exclusive mode')
  const start = (signal: AbortSignal, query = '') =>
    fetch(`${platform.url}/admin/audit${query}`, {
      headers: { authorization: `Bearer ${platform.config.operatorKey}` },
      signal,
    })

  test('there is none at first', async () => {
    assert.deepEqual(await last(), { last: null, unfinished: null })
  })

  test('a second one is refused while one runs, which tells how far it is; when its client leaves it ends within 2 seconds', async () => {
    await block()
    const leaving = new AbortController()
    const first = start(leaving.signal).catch(() => 'left')
    await until('the audit is held up', async () => (await waiting(database)) === 1)
    const second = await platform.call('GET', '/admin/audit', operator())
    assert.equal(second.status, 409, second.text)
    assert.equal(second.body.code, 'conflict')
    assert.match(second.text, /An audit is already running/)
    const { unfinished } = await last()
    assert.equal(unfinished.running, true)
    assert.ok(unfinished.percent > 0 && unfinished.percent < 100, `${unfinished.percent} %`)

    const leftAtMs = performance.now()
    leaving.abort()
    assert.equal(await first, 'left')
    await until('its statement has ended', async () => (await waiting(database)) === 0)
    assert.ok(performance.now() - leftAtMs < 2_000)
    await blocker.query('commit')
    await until('it is told as broken off', async () => (await last()).unfinished?.running === false)
  })

  test('it goes on where it was broken off; without --resume it begins anew', async () => {
    // Breaks a row that was checked before. The resumed audit does not check it again.
    await database.execute(`insert into returned_profiles values (999, 1)`)
    const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
    const resumed = await perkline(['audit', '--resume', '--json'], { env })
    assert.equal(resumed.code, 0, resumed.stderr)
    assert.deepEqual(JSON.parse(resumed.stdout).ok, true)
    const told = await last()
    assert.equal(told.unfinished, null)
    assert.deepEqual(told.last.checks, JSON.parse(resumed.stdout).checks)

    for (const args of [['audit'], ['audit', '--resume']]) {
      const anew = await perkline(args, { env })
      assert.equal(anew.code, 1)
      assert.match(anew.stdout, /^FAIL .*: profile 999 was given back, but is not in stock$/m)
    }
    assert.equal((await last()).last.ok, false)
    await database.execute('truncate returned_profiles')
  })

  test('the lines of progress end with the result', async () => {
    const answer = await platform.call('GET', '/admin/audit?progress=true', operator())
    assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/)
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.deepEqual(lines[0], { progress: { percent: 0, step: 'sealed-profiles' } })
    assert.equal(lines.at(-1).ok, true)
  })

  test('a command that is cut off says how far it came and how to continue', async () => {
    await block()
    const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
    const command = perkline(['audit'], { env })
    await until('the audit is held up', async () => (await waiting(database)) === 1)
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%campaign_history%'
       and datname = current_database()`,
    )
    const { code, stderr, stdout } = await command
    await blocker.query('commit')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /It got to \d+ %. Continue with: perkline audit --resume\n$/)
  })
})

test('after a kill another process resumes the audit', async () => {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-audit-'))
  const settings = sharedSettings(database.url, folder)
  const processes: PerklineProcess[] = []
  const serve = async () => {
    const process = await startProcess(settings)
    processes.push(process)
    return process
  }
  const blocker = await database.database.connect()
  try {
    const first = await serve()
    await blocker.query('begin; lock table campaign_history in access exclusive mode')
    const broken = first.call('GET', '/admin/audit', { token: settings.OPERATOR_KEY ?? '' }).catch(() => 'broken')
    await until('the audit is held up', async () => (await waiting(database.database)) === 1)
    await first.kill()
    assert.equal(await broken, 'broken')
    await blocker.query('commit')
    const second = await serve()
    const unfinished = async () => (await second.admin('GET', '/audit/last')).unfinished
    await until('it is told as broken off', async () => !(await unfinished()).running)
    assert.ok((await unfinished()).percent > 0)
    await database.database.execute(`insert into returned_profiles values (999, 1)`)
    assert.equal((await second.admin('GET', '/audit?resume=true')).ok, true)
    assert.equal((await second.admin('GET', '/audit')).ok, false)
  } finally {
    await blocker.end()
    for (const process of processes) await process.kill()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
})
