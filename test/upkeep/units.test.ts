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

test('the settings of the guide can be read by a shell, as the upgrade reads them, and use no port of another program', async () => {
  const page = await readFile(join(checkout, 'docs', 'operating.md'), 'utf8')
  const block =
    /^Write the settings to a file[\s\S]*?^```text\n([\s\S]*?)^```/m.exec(page)?.[1] ?? assert.fail('no settings')
  const folder = await mkdtemp(join(tmpdir(), 'perkline-settings-'))
  try {
    await writeFile(join(folder, 'env'), block)
    const { stdout } = await run('bash', ['-ec', 'set -a; . ./env; set +a; env'], { cwd: folder, env: {} })
    const read = new Map(stdout.split('\n').map(line => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]))
    for (const line of block.trim().split('\n')) {
      const [, name, value] = /^(\w+)=(?:"(.*)"|(.*))$/.exec(line) ?? assert.fail(line)
      assert.equal(read.get(name), value ?? line.slice(line.indexOf('=') + 1))
    }
    assert.equal(read.get('MAIL_FROM'), 'Perkline <esim@perkline.example>')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  // The alerts need node exporter, whose port is 9100.
  for (const file of ['docs/operating.md', '.env.example', 'deploy/container/compose.yml'])
    assert.doesNotMatch(await readFile(join(checkout, file), 'utf8'), /METRICS_PORT\W+9100/, file)
})

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
