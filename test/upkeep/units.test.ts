/**
 * The systemd units: they cause no warning, and limit what a process could do to its machine (contract/production.md,
 * "Units").
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { settingsHelp } from '../../src/settings/help.ts'
import { requireProgram } from '../support/require-program.ts'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const units = join(checkout, 'deploy', 'systemd')
const mostExposed = 2.5

/** Copies the systemd units to a temporary folder, with the paths of this checkout in place of those of an installation. */
async function installed(): Promise<{ folder: string; names: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-units-'))
  await cp(units, folder, { recursive: true })
  const names = await readdir(folder)
  for (const name of names) {
    const path = join(folder, name)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('/opt/perkline', checkout))
  }
  return { folder, names }
}

test('systemd-analyze has nothing to warn of, and finds little exposure', async t => {
  if (!requireProgram(t, 'systemd-analyze')) return
  const { folder, names } = await installed()
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
  try {
    const paths = names.map(name => join(folder, name))
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...paths], { env })
    assert.deepEqual(
      `${stdout}${stderr}`.split('\n').filter(line => line.includes('perkline')),
      [],
    )
    for (const path of paths.filter(each => each.endsWith('.service'))) {
      const { stdout } = await run('systemd-analyze', ['security', '--offline=true', path], { env })
      const exposure = Number(/exposure level for .*: ([\d.]+)/.exec(stdout)?.[1])
      assert.ok(exposure <= mostExposed, `${path}: ${exposure}`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a process is told ready only when it is, ends by itself, and its secrets stand in no environment', async () => {
  const unit = await readFile(join(units, 'perkline@.service'), 'utf8')
  for (const line of [
    'Type=exec',
    'KillMode=mixed',
    'TimeoutStopSec=50',
    'Restart=on-failure',
    'DynamicUser=yes',
    'ProtectSystem=strict',
    'MemoryDenyWriteExecute=no',
    'ExecStartPost=/opt/perkline/bin/perkline health --ready --wait 60',
  ])
    assert.ok(unit.split('\n').includes(line), line)
  // An upgrade restarts perkline-migrate, which must not end the processes that serve.
  assert.doesNotMatch(unit, /^(?:Requires|BindsTo|PartOf)=/m)
  assert.match(unit, /^Wants=.*perkline-migrate\.service/m)
  const set = [...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)]
  const known = settingsHelp.map(({ name }) => name)
  for (const [, name = ''] of set) assert.ok(known.includes(name) || name === 'NODE_COMPILE_CACHE', name)
  for (const secret of ['MASTER_KEY', 'OPERATOR_KEY', 'DATABASE_URL']) {
    assert.ok(
      set.some(([, name, value]) => name === `${secret}_FILE` && value?.startsWith('%d/')),
      secret,
    )
    assert.doesNotMatch(unit, new RegExp(`^Environment=${secret}=`, 'm'))
  }
})

test('a unit that runs as somebody else’s user leaves that user’s shared memory alone', async () => {
  for (const name of await readdir(units)) {
    const lines = (await readFile(join(units, name), 'utf8')).split('\n')
    const isOthers = lines.some(line => /^User=/.test(line)) && !lines.includes('DynamicUser=yes')
    if (isOthers) assert.ok(lines.includes('RemoveIPC=no'), name)
  }
})
