/**
 * What goes into the image (contract/production.md, "Container"): it has the expected size and no private files of the
 * builder.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { secretNames } from '../../src/settings/secret-files.ts'
import { createTestDatabase } from '../support/database.ts'
import { testDirectory } from '../support/platform.ts'
import { sharedSettings, startProcess } from '../support/process.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const maxBytes = 40_000_000
const copied = ['bin', 'src', 'migrations', 'samples', 'package.json', 'deploy', 'docs']

type Package = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }

/**
 * Returns the folders of packages that `npm ci --omit=dev --workspace bin --include-workspace-root` would install, read
 * from the lock file.
 */
function packagesThatRun(): string[] {
  const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Package>
  }
  const found = new Set<string>()
  const visit = (from: string): void => {
    const { dependencies, optionalDependencies } = packages[from] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      let at = from
      while (at !== '' && !packages[join(at, 'node_modules', name)])
        at = at.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')
      const path = join(at, 'node_modules', name)
      if (found.has(path) || !packages[path]) continue
      found.add(path)
      visit(path)
    }
  }
  visit('')
  visit('bin')
  return [...found].filter(path => existsSync(join(checkout, path)))
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(entry =>
    entry.isFile() ? join(entry.parentPath, entry.name) : [],
  )
}

const planted = 'planted-4f1c9a'
const folder = mkdtempSync(join(tmpdir(), 'perkline-image-'))
const image = join(folder, 'to')
before(() => {
  const from = join(folder, 'from')
  const copy = (path: string) => {
    if (existsSync(join(from, path))) return
    mkdirSync(dirname(join(from, path)), { recursive: true })
    execFileSync('cp', ['-a', join(checkout, path), join(from, path)])
  }
  mkdirSync(join(from, 'portal'), { recursive: true })
  for (const path of [...copied, 'portal/dist', 'portal/package.json', ...packagesThatRun()]) copy(path)
  // Secrets are also planted where the container engine expects them, and where developers may leave some.
  const beside = secretNames.flatMap(name => [`deploy/container/secrets/${name}`, `samples/secrets/${name}`])
  const others = ['.env', 'src/.env', 'bin/.env.local', 'deploy/tls.pem', 'deploy/container/tls.key', 'deploy/.npmrc']
  const top = ['secrets/master-key', 'data/operator.key', '.npmrc', 'portal/.env', 'portal/dist/.env', '.git/config']
  for (const path of [...beside, ...others, ...top]) {
    mkdirSync(dirname(join(from, path)), { recursive: true })
    writeFileSync(join(from, path), planted)
  }
  execFileSync(join(checkout, 'deploy/container/trim'), [from, image], {
    env: { PATH: process.env.PATH, SOURCE_DATE_EPOCH: '0' },
  })
})
after(() => rmSync(folder, { recursive: true, force: true }))

test('our code and packages are at most 40 MB, and secrets in the checkout stay out', () => {
  const files = filesBelow(image)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  assert.ok(bytes <= maxBytes, `${(bytes / 1e6).toFixed(1)} MB`)
  assert.ok(bytes > 10_000_000, `${(bytes / 1e6).toFixed(1)} MB: something is missing`)
  assert.deepEqual(
    files.filter(file => statSync(file).size < 1_000_000 && readFileSync(file, 'latin1').includes(planted)),
    [],
  )
  assert.ok(
    files.every(file => statSync(file).mtimeMs === 0),
    'two builds of a commit are the same',
  )
})

/** Returns the packages that a module imports, including those that it loads only when they are needed. */
function packagesOf(file: string): string[] {
  const named = /^(?:import|export|\}).*?from '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm
  const names = [...readFileSync(file, 'utf8').matchAll(named)].map(([, first, second]) => first ?? second ?? '')
  return names.flatMap(name => (isBuiltin(name) ? [] : name.split('/', name.startsWith('@') ? 2 : 1).join('/')))
}

test('what `npm ci --omit=dev` brings is enough: every package that the program names is there, and it serves', async t => {
  const modules = filesBelow(join(image, 'src')).filter(file => file.endsWith('.ts'))
  const names = new Set(modules.flatMap(packagesOf))
  assert.ok(names.has('fastify') && names.has('pdfkit') && names.has('nodemailer'))
  // Only types are imported from this package, so it is not needed at run time.
  names.delete('openapi-types')
  assert.deepEqual(
    [...names].filter(name => !existsSync(join(image, 'node_modules', name))),
    [],
  )
  mkdirSync(join(image, 'node_modules/.bin'), { recursive: true })
  // The real image gets Node.js from its base image. Here a link to this Node.js replaces it.
  symlinkSync(process.execPath, join(image, 'node_modules/.bin/node'))
  const database = await createTestDatabase()
  t.after(() => database.close())
  const running = await startProcess(sharedSettings(database.url, folder), undefined, ['serve'], image)
  try {
    for (const path of ['/health/ready', '/swagger', '/esim/v1/swagger', '/app/', '/.well-known/perkline-keys.json'])
      assert.equal((await running.call('GET', path)).status, 200, path)
    await running.admin('POST', '/directory', { directory: testDirectory })
    const issued = await running.admin('POST', '/credentials', { bank: 'alpha', role: 'ADMIN', label: 'image' })
    const { body } = await running.call('POST', '/getToken/auth', { body: issued })
    assert.equal((await running.call('GET', '/retailers', { token: body.access_token })).status, 200)
  } finally {
    await running.kill()
  }
})

test('private files of the builder are not even sent to the container engine', () => {
  const ignored = readFileSync(join(checkout, '.dockerignore'), 'utf8').split('\n')
  for (const path of ['.git', '**/node_modules', '**/.env', '**/.npmrc', 'data', '**/secrets', '**/*.pem', '**/*.key'])
    assert.ok(ignored.includes(path), path)
})
