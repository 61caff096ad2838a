/**
 * Files that do not answer, such as on a mount whose machine is away (contract/reliability.md, "When something is
 * away"). A pipe that nobody reads stands in for them: opening it for writing waits forever.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesOnServer, status } from '../support/served.ts'

const { onServer, operatorKey, start } = processesOnServer()

function hangingFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-hanging-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pipe')
  execFileSync('mkfifo', [file])
  return file
}

test('an AUDIT_ANCHOR_FILE that stops answering holds up neither logins nor the stop', async t => {
  const anchors = hangingFile(t)
  const reader = await open(anchors, 'r+')
  const run = await start(t, ['serve'], { ...onServer(), AUDIT_ANCHOR_FILE: anchors })
  await run.ready()
  await reader.close()
  const headers = { authorization: `Bearer ${operatorKey}` }
  // More calls than Node.js has threads.
  const made = Promise.all(
    Array.from({ length: 6 }, () => status(`${run.url}/admin/audit-log/checkpoint`, { method: 'POST', headers })),
  )
  made.catch(() => {})
  while (run.stdout().split('a checkpoint of the audit log').length <= 6) await sleep(10)
  const body = JSON.stringify({ clientId: 'pk_nobody_0123456789', secret: 'wrong' })
  for (let login = 0; login < 3; login++) {
    const answer = await fetch(`${run.url}/getToken/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(5_000),
    })
    assert.equal(answer.status, 400, await answer.text())
  }
  assert.deepEqual(await made, Array(6).fill(200), 'the checkpoints stand')
  const told = /"code":"ETIMEDOUT".*a checkpoint could not be appended to AUDIT_ANCHOR_FILE/
  for (let waited = 0; waited < 50 && !told.test(run.stdout()); waited++) await sleep(20)
  assert.match(run.stdout(), told)
  const signalledMs = performance.now()
  run.signal('SIGTERM')
  assert.equal(await run.ended, 0)
  assert.ok(performance.now() - signalledMs < 20_000)
})

test('a start without the disk of AUDIT_ANCHOR_FILE goes on, and writes there once the disk is back', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-missing-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const anchors = join(folder, 'mounted', 'anchors.txt')
  const run = await start(t, ['serve'], { ...onServer(), AUDIT_ANCHOR_FILE: anchors })
  await run.ready()
  assert.match(run.stdout(), /"level":"error".*ENOENT.*AUDIT_ANCHOR_FILE cannot be written now/)
  mkdirSync(join(folder, 'mounted'))
  const headers = { authorization: `Bearer ${operatorKey}` }
  assert.equal(await status(`${run.url}/admin/audit-log/checkpoint`, { method: 'POST', headers }), 200)
  assert.match(readFileSync(anchors, 'utf8'), /^\nperkline\.audit\//)
})

test('a process that must end does so even if a call on a file hangs', { timeout: 20_000 }, async t => {
  const code = `
    import { appendFile } from 'node:fs/promises'
    import { endNow } from ${JSON.stringify(new URL('../../src/server/end-now.ts', import.meta.url).href)}
    appendFile(process.env.FILE, '').catch(() => {})
    setTimeout(endNow, 300, 1)`
  const args = ['--input-type=module', '-e', code]
  const child = spawn(process.execPath, args, { env: { FILE: hangingFile(t) }, stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])
  const free = spawn(process.execPath, ['--input-type=module', '-e', code], { env: { FILE: '/dev/null' } })
  assert.deepEqual(await once(free, 'exit'), [1, null])
})
