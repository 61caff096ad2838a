/**
 * Limits of time (contract/limits.md): how long a request waits for a place, how many may wait, and how slow an upload
 * may be. All tests wait at the same time, each for a minute at most.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { noteFailure } from '../../src/access/login-store.ts'
import { countWaiting } from '../../src/work/concurrency-limit.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../support/platform.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'
import { formOf } from '../support/reconciliation.ts'

const directory = testDirectory
  .replace('merchants:', 'merchants:\n  - { code: third, name: Third }\n  - { code: fourth, name: Fourth }')
  .replace(/( {2}- \{ code: )alpha(, name: )Alpha Bank(.*\n)/, '$&$1delta$2Delta Bank$3')
let platform: TestPlatform
before(async () => {
  const settings = { TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'fatal' }
  platform = await startPlatform(settings, { directory })
})
after(() => platform.close())

const since = (startedMs: number): number => (performance.now() - startedMs) / 1000
const campaign = '00000000-0000-4000-8000-000000000000'
const segmentPath = `/portal/cashbacks/${campaign}/segment`
const merchantReport = `/portal/cashbacks/${campaign}/banks/${campaign}/merchant-report`
const bankReport = `/portal/cashbacks/${campaign}/bank-report`

type Upload = { method: string; path: string; token: string }
type Held = { socket: Socket; stop(): void }

/**
 * Begins an upload that never reaches its file. It sends only text before the first part of the form, and readers of
 * forms ignore such text.
 * @param pace.first how many KiB are sent at once; 8 KiB more follow each time
 */
async function beginUpload(given: Upload, { first = 100, everyMs = 2_000 } = {}): Promise<Held> {
  const socket = await openRaw(platform.url)
  const headers = {
    authorization: `Bearer ${given.token}`,
    'content-type': 'multipart/form-data; boundary=cut',
    'content-length': String(5 * 1024 * 1024),
  }
  socket.write(requestText(given.method, given.path, headers))
  socket.write('x'.repeat(first * 1024))
  const timer = setInterval(() => socket.write('x'.repeat(8 * 1024)), everyMs)
  return {
    socket,
    stop() {
      clearInterval(timer)
      socket.destroy()
    },
  }
}

/**
 * Locks a table against writes.
 * @returns a function that releases the lock
 */
async function hold(table: string): Promise<() => Promise<void>> {
  const blocker = new pg.Client({ connectionString: platform.databaseUrl })
  await blocker.connect()
  await blocker.query(`begin; lock table ${table} in exclusive mode`)
  return () => blocker.end()
}

/** Holds all places with two uploads of each partner. @returns the answer of one more partner, and how long it waited */
async function waitBehind(partners: readonly Upload[], { method, path, token }: Upload) {
  const held = await Promise.all(partners.flatMap(upload => [beginUpload(upload), beginUpload(upload)]))
  // The held uploads must get their places before the next upload asks.
  await sleep(1_000)
  const startedMs = performance.now()
  try {
    const answer = await platform.call(method, path, { token, ...(await formOf({ file: 'x' })) })
    return { ...answer, seconds: since(startedMs) }
  } finally {
    for (const { stop } of held) stop()
  }
}

function assertWaited({ status, headers, body, seconds }: Awaited<ReturnType<typeof waitBehind>>): void {
  assert.equal(status, 503, JSON.stringify(body))
  assert.equal(body.message, 'Other uploads are still running: try again in a moment')
  assert.ok(Number(headers.get('retry-after')) > 0)
  assert.ok(seconds > 59 && seconds < 80, `${seconds} s`)
}

