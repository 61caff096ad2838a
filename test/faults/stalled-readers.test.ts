/**
 * Clients that do not read their answers (contract/limits.md, "Requests"): when they are disconnected, and that the log
 * stays quiet. All tests wait at the same time.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLogger } from '../../src/log.ts'
import { range } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { openRaw, requestText } from '../support/raw-http.ts'

let platform: TestPlatform
const lines: string[] = []
/** When the platform closed each connection, by the port of the client. */
const closedMs = new Map<number, number>()
before(async () => {
  const logger = createLogger('warn', { write: line => void lines.push(line) })
  platform = await startPlatform({}, { logger })
  platform.platform.app.server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    socket.once('close', () => closedMs.set(remotePort, performance.now()))
  })
})
after(() => platform.close())

/** The answers are larger than what the system keeps for a client that does not read. */
const requests = requestText('GET', '/swagger/static/swagger-ui-bundle.js').repeat(10)

/** A client that has begun to wait for answers, but reads nothing by itself. */
async function openStalled(): Promise<Socket> {
  const socket = await openRaw(platform.url)
  socket.pause().write(requests)
  return socket
}

suite('clients that do not read', { concurrency: true }, () => {
  test('who reads nothing is disconnected after 30 s', async () => {
    const startedMs = performance.now()
    const sockets = await Promise.all(range(20).map(openStalled))
    const ports = sockets.map(({ localPort = 0 }) => localPort)
    await sleep(28_000)
    assert.deepEqual(
      ports.filter(port => closedMs.has(port)),
      [],
    )
    await sleep(20_000)
    const kept = ports.map(port => Math.round(((closedMs.get(port) ?? Number.NaN) - startedMs) / 1000))
    assert.ok(
      kept.every(seconds => seconds >= 30 && seconds < 46),
      `kept for ${kept.join(', ')} s`,
    )
    for (const socket of sockets) socket.destroy()
    assert.deepEqual(lines, [])
  })

  test('who reads a little from time to time is not', async () => {
    const socket = await openStalled()
    for (const _ of range(6)) {
      await sleep(9_000)
      // More than a part of what the system keeps, so that it asks for more.
      for (let read = 0; read < 4 * 1024 * 1024; ) {
        const chunk: Buffer | null = socket.read()
        if (chunk === null) break
        read += chunk.length
        await sleep(1)
      }
      assert.equal(closedMs.has(socket.localPort ?? 0), false)
    }
    socket.destroy()
  })
})
