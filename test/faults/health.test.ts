/** GET /health/live and /health/ready (contract/operations.md), against a server that this test can stop. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedServer, startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { type Answer, startPlatform, type TestPlatform } from '../support/platform.ts'

let folder: string
let server: EmbeddedServer
let platform: TestPlatform
let token: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-health-'))
  server = await startEmbeddedDatabase({ dataDir: join(folder, 'data') })
  const { user, database, host } = server.connection
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`
  platform = await startPlatform({ DATABASE_URL: url, LOG_LEVEL: 'silent' })
  token = await platform.bankToken()
})
after(async () => {
  await platform.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const health = (name: 'live' | 'ready') => platform.call('GET', `/health/${name}`)

function assertAway(answer: Answer, what: string): void {
  assert.equal(answer.status, 503, `${what}: ${answer.text}`)
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/, what)
}

test('a platform that serves is live and ready, without a token, and HEAD is answered too', async () => {
  assert.deepEqual((await health('live')).body, { status: 'live' })
  assert.deepEqual((await health('ready')).body, { status: 'ready' })
  assert.equal((await fetch(`${platform.url}/health/ready`, { method: 'HEAD' })).status, 200)
})

test('the database away: live but not ready, 503 with Retry-After everywhere; back: ready within 5 seconds, no restart', async () => {
  await server.stop()
  assert.equal((await health('live')).status, 200)
  const ready = await health('ready')
  assertAway(ready, 'ready')
  assert.deepEqual(ready.body, { status: 'not ready', reason: 'the database is away' })

  const credentials = { clientId: 'pk_x', secret: 'x' }
  const issuing = await platform.call('POST', '/getToken/auth', { body: credentials })
  assertAway(issuing, 'token')
  assert.deepEqual(Object.keys(issuing.body), ['text'])
  const user = { typeAccount: 'bank', login: 'x', password: 'x' }
  assertAway(await platform.call('POST', '/auth/login', { body: user }), 'login')
  assertAway(await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1M' } }), 'clock')
  assertAway(await platform.call('GET', '/admin/credentials', { token: platform.config.operatorKey }), 'admin')
  const order = '/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'
  const reading = await platform.call('GET', order, { token })
  assertAway(reading, 'order')
  assert.equal(reading.body.path, order)

  server = await startEmbeddedDatabase({ dataDir: join(folder, 'data') })
  const backMs = performance.now()
  while ((await health('ready')).status !== 200) {
    assert.ok(performance.now() - backMs < 5_000, 'not ready within 5 seconds')
    await sleep(20)
  }
  assert.equal((await platform.call('GET', order, { token })).status, 404)
  assert.equal((await platform.call('POST', '/getToken/auth', { body: credentials })).status, 400)
})

test('while the list of revocations can’t be read for 10 seconds no token is believed', async () => {
  const { refusals } = platform.platform.deps.esim
  assert.equal(refusals.stale(), false)
  await server.stop()
  const awayMs = performance.now()
  while (!refusals.stale()) {
    assert.ok(performance.now() - awayMs < 15_000, 'the list is still believed')
    await sleep(100)
  }
  assertAway(await platform.call('GET', '/esim/v1/operators', { token }), 'a valid token')
  assert.equal((await platform.call('GET', '/esim/v1/operators', { token: 'nonsense' })).status, 401)
  server = await startEmbeddedDatabase({ dataDir: join(folder, 'data') })
  const backMs = performance.now()
  while ((await platform.call('GET', '/esim/v1/operators', { token })).status !== 200) {
    assert.ok(performance.now() - backMs < 5_000)
    await sleep(50)
  }
})

test('a process that is to stop is not ready any more, but live, and answers what still comes', async () => {
  platform.platform.drain()
  const ready = await health('ready')
  assertAway(ready, 'ready')
  assert.deepEqual(ready.body, { status: 'not ready', reason: 'stopping' })
  assert.equal((await health('live')).status, 200)
  assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 200)
})