suite('limits that time shows', { concurrency: true }, () => {
  test('an upload below 32 KiB in 30 s is answered 408 once the first 30 s are over, and closed', async () => {
    const token = await platform.merchantToken('fourth')
    const slow = await beginUpload({ method: 'PUT', path: segmentPath, token }, { first: 33, everyMs: 9_000 })
    const startedMs = performance.now()
    const closed = once(slow.socket, 'close')
    const answer = await readRaw(slow.socket)
    assert.equal(answer.status, 408, answer.text)
    assert.match(answer.text, /at least 32 KiB in 30 s/)
    assert.ok(since(startedMs) > 29 && since(startedMs) < 60, `${since(startedMs)} s`)
    await closed
    slow.stop()
  })

  test('four segments are read at once in a process; one more waits for 60 s, then it is 503', async () => {
    const upload = async (merchant: string): Promise<Upload> => ({
      method: 'PUT',
      path: segmentPath,
      token: await platform.merchantToken(merchant),
    })
    assertWaited(await waitBehind([await upload('grocer'), await upload('voltshop')], await upload('third')))
  })

  test('eight reports are read at once in a process; one more waits for 60 s, then it is 503', async () => {
    const ofBank = async (bank: string) => ({ method: 'POST', path: bankReport, token: await platform.bankToken(bank) })
    const token = await platform.merchantToken('grocer')
    const banks = await Promise.all(['alpha', 'beta', 'gamma', 'delta'].map(ofBank))
    assertWaited(await waitBehind(banks, { method: 'POST', path: merchantReport, token }))
  })

  test('a long read waits for 10 s behind two of its partner (429), and a statement has 30 s (503)', async () => {
    // A connection without time limits, because renaming the table waits for everybody who is reading it.
    const owner = new pg.Client({ connectionString: platform.databaseUrl })
    await owner.connect()
    // A view whose reads take two minutes replaces the table.
    await owner.query('alter table sales_days rename to slow_sales_days')
    await owner.query(
      'create view sales_days as select * from slow_sales_days where (select pg_sleep(120)) is not null',
    )
    const token = await platform.bankToken('alpha')
    const ask = async () => {
      const startedMs = performance.now()
      const answer = await platform.call('GET', '/portal/esim/sales', { token })
      return { ...answer, seconds: since(startedMs) }
    }
    const answers = await Promise.all([ask(), ask(), ask()])
    await owner.query('begin; drop view sales_days; alter table slow_sales_days rename to sales_days; commit')
    await owner.end()
    const [waited, ...ran] = answers.toSorted((a, b) => a.seconds - b.seconds)
    assert.equal(waited?.status, 429, waited?.text)
    assert.ok(waited.headers.get('retry-after'))
    assert.ok(waited.seconds > 9.9 && waited.seconds < 25, `${waited.seconds} s`)
    for (const { status, seconds, text } of ran) {
      assert.equal(status, 503, text)
      assert.ok(seconds > 29.9 && seconds < 60, `${seconds} s`)
    }
  })
})

// This test runs alone, because its many connections would slow down other tests.
test('1,000 logins wait in the queue, 20 s at most; a login after many failed attempts is refused before the queue', async t => {
  const { database } = platform.platform
  for (let failures = 0; failures < 12; failures++) await noteFailure(database, 'guessed', false)
  const logIn = async (login: string, address: string) => {
    const startedMs = performance.now()
    const answer = await platform.call('POST', '/auth/login', {
      body: { typeAccount: 'bank', login, password: 'not the right one' },
      headers: { 'x-forwarded-for': address },
    })
    return { ...answer, seconds: since(startedMs) }
  }
  const startedMs = performance.now()
  // Logins whose password was checked now wait for this lock and keep their places, so those behind them fill the
  // queue.
  const release = await hold('failed_logins')
  const asked: ReturnType<typeof logIn>[] = []
  const ask = () => {
    const asking = logIn(`nobody-${asked.length}`, `198.18.0.${1 + (asked.length % 250)}`)
    asked.push(asking)
    return asking
  }
  while (asked.length < 2_000 && (countWaiting().get('logins') ?? 0) < 1_000) {
    for (let more = 0; more < 20; more++) ask()
    await sleep(50)
  }
  if (since(startedMs) > 12) {
    await Promise.all(asked).finally(release)
    return t.skip('the first ones have left before the queue is full: this machine is too slow')
  }
  // A place gets free now and then, but at least one of 20 more logins finds the queue full.
  const over = await Promise.race(Array.from({ length: 20 }, () => ask()))
  const guess = await logIn('guessed', '198.18.0.252')
  const answers = await Promise.all(asked).finally(release)
  assert.equal(over.status, 503, over.text)
  assert.equal(over.body.message, 'Too many logins at once; try again')
  assert.ok(over.headers.get('retry-after') && over.seconds < 19, `${over.seconds} s`)
  assert.equal(guess.status, 429, guess.text)
  assert.ok(guess.seconds < 19, `${guess.seconds} s`)
  assert.ok(answers.every(({ status }) => status === 503))
  const waited = answers.filter(({ body, seconds }) => body.message === over.body.message && seconds > 19)
  assert.ok(waited.length >= 800 && waited.length <= 1_000, `${waited.length} of ${answers.length} waited`)
  assert.ok(
    waited.every(({ seconds }) => seconds < 40),
    `${waited.at(-1)?.seconds} s`,
  )
})
