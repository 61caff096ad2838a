/** Signals to a program that is the first process (PID 1), as in a container (contract/operations.md, "Health and stop"). */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesOnServer, program } from '../support/served.ts'

const { onServer } = processesOnServer()
const asFirst = ['--pid', '--fork', '--mount-proc', '--kill-child']

/** Starts the program as the first process. @returns null where this is not allowed */
function startAsFirst(t: TestContext, args: string[], env: Record<string, string>) {
  if (spawnSync('unshare', [...asFirst, 'true']).status !== 0) {
    t.skip('nothing may be run as the first process here')
    return null
  }
  const folder = mkdtempSync(join(tmpdir(), 'perkline-first-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const child = spawn('unshare', [...asFirst, program, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return {
    ended: once(child, 'exit'),
    stdout: child.stdout,
    signal: (name: NodeJS.Signals) =>
      process.kill(Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()), name),
  }
}

/** A server that takes connections and says nothing. */
async function silentServer(t: TestContext) {
  const server = createServer(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  return { port, called: once(server, 'connection') }
}

test('a signal during the start ends it', { timeout: 30_000 }, async t => {
  const { port, called } = await silentServer(t)
  const run = startAsFirst(t, ['serve'], onServer(`postgres://a@127.0.0.1:${port}/b`))
  if (!run) return
  await called
  run.signal('SIGTERM')
  assert.deepEqual(await run.ended, [143, null])
})

test('a signal ends a command', { timeout: 30_000 }, async t => {
  const { port, called } = await silentServer(t)
  const env = { PERKLINE_URL: `http://127.0.0.1:${port}`, OPERATOR_KEY: 'k'.repeat(40) }
  const run = startAsFirst(t, ['stock'], env)
  if (!run) return
  await called
  run.signal('SIGINT')
  assert.deepEqual(await run.ended, [130, null])
})

test('after the start a signal stops the process in order', { timeout: 60_000 }, async t => {
  const run = startAsFirst(t, ['serve'], { ...onServer(), PORT: '0' })
  if (!run) return
  let output = ''
  run.stdout.on('data', chunk => {
    output += chunk
  })
  while (!output.includes('"msg":"ready"')) await sleep(20)
  run.signal('SIGTERM')
  assert.deepEqual(await run.ended, [0, null])
  assert.match(output, /"msg":"stopped"/)
})
