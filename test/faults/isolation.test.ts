/**
 * Sales always get connections to the database, even while others' reads are slow or a table is locked
 * (contract/limits.md, "Costly reads").
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import pg from 'pg'
import { type Bank, openBank, range, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let blocker: pg.Client
let watcher: pg.Client
let beta: Bank
let alphaToken: string
let credential: { clientId: string; secret: string }
before(async () => {
  // The smallest pool that a process can have.
  platform = await startPlatform({ DATABASE_POOL: '2', LOG_LEVEL: 'silent' })
  await platform.addStock('kyivstar', 'eu-10gb', 500)
  alphaToken = await platform.bankToken('alpha')
  beta = await openBank(platform, await platform.bankToken('beta'))
  const issued = await platform.call('POST', '/admin/credentials', {
    token: platform.config.operatorKey,
    body: { bank: 'beta', role: 'ADMIN', label: 'test' },
  })
  credential = { clientId: issued.body.clientId, secret: issued.body.secret }
  blocker = new pg.Client({ connectionString: platform.databaseUrl })
  await blocker.connect()
  watcher = new pg.Client({ connectionString: platform.databaseUrl })
  await watcher.connect()
})
after(async () => {
  await blocker.end()
  await watcher.end()
  await platform.close()
})
let lastId = 0
let known: string
beforeEach(async () => {
  const { status, body, text } = await beta.reserve(`known-${++lastId}`)
  assert.equal(status, 201, text)
  known = body.orderId
})

/** Asserts that sales, tokens, the catalogue and the check of readiness work for another bank. */
async function assertServed(): Promise<void> {
  assert.equal((await beta.reserve(`served-${++lastId}`)).status, 201)
  assert.equal((await beta.confirm(known, 'a@customer.example')).status, 200)
  assert.equal((await beta.read(known)).status, 200)
  assert.equal((await beta.operators()).status, 200)
  assert.equal((await platform.call('POST', '/getToken/auth', { body: credential })).status, 200)
  assert.equal((await platform.call('GET', '/health/ready')).status, 200)
}

/** How many statements of the platform wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await watcher.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length
}

suite('while one bank’s reads are slow', () => {
  test('searches and sales figures in parallel, others sell; their statements end when the readers leave', async () => {
    const leaving = new AbortController()
    const ask = (path: string) =>
      fetch(platform.url + path, { headers: { authorization: `Bearer ${alphaToken}` }, signal: leaving.signal }).then(
        answer => answer.status,
        () => 'left',
      )
    // Sales read the catalogue from memory, but figures and searches read this table.
    await blocker.query('begin; lock table mobile_operators in access exclusive mode')
    try {
      const searches = range(8).map(() => ask('/portal/esim/orders?status=cancelled&tariffCode=ua-5gb'))
      const figures = range(60).map(() => ask('/portal/esim/sales'))
      await until('they wait', async () => (await waiting()) > 2)
      for (const _ of range(5)) await assertServed()
      leaving.abort()
      await Promise.all([...searches, ...figures])
      await until('nothing is read for them any more', async () => (await waiting()) === 0)
    } finally {
      await blocker.query('rollback')
    }
    assert.equal((await platform.call('GET', '/portal/esim/sales', { token: alphaToken })).status, 200)
  })

  test('campaigns, reports and the operator’s reads: others sell meanwhile', async () => {
    await blocker.query('begin; lock table campaigns, credentials in access exclusive mode')
    try {
      const operator = platform.config.operatorKey
      const merchant = await platform.merchantToken().catch(() => '')
      const asked = [
        ...range(20).map(() => platform.call('GET', '/portal/home', { token: alphaToken })),
        ...range(20).map(() => platform.call('GET', '/portal/cashbacks', { token: alphaToken })),
        ...range(20).map(() => platform.call('GET', '/admin/overview', { token: operator })),
        ...range(20).map(() => platform.call('GET', '/cashbacks/for-bank', { token: alphaToken })),
        ...range(20).map(() => platform.call('GET', '/cashbacks/for-merchant', { token: merchant })),
      ]
      await until('they wait', async () => (await waiting()) > 2)
      assert.equal((await beta.reserve(`others-${++lastId}`)).status, 201)
      assert.equal((await beta.read(known)).status, 200)
      assert.equal((await platform.call('GET', '/health/ready')).status, 200)
      for (const { status } of await Promise.all(asked)) assert.ok([401, 429, 503].includes(status), String(status))
    } finally {
      await blocker.query('rollback')
    }
    // A process refuses every token when it has not read for 10 seconds who has lost access (contract/access.md,
    // "Losing access"). On a slow machine the lock lasts longer, so we wait until the process has read it again.
    await until('it knows who has access', async () => (await beta.read(known)).status === 200)
  })
})

test('a lock on the orders: requests are refused within seconds, and the process stays ready', async () => {
  await blocker.query('begin; lock table orders, profiles in access exclusive mode')
  try {
    const startedMs = performance.now()
    const asked = [
      ...range(20).map(n => beta.reserve(`locked-${n}`)),
      ...range(20).map(() => beta.confirm(known, 'a@customer.example')),
    ]
    await until('they wait', async () => (await waiting()) > 0)
    for (const _ of range(5)) {
      assert.equal((await platform.call('GET', '/health/ready')).status, 200)
      assert.equal((await platform.call('POST', '/getToken/auth', { body: credential })).status, 200)
    }
    for (const { status, text } of await Promise.all(asked)) assert.equal(status, 503, text)
    const tookMs = performance.now() - startedMs
    assert.ok(tookMs < 9_000, `${Math.round(tookMs)} ms`)
  } finally {
    await blocker.query('rollback')
  }
  await until('it sells', async () => (await beta.reserve(`unlocked-${++lastId}`)).status === 201)
})

test('requests of a logged-in person count for the account, like those with a token', async t => {
  const limited = await platform.sibling({ API_RATE_LIMIT: '1/3' })
  t.after(() => limited.close())
  const ask = (token: string) => limited.call('GET', '/portal/session', { token })
  const betaToken = await platform.bankToken('beta')
  const answers = await Promise.all(range(6).map(() => ask(alphaToken)))
  assert.ok(answers.some(({ status }) => status === 429))
  assert.match(answers[0]?.headers.get('ratelimit-policy') ?? '', /^"account"/)
  assert.equal((await ask(betaToken)).status, 200)
})
