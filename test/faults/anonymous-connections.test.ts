/**
 * More connections than a process has file descriptors, from clients without a token that never read and never close
 * (contract/limits.md, "Requests").
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { range } from '../support/esim.ts'
import { type PerklineProcess, sharedSettings, startProcess } from '../support/process.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'
import { program } from '../support/served.ts'
import { openShop } from '../support/world.ts'

const descriptors = 256
const silentOnes = 300

let database: TestDatabase
let folder: string
let platform: PerklineProcess
let operatorKey: string
let token: string
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'perkline-connections-'))
  await mkdir(join(folder, 'bin'))
  const script = `#!/bin/sh\nulimit -n ${descriptors}\nexec "${program}" "$@"\n`
  await writeFile(join(folder, 'bin', 'perkline'), script, { mode: 0o755 })
  const settings = sharedSettings(database.url, folder)
  operatorKey = settings.OPERATOR_KEY ?? ''
  platform = await startProcess(settings, undefined, ['serve'], folder)
  token = (await openShop(platform, { profiles: 5, seed: 7_602 })).alpha
})
after(async () => {
  await platform.kill()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

/** Whether a new connection is answered. */
const answers = async (): Promise<boolean> => {
  try {
    const socket = await openRaw(platform.url)
    socket.write(requestText('GET', '/health/live', { connection: 'close' }))
    return (await readRaw(socket)).status === 200
  } catch {
    return false
  }
}

let sockets: Socket[] = []
beforeEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
})

/** Clients that may send the beginning of a request, and then neither read nor close. */
async function crowd(beginning: string): Promise<void> {
  for (const _ of range(silentOnes)) {
    const socket = connect({ port: Number(new URL(platform.url).port), host: '127.0.0.1', allowHalfOpen: true })
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect').catch(() => {})
    socket.pause()
    if (beginning !== '') socket.write(beginning)
  }
}

const body = { 'content-type': 'application/json', 'content-length': '5000' }

for (const [what, beginning] of [
  ['say nothing', ''],
  ['send half a header', 'GET / HTTP/1.1\r\nx: '],
  ['keep their connection after a request', requestText('GET', '/health/live')],
  ['send half a body', `${requestText('POST', '/getToken/auth', body)}{`],
  [
    'send half a body with a wrong token',
    `${requestText('POST', '/esim/v1/orders', { ...body, authorization: 'Bearer x' })}{`,
  ],
  ['do not read their answers', requestText('GET', '/swagger/json').repeat(10)],
  ['do not read the files they ask for', requestText('GET', '/swagger/static/swagger-ui-bundle.js').repeat(10)],
] as const)
  test(`more clients that ${what} than there are descriptors: others are answered`, async () => {
    await crowd(beginning)
    for (const _ of range(10)) assert.equal(await answers(), true)
  })

test('questions whether a file has changed leave no place taken', async () => {
  for (const _ of range(descriptors)) {
    const socket = await openRaw(platform.url)
    socket.write(
      requestText('HEAD', '/swagger/static/swagger-ui-bundle.js', { 'if-none-match': '*', connection: 'close' }),
    )
    assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1.1 304 /)
  }
  for (const _ of range(10)) assert.equal(await answers(), true)
})

for (const [whose, authorization] of [
  ['a partner', () => `Bearer ${token}`],
  ['the operator', () => `Bearer ${operatorKey}`],
] as const)
  test(`a request of ${whose} whose body takes a while keeps its connection in a crowd`, async () => {
    const path = whose === 'a partner' ? '/esim/v1/orders' : '/admin/directory'
    const socket = await openRaw(platform.url)
    sockets.push(socket)
    const headers = { 'content-type': 'application/json', 'content-length': '2', authorization: authorization() }
    socket.write(`${requestText('POST', path, headers)}{`)
    await sleep(200)
    await crowd('')
    socket.write('}')
    assert.equal((await readRaw(socket)).status, 400)
  })

test('the answers to pipelined requests of a partner arrive in a crowd', async () => {
  const { body: now } = await platform.call('GET', '/partner/v1/events?after=now', { token })
  const socket = await openRaw(platform.url)
  sockets.push(socket)
  const authorization = `Bearer ${token}`
  const poll = `/partner/v1/events?after=${now.nextAfter}&feedId=${now.feedId}&wait=3`
  socket.write(requestText('GET', poll, { authorization }))
  socket.write(requestText('GET', '/esim/v1/operators', { authorization }))
  socket.write(requestText('GET', '/health/live', { connection: 'close' }))
  await sleep(200)
  await crowd('')
  const answered = Buffer.concat(await socket.toArray()).toString()
  assert.equal(answered.match(/HTTP\/1.1 200 OK/g)?.length, 3, answered)
})

test('a connection is ended again once its partner has the answer', async () => {
  const known: Socket[] = []
  for (const _ of range(10)) {
    const socket = await openRaw(platform.url)
    sockets.push(socket)
    socket.write(requestText('GET', '/esim/v1/operators', { authorization: `Bearer ${token}` }))
    assert.equal((await readRaw(socket)).status, 200)
    known.push(socket)
  }
  await crowd('')
  await sleep(200)
  assert.deepEqual(
    known.map(({ destroyed }) => destroyed),
    known.map(() => true),
  )
})

test('a connection opened in advance is not cut off after 5 seconds, and is answered when it asks', async () => {
  const socket = await openRaw(platform.url)
  sockets.push(socket)
  await sleep(8_000)
  socket.write(requestText('GET', '/health/live'))
  assert.equal((await readRaw(socket)).status, 200)
})

test('a connection on which nothing is ever sent is closed in the end, without an answer', async () => {
  const socket = await openRaw(platform.url)
  sockets.push(socket)
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  await once(socket, 'close')
  assert.equal(Buffer.concat(chunks).toString(), '')
})
