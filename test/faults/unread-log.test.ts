/** A log that nobody reads blocks neither requests nor the end of the process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from '../support/database.ts'
import { range } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { callAt, sharedSettings } from '../support/process.ts'

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
/** The log lines of this many requests are more than the pipe and its two ends can hold. */
const requests = 3_000

test('a pipe that is open and that nobody reads: requests are answered, and SIGTERM ends the process with 0', async t => {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-unread-'))
  const port = await freePort()
  const env = { PATH: process.env.PATH ?? '', ...sharedSettings(database.url, folder), PORT: String(port) }
  const child = spawn(program, ['serve'], { env, cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(async () => {
    child.kill('SIGKILL')
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  const call = callAt(`http://127.0.0.1:${port}`)
  const isReady = () =>
    call('GET', '/health/ready').then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await isReady())) await sleep(20)
  for (const _ of range(requests / 50))
    await Promise.all(range(50).map(async () => assert.equal((await call('GET', '/health/live')).status, 200)))
  const signalledMs = performance.now()
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
  assert.ok(performance.now() - signalledMs < 20_000, 'long before its limit')
})
