/** Signals that others send by habit, as log rotation does, change nothing. */
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
  // The debugger is the secrets' way out: who reaches it runs code in the process.
  assert.doesNotMatch(run.stderr(), /Debugger/)
})
