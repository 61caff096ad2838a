/** Signals that other programs send by habit, such as log rotation, change nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processesOnServer } from '../support/served.ts'

const { onServer, start } = processesOnServer()

test('SIGUSR1 opens no debugger, and the process serves on', async t => {
  const run = await start(t, ['serve'], onServer())
  await run.ready()
  run.signal('SIGUSR1')
  await run.ready()
  run.signal('SIGTERM')
  assert.equal(await run.ended, 0)
  // Anybody who reaches an open debugger could run code in the process and read its secrets.
  assert.doesNotMatch(run.stderr(), /Debugger/)
})
