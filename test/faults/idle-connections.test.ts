/** Connections that hold a descriptor and do nothing, from clients that never read and never close. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { range, until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { sharedSettings } from '../support/process.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const descriptors = 256
const silentOnes = 300

let database: TestDatabase
let folder: string
let port: number
let url: string
let end: () => Promise<void>
/** Whether a new connection is answered. */
const answers = async (): Promise<boolean> => {
  try {
    const socket = await openRaw(url)
    socket.write(requestText('GET', '/health/live', { connection: 'close' }))
    return (await readRaw(socket)).status === 200
  } catch {
    return false
  }
}
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'perkline-idle-'))
  port = await freePort()
  url = `http://127.0.0.1:${port}`
  const env = { PATH: process.env.PATH ?? '', ...sharedSettings(database.url, folder), PORT: String(port) }
  const script = `ulimit -n ${descriptors}; exec "${program}" serve`
  const child = spawn('sh', ['-c', script], { env, cwd: folder, stdio: 'ignore' })
  end = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await until('it answers', answers)
})
after(async () => {
  await end()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

let sockets: Socket[] = []
beforeEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
})

/** Clients that may send the beginning of a request, and then neither read nor close. */
async function crowd(beginning: string): Promise<void> {
  for (const _ of range(silentOnes)) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect').catch(() => {})
    socket.pause()
    if (beginning !== '') socket.write(beginning)
  }
}

test('more connections that say nothing than there are descriptors: others are answered', async () => {
  await crowd('')
  for (const _ of range(10)) assert.equal(await answers(), true)
})

test('more clients that keep their connections after a request than there are descriptors: others are answered', async () => {
  await crowd(requestText('GET', '/health/live'))
  for (const _ of range(10)) assert.equal(await answers(), true)
})

test('half a header and nothing more: others are answered', async () => {
  await crowd('GET / HTTP/1.1\r\nx: ')
  for (const _ of range(10)) assert.equal(await answers(), true)
})

test('a connection opened in advance is not cut off after 5 seconds, and is answered when it asks', async () => {
  const socket = await openRaw(url)
  sockets.push(socket)
  await sleep(8_000)
  socket.write(requestText('GET', '/health/live'))
  assert.equal((await readRaw(socket)).status, 200)
})

test('a connection on which nothing is ever sent is closed in the end, without an answer', async () => {
  const socket = await openRaw(url)
  sockets.push(socket)
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  await once(socket, 'close')
  assert.equal(Buffer.concat(chunks).toString(), '')
})
