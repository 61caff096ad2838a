/**
 * Each partner may run only a few costly reads at once, and nothing else waits for them (contract/limits.md, "Costly
 * reads").
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { DomainError } from '../../src/errors.ts'
import { fileLimits } from '../../src/http/limits/costly-reads.ts'
import { createConcurrencyLimit } from '../../src/work/concurrency-limit.ts'
import { campaignDirectory, createCampaign, ids } from '../support/campaigns.ts'
import { openBank } from '../support/esim.ts'
import { openPerson } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

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

  test('after a long read the partner’s place rests, so that a partner cannot keep the database busy', async () => {
    const { token } = await openBank(platform)
    const ask = () => platform.call('GET', '/portal/esim/sales', { token }).then(({ status }) => status)
    await blocker.query('begin; lock table sales_days in access exclusive mode')
    const start = performance.now()
    const first = [ask(), ask()]
    await until(async () => (await counting()) === 2)
    const third = ask()
    await sleep(300)
    await blocker.query('commit')
    assert.deepEqual(await Promise.all(first), [200, 200])
    const ended = performance.now()
    assert.equal(await third, 200)
    // After a read, its place stays taken for three times as long as the read took, here for at least 900 ms. The limit here
    // is much lower, so that imprecise measurements do not matter.
    const waited = performance.now() - ended
    assert.ok(waited > 300, `${waited} ms after reads of ${ended - start} ms`)
  })
})

suite('people, invitations and credentials of an account', () => {
  test('are lists of a partner’s pages: a third one at once waits, and is told so', async () => {
    const platform = await startPlatform({}, { only: ['auth', 'cashback', 'portal'] })
    const blocker = new pg.Client({ connectionString: platform.databaseUrl })
    await blocker.connect()
    try {
      const person = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
      const read = (path: string) => person.call('GET', path).then(({ status }) => status)
      for (const [path, table] of [
        ['/portal/users', 'people_mails'],
        ['/portal/invitations', 'people_mails'],
        ['/portal/credentials', 'credentials'],
      ] as const) {
        await blocker.query(`begin; lock table ${table} in access exclusive mode`)
        const statuses = await Promise.all(Array.from({ length: 12 }, () => read(path)))
        await blocker.query('rollback')
        assert.ok(statuses.includes(429), `${path}: ${statuses}`)
        assert.equal(await read(path), 200)
      }
    } finally {
      await blocker.end()
      await platform.close()
    }
  })
})

suite('files that are sent while they are read', () => {
  let platform: TestPlatform
  let blocker: pg.Client
  before(async () => {
    // No worker runs here, because its jobs would wait for the locks, too.
    platform = await startPlatform(
      {},
      { directory: campaignDirectory, only: ['auth', 'cashback', 'esim', 'partner', 'portal'] },
    )
    blocker = new pg.Client({ connectionString: platform.databaseUrl })
    await blocker.connect()
  })
  after(async () => {
    await blocker.end()
    await platform.close()
  })
  /** The statements that wait for a table that the test has locked. */
  const waiting = async (): Promise<number> =>
    (
      await platform.platform.database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).length
  const until = async (condition: () => Promise<boolean>) => {
    while (!(await condition())) await sleep(10)
  }

  test('HEAD reads nothing of the file; a GET ends when its client leaves', async () => {
    const authorization = `Bearer ${await platform.bankToken('alpha')}`
    await blocker.query('begin; lock table countries in access exclusive mode')
    const head = await fetch(`${platform.url}/portal/cashbacks.csv`, { method: 'HEAD', headers: { authorization } })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.match(head.headers.get('content-disposition') ?? '', /campaigns\.csv/)
    const leaving = new AbortController()
    const left = fetch(`${platform.url}/portal/cashbacks.csv`, {
      headers: { authorization },
      signal: leaving.signal,
    })
      .then(answer => answer.text())
      .catch(() => 'left')
    await until(async () => (await waiting()) > 0)
    assert.equal(await waiting(), 1, 'only the GET reads')
    leaving.abort()
    assert.equal(await left, 'left')
    await until(async () => (await waiting()) === 0)
    await blocker.query('commit')
  })

  test('slow readers of files take no connection from the lists that banks poll', async () => {
    for (let n = 0; n < 51; n++) await createCampaign(platform, { participantsIds: [ids.beta] })
    const read = Promise.withResolvers<void>()
    const readers = Array.from({ length: 8 }, () =>
      platform.platform.database.longRead('files', () => read.promise).catch(() => {}),
    )
    const list = await platform.call('GET', '/cashbacks/for-bank', { token: await platform.bankToken('beta') })
    read.resolve()
    await Promise.all(readers)
    assert.equal(list.status, 200, list.text)
    assert.equal(list.body.length, 51)
  })

  test('a file that cannot be opened is an error without the headers of the file', async () => {
    const token = await platform.bankToken('alpha')
    await blocker.query('begin; lock table orders in access exclusive mode')
    const answer = await platform.call('GET', '/partner/v1/orders.csv', { token })
    await blocker.query('commit')
    assert.equal(answer.status, 503, answer.text)
    assert.equal(answer.headers.get('content-disposition'), null)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(answer.body.code, 'unavailable')
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

  test('the last place can be kept for a partner that has none: two of them with slow files do not hold up a third one', async () => {
    const turns = createConcurrencyLimit({ ...patient, ...fileLimits, waitMs: 5_000 }, 'busy')
    const ends = [await turns.take('a', here()), await turns.take('a', here()), await turns.take('b', here())]
    const second = turns.take('b', here())
    const endThird = await turns.take('c', here())
    endThird()
    ends[0]?.()
    ;(await second)()
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
