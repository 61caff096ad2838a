/** `bin/node` on a machine for which npm has no Node.js: it uses the one in the PATH, or says what to install. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { type TestContext, test } from 'node:test'

/**
 * Runs a copy of `bin/node` in an empty checkout.
 * @param version the output of the PATH's `node --version`
 * @param system the output of `uname`
 */
async function runNode(t: TestContext, version: string, system: string) {
  const root = await mkdtemp(join(tmpdir(), 'perkline-node-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const programs = join(root, 'programs')
  await Promise.all([mkdir(programs), mkdir(join(root, 'bin'))])
  await copyFile(new URL('../../bin/node', import.meta.url), join(root, 'bin', 'node'))
  for (const [name, output] of [
    ['node', version],
    ['uname', system],
  ] as const) {
    await writeFile(join(programs, name), `#!/bin/sh\necho ${output}\n`)
    await chmod(join(programs, name), 0o755)
  }
  const env = { PATH: `${programs}:${process.env.PATH}` }
  return spawnSync(join(root, 'bin', 'node'), ['--version'], { env, encoding: 'utf8' })
}

test('a Node.js on the PATH that is new enough is used', async t => {
  const { status, stdout } = await runNode(t, 'v24.3.0', 'Darwin')
  assert.deepEqual([status, stdout], [0, 'v24.3.0\n'])
})

test('an older one is not: on macOS the message says what to install, on Linux that npm brings it', async t => {
  const mac = await runNode(t, 'v22.11.0', 'Darwin')
  assert.equal(mac.status, 1)
  assert.match(mac.stderr, /on Linux only.*install Node\.js 24 or newer/)
  const linux = await runNode(t, 'v20.0.0', 'Linux')
  assert.equal(linux.status, 1)
  assert.match(linux.stderr, /run `npm ci`/)
})
