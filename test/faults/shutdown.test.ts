/** How `perkline serve` stops on a signal (contract/operations.md). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { openRaw, readRaw, requestText } from '../support/raw-http.ts'
import { live, processesOnServer, status } from '../support/served.ts'

const { failure, onServer, operatorKey, start } = processesOnServer()

suite('perkline', { concurrency: 3 }, () => {
  suite('SIGTERM', { concurrency: 2 }, () => {
    test('a request under way is finished on its connection, which then ends; exit 0', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      const body = '{"clientId":"pk_nobody","secret":"nothing"}'
      const head = requestText('POST', '/getToken/auth', {
        'content-type': 'application/json',
        'content-length': String(body.length),
      })
      socket.write(head + body.slice(0, 10))
      // Send a second request on another connection. When it is answered, the process has read the start of the first.
      assert.equal(await status(`${run.url}/health/live`), 200)
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      while (
        await fetch(`${run.url}/health/live`).then(
          answer => answer.arrayBuffer(),
          () => null,
        )
      )
        await sleep(10)
      socket.write(body.slice(10))
      const answer = await readRaw(socket)
      assert.equal(answer.status, 400)
      assert.deepEqual(Object.keys(answer.body), ['text'])
      assert.equal(await run.ended, 0, run.stderr())
      assert.ok(performance.now() - signalledMs < 20_000, 'it does not wait for idle connections')
      assert.match(run.stdout(), /"msg":"stopped"/)
      assert.equal(run.stderr(), '')
    })

    test('a request that does not end is cut off after 30 s; all is closed, exit 0', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'text/csv', 'content-length': '1000' }
      socket.write(requestText('POST', '/admin/customers?bank=alpha', headers))
      const line = setInterval(() => socket.write('x'), 500)
      t.after(() => clearInterval(line))
      socket.on('error', () => {})
      await sleep(500)
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      await once(socket, 'close')
      assert.ok(performance.now() - signalledMs > 29_000)
      assert.equal(await run.ended, 0, run.stderr())
      assert.match(run.stdout(), /"msg":"stopped"/)
    })

    test('connections that were kept alive do not hold it up', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const sockets = await Promise.all(Array.from({ length: 5 }, () => openRaw(run.url)))
      for (const socket of sockets) {
        socket.write(requestText('GET', '/health/live'))
        assert.equal((await readRaw(socket)).status, 200)
      }
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
      assert.ok(performance.now() - signalledMs < 20_000)
      for (const socket of sockets) socket.destroy()
    })

    test('the beginning of a header that never ends holds it up for 5 seconds at most', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      socket.on('error', () => {})
      socket.write('GET /health/live HTTP/1.1\r\nx: ')
      assert.equal(await status(`${run.url}/health/live`), 200)
      const signalledMs = performance.now()
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0, run.stderr())
      assert.ok(performance.now() - signalledMs < 15_000)
    })

    test('a request without a token is finished, too, when it takes longer than headers may', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      const socket = await openRaw(run.url)
      const headers = { 'content-type': 'application/json', 'content-length': '2' }
      socket.write(`${requestText('POST', '/getToken/auth', headers)}{`)
      assert.equal(await status(`${run.url}/health/live`), 200)
      run.signal('SIGTERM')
      await sleep(6_000)
      socket.write('}')
      assert.equal((await readRaw(socket)).status, 400)
      assert.equal(await run.ended, 0, run.stderr())
    })

    test('in live mode it says at once that it is not ready, and serves until a load balancer has seen it', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const run = await start(t, ['serve'], { ...onServer(own.url), ...live })
      await run.ready()
      const [kept, late] = [await openRaw(run.url), await openRaw(run.url)]
      for (const socket of [kept, late]) {
        socket.write(requestText('GET', '/health/live'))
        assert.equal((await readRaw(socket)).headers.connection, 'keep-alive')
      }
      run.signal('SIGTERM')
      while ((await status(`${run.url}/health/ready`)) !== 503) await sleep(5)
      // A balancer or a bank keeps such connections open. The answers tell their clients to open new ones.
      for (const [socket, path, expected] of [
        [kept, '/health/live', 200],
        [late, '/esim/v1/operators', 401],
      ] as const) {
        const ended = once(socket, 'end')
        socket.write(requestText('GET', path))
        const answer = await readRaw(socket)
        assert.deepEqual([answer.status, answer.headers.connection], [expected, 'close'])
        await ended
      }
      assert.equal(await status(`${run.url}/health/live`), 200)
      assert.equal(await status(`${run.url}/esim/v1/operators`), 401)
      assert.equal(await run.ended, 0, run.stderr())
    })

    test('SIGINT does the same, also twice at once, as a terminal and npm send it', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      // A running request delays the stop until the second signal.
      const socket = await openRaw(run.url)
      const body = '{"clientId":"pk_nobody","secret":"nothing"}'
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      socket.write(requestText('POST', '/getToken/auth', headers) + body.slice(0, 10))
      assert.equal(await status(`${run.url}/health/live`), 200)
      run.signal('SIGINT')
      while (!run.stdout().includes('"msg":"stopping"')) await sleep(1)
      run.signal('SIGINT')
      await sleep(50)
      socket.write(body.slice(10))
      assert.equal(await run.ended, 0)
      assert.match(run.stdout(), /"msg":"stopped"/)
    })
  })

  suite('an embedded platform', () => {
    test('keeps one data folder to itself, keeps its data over a restart, and stops with exit 0', async t => {
      const first = await start(t, ['serve'], { SAMPLE_DATA: '0' })
      await first.ready()
      const data = join(first.folder, 'data')
      assert.ok(existsSync(join(data, 'keys', 'master.key')) && existsSync(join(data, 'operator.key')))
      assert.equal(await status(`${first.url}/sandbox/clock`), 200)
      const moved = await fetch(`${first.url}/sandbox/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"advance":"P1D"}',
      })
      assert.match(await moved.text(), /"offsetSeconds":86400/)

      const message = await failure(t, ['serve'], { DATA_DIR: data, SAMPLE_DATA: '0' })
      assert.ok(message.includes(data), message)
      assert.match(message, /in use|another/i)
      assert.equal(await status(`${first.url}/health/ready`), 200, 'the first is unharmed')

      first.signal('SIGTERM')
      assert.equal(await first.ended, 0, first.stderr())
      const second = await start(t, ['serve'], { DATA_DIR: data, SAMPLE_DATA: '0' })
      await second.ready()
      const clock = await fetch(`${second.url}/sandbox/clock`)
      assert.match(await clock.text(), /"offsetSeconds":86400/)
      second.signal('SIGTERM')
      assert.equal(await second.ended, 0)
    })
  })
})
