/**
 * Each partner may run only a few costly reads at once, and nothing else waits for them (contract/limits.md, "Costly
 * reads").
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DomainError } from '../../../src/errors.ts'
import { createConcurrencyLimit } from '../../../src/work/concurrency-limit.ts'
import { openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

suite('sales figures that take long', () => {
  let platform: TestPlatform
  let blocker: pg.Client
  before(async () => {
    // No worker runs here, because its jobs write the figures that the test locks.
    platform = await startPlatform({}, { only: ['auth', 'cashback', 'esim', 'partner', 'portal', 'admin'] })
    await platform.addStock('kyivstar', 'eu-10gb', 50)
    blocker = new pg.Client({ connectionString: platform.databaseUrl })
    await blocker.connect()
  })
  after(async () => {
    await blocker.end()
    await platform.close()
  })

  /** How many statements wait for the table that the test has locked. */
  async function counting(): Promise<number> {
    // The blocker cannot ask: inside a transaction, PostgreSQL shows the activity as it was at the first read. So this
    // uses another connection.
    const rows = await platform.platform.database.query(
      `select from pg_stat_activity where datname = current_database() and state = 'active' and wait_event_type = 'Lock'`,
    )
    return rows.length
  }
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await sleep(10)
  }

  test('two of a partner run, the others wait; another bank sells and reads meanwhile; those of readers that left are ended', async () => {
    const [alpha, beta] = [await openBank(platform), await openBank(platform, await platform.bankToken('beta'))]
    // Locks the figures, so that reads of them wait. Reservations, confirms and cancels do not use this table.
    await blocker.query('begin; lock table sales_days in access exclusive mode')
    const leaving = new AbortController()
    const ask = (token: string) =>
      fetch(`${platform.url}/portal/esim/sales`, {
        headers: { authorization: `Bearer ${token}` },
        signal: leaving.signal,
      }).then(
        answer => answer.status,
        () => 'left',
      )
    const asked = Array.from({ length: 60 }, () => ask(alpha.token))
    await until(async () => (await counting()) === 2)
    for (let index = 0; index < 20; index++) {
      const reserved = await beta.reserve(`b-${index}`)
      assert.equal(reserved.status, 201, reserved.text)
      assert.ok((await counting()) <= 2)
    }
    const other = ask(beta.token)
    await until(async () => (await counting()) === 3)
    leaving.abort()
    assert.deepEqual(new Set(await Promise.all([...asked, other])), new Set(['left']))
    await until(async () => (await counting()) === 0)
    await blocker.query('commit')
    const after = await platform.call('GET', '/portal/esim/sales', { token: alpha.token })
    assert.equal(after.status, 200)
  })
})

suite('turns of groups', () => {
  const patient = { atOnce: 1, perPartner: 1, waiting: 4, waitMs: 5_000 }
  const here = () => new AbortController().signal
  const codeOf = (turn: Promise<unknown>) =>
    turn.then(
      () => 'begun',
      (error: DomainError) => error.code,
    )

  test('a refusal is told as the limit says', async () => {
    const refusal = { code: 'too-many', text: 'wait', retryAfterSeconds: 3 } as const
    const turns = createConcurrencyLimit({ ...patient, waiting: 0 }, refusal)
    await turns.take('a', here())
    await assert.rejects(
      turns.take('a', here()),
      (error: unknown) =>
        error instanceof DomainError &&
        error.code === 'too-many' &&
        error.message === 'wait' &&
        error.retryAfterSeconds === 3,
    )
  })

  test('the group that was served longest ago is next: many reads of one group do not delay one of another', async () => {
    const turns = createConcurrencyLimit({ ...patient, waiting: 100 }, 'busy')
    const served: string[] = []
    const take = async (groups: string[]) => {
      const end = await turns.take(groups, here())
      served.push(groups.join('/'))
      // While this request runs, all others arrive.
      await sleep(1)
      end()
    }
    const many = Array.from({ length: 20 }, (_, index) => take(['net', `host-${index}`]))
    await Promise.all([...many, take(['other', 'host']), take(['net', 'host-0']), take(['other', 'host'])])
    assert.equal(served.length, 23)
    assert.equal(served.indexOf('other/host'), 1)
    assert.equal(served.lastIndexOf('other/host'), 3)
    assert.equal(served.lastIndexOf('net/host-0'), 22, 'a host that was served waits for those that were not')
  })

  test('in a full queue the largest group makes room', async () => {
    const turns = createConcurrencyLimit(patient, 'busy')
    const end = await turns.take(['a', 'a1'], here())
    const many = Array.from({ length: 4 }, () => codeOf(turns.take(['a', 'a2'], here())))
    assert.equal(await codeOf(turns.take(['a', 'a3'], here())), 'unavailable')
    const one = turns.take(['b', 'b1'], here())
    assert.equal(await many[3], 'unavailable')
    end()
    ;(await one)()
  })
})
