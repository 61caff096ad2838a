/** What goes into the image (contract/production.md, "Container"): its size, and that nothing of the builder's own comes along. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const maxBytes = 40_000_000
const copied = ['bin', 'src', 'migrations', 'samples', 'package.json', 'deploy', 'docs']

type Package = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }

/** The folders of packages that `npm ci --omit=dev --workspace bin --include-workspace-root` brings, by the lock file. */
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

test('at most 40 MB are ours and our packages, and a secret in the checkout stays out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-image-'))
  try {
    const [from, to] = [join(folder, 'from'), join(folder, 'to')]
    mkdirSync(join(from, 'portal'), { recursive: true })
    const copy = (path: string) => {
      if (existsSync(join(from, path))) return
      mkdirSync(dirname(join(from, path)), { recursive: true })
      execFileSync('cp', ['-a', join(checkout, path), join(from, path)])
    }
    for (const path of [...copied, 'portal/dist', 'portal/package.json', ...packagesThatRun()]) copy(path)
    const planted = 'planted-4f1c9a'
    for (const path of ['.env', 'secrets/master-key', 'data/operator.key', '.npmrc', 'portal/.env']) {
      mkdirSync(dirname(join(from, path)), { recursive: true })
      writeFileSync(join(from, path), planted)
    }
    execFileSync(join(checkout, 'deploy/container/trim'), [from, to], {
      env: { PATH: process.env.PATH, SOURCE_DATE_EPOCH: '0' },
    })
    const files = filesBelow(to)
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
    assert.ok(bytes <= maxBytes, `${(bytes / 1e6).toFixed(1)} MB`)
    assert.ok(bytes > 10_000_000, `${(bytes / 1e6).toFixed(1)} MB: something is missing`)
    assert.deepEqual(
      files.filter(file => statSync(file).size < 1_000 && readFileSync(file, 'utf8').includes(planted)),
      [],
    )
    assert.ok(
      files.every(file => statSync(file).mtimeMs === 0),
      'two builds of a commit are the same',
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('what the builder has of its own is not even sent to the engine', () => {
  const ignored = readFileSync(join(checkout, '.dockerignore'), 'utf8').split('\n')
  for (const path of ['.git', '**/node_modules', '.env', '.npmrc', 'data', 'secrets'])
    assert.ok(ignored.includes(path), path)
})
