/**
 * Senders of slow headers or bodies are cut off (contract/reliability.md, "Facts"): within 10 seconds, or later for a campaign's form.
 * Meanwhile others are served, and no stop waits for such a sender. The tests run at the same time, each on its own connections.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'

let platform: TestPlatform
let token: string
before(async () => {
  platform = await startPlatform()
  token = await platform.bankToken()
})
after(() => platform.close())

/**
 * Writes the beginning, then single bytes for as long as the server listens.
 * @returns the answer and how long it took
 */
async function trickle(beginning: string, byte: string) {
  const socket = await openRaw(platform.url)
  const startedMs = performance.now()
  const ended = once(socket, 'close')
  socket.write(beginning)
  const timer = setInterval(() => socket.write(byte), 300)
  const enough = setTimeout(() => socket.destroy(), 15_000)
  try {
    const answer = await readRaw(socket)
    await ended
    return { answer, seconds: (performance.now() - startedMs) / 1000 }
  } finally {
    clearInterval(timer)
    clearTimeout(enough)
    socket.destroy()
  }
}

const json = { 'content-type': 'application/json', 'content-length': '5000' }

suite('slow senders', { concurrency: true }, () => {
  test('headers that trickle in get 408 and the connection ends', async () => {
    const { answer, seconds } = await trickle('GET /health/live HTTP/1.1\r\nhost: a\r\nx-slow: ', 'x')
    assert.equal(answer.status, 408)
    assert.deepEqual(answer.body, { statusCode: 408, message: 'The request took too long', error: 'Request Timeout' })
    assert.ok(answer.headers['x-request-id'])
    assert.ok(seconds < 10, `${seconds} s`)
  })

  for (const [path, body] of [
    ['/getToken/auth', { text: 'The body took too long' }],
    ['/auth/login', { statusCode: 408, message: 'The body took too long', error: 'Request Timeout' }],
  ] as const)
    test(`a body for ${path} that trickles in gets 408 and the connection ends`, async () => {
      const { answer, seconds } = await trickle(requestText('POST', path, json), ' ')
      assert.equal(answer.status, 408)
      assert.deepEqual(answer.body, body)
      assert.equal(answer.headers.connection, 'close')
      assert.ok(seconds < 10, `${seconds} s`)
    })

  test('a campaign’s form may be large, so it may take longer to come', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '2' }
    const authorization = `Bearer ${await platform.merchantToken()}`
    const socket = await openRaw(platform.url)
    socket.write(`${requestText('POST', '/cashbacks/for-merchant', { ...headers, authorization })}{`)
    await sleep(9_000)
    socket.write('}')
    assert.equal((await readRaw(socket)).status, 400)
    socket.destroy()
  })

  test('a body for the eSIM API that trickles in gets 408 in that API’s body', async () => {
    const headers = { ...json, authorization: `Bearer ${token}` }
    const { answer, seconds } = await trickle(requestText('POST', '/esim/v1/orders', headers), ' ')
    assert.equal(answer.status, 408)
    const { timestamp, ...rest } = answer.body
    assert.ok(timestamp)
    assert.deepEqual(rest, {
      statusCode: 408,
      path: '/esim/v1/orders',
      method: 'POST',
      error: 'Request Timeout',
      message: 'The body took too long',
    })
    assert.ok(seconds < 10, `${seconds} s`)
  })

  for (const [path, status] of [
    ['/nowhere', 404],
    ['/esim/v1/orders', 401],
    ['/%zz', 400],
  ] as const)
    test(`a body that nobody reads, after ${status}, does not keep its connection either`, async () => {
      const { answer, seconds } = await trickle(requestText('POST', path, json), ' ')
      assert.equal(answer.status, status)
      assert.ok(seconds < 10, `${seconds} s`)
    })

  test('others are served meanwhile', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => openRaw(platform.url)))
    for (const socket of slow) socket.write(requestText('POST', '/getToken/auth', json))
    for (let index = 0; index < 20; index++) {
      assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 200)
    }
    for (const socket of slow) socket.destroy()
  })

  test('a sender that disconnects before the end of its body delays no stop', async t => {
    const database = await createTestDatabase()
    const folder = await mkdtemp(join(tmpdir(), 'perkline-slow-'))
    const process = await startProcess(sharedSettings(database.url, folder))
    t.after(async () => {
      await process.kill()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    })
    for (const [path, status] of [
      ['/cashbacks/for-merchant', 401],
      ['/getToken/auth', 413],
      ['/portal/session', 413],
      ['/admin/directory', 401],
    ] as const) {
      const socket = await openRaw(process.url)
      const headers = { 'content-type': 'application/json', 'content-length': String(32 * 1024 * 1024) }
      socket.write(`${requestText('POST', path, headers)}{`)
      assert.equal((await readRaw(socket)).status, status, path)
      socket.destroy()
    }
    const startedMs = performance.now()
    assert.equal(await process.stop(), 0, process.output())
    // A process that still waited for these bodies would need at least 8 s, the shortest time limit of a body.
    assert.ok(performance.now() - startedMs < 7_000)
  })
})
