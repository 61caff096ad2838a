/**
 * `npm test`: starts one real PostgreSQL server for all test files and runs them. The system's own server is taken where there is
 * one (its version is likely another than the embedded one's, which some tests start anyway); else the embedded one.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const systemServers = '/usr/lib/postgresql'

/** Newest last; only versions that the platform takes. */
function systemRuntimes(): string[] {
  if (!existsSync(systemServers)) return []
  return readdirSync(systemServers)
    .filter(version => Number(version) >= 15 && existsSync(join(systemServers, version, 'bin/initdb')))
    .sort((a, b) => Number(a) - Number(b))
    .map(version => join(systemServers, version))
}

// Test databases need speed, not durability; tests of durability start their own server.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }

async function startServer(dataDir: string) {
  for (const runtimeDir of systemRuntimes()) {
    try {
      const server = await startEmbeddedDatabase({ dataDir, settings, runtimeDir })
      return { server, kind: `the system's PostgreSQL (${runtimeDir})` }
    } catch (error) {
      console.error(`The system's PostgreSQL at ${runtimeDir} can't be started: ${(error as Error).message}`)
    }
  }
  const server = await startEmbeddedDatabase({ dataDir, settings })
  return { server, kind: 'the PostgreSQL that the project brings' }
}

/** Seconds that each file took when they were last recorded (`npm test -- --record`). */
const durationsFile = new URL('durations.json', import.meta.url)
const durations: Record<string, number> = JSON.parse(readFileSync(durationsFile, 'utf8'))

/** Longest file first, so that no core waits for it at the end. Files without a record count as long. */
const longestFirst = (names: readonly string[]): string[] =>
  [...names].sort((a, b) => (durations[b] ?? 60) - (durations[a] ?? 60) || (a < b ? -1 : 1))

const folder = mkdtempSync(join(tmpdir(), 'perkline-test-'))
// The server of a run as root is another user's process.
chmodSync(folder, 0o711)
let kind: string | null = process.env.TEST_DATABASE_URL ? 'the server of TEST_DATABASE_URL' : null
let stop = async () => {}
let url = process.env.TEST_DATABASE_URL
if (!url) {
  try {
    const started = await startServer(join(folder, 'data'))
    kind = started.kind
    stop = () => started.server.stop()
    const { user, database, host } = started.server.connection
    url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`
  } catch (error) {
    console.error(`No PostgreSQL server could be started: ${(error as Error).message}`)
  }
}

// Programs in tests use `#!/usr/bin/env node`, and the Node.js in the PATH may be too old.
process.env.PATH = `${dirname(process.execPath)}:${process.env.PATH}`
if (url) process.env.TEST_DATABASE_URL = url
// Every test file is a process of its own, which else compiles the whole platform for itself. The same place as bin/perkline's.
process.env.NODE_COMPILE_CACHE ??= join(checkout, 'node_modules/.cache/node-compile')

const args = process.argv.slice(2)
const isRecorded = args.includes('--record')
const chosen = args.filter(name => name !== '--record')
const files = (chosen.length > 0 ? chosen : ['test']).flatMap(name =>
  name.endsWith('.ts') ? [name] : globSync(`${name}/**/*.test.ts`, { cwd: checkout }),
)
const took: Record<string, number> = {}

/** Each file in a process of its own. Returns whether all passed. */
async function runFiles(files: readonly string[]): Promise<boolean> {
  let passed = true
  const tests = run({ files: [...files], cwd: checkout, concurrency: 3, timeout: 240_000 })
  tests.on('test:summary', summary => {
    if (summary.file === undefined) passed = summary.success
    else took[relative(checkout, summary.file)] = Math.round(summary.duration_ms / 100) / 10
  })
  await pipeline(tests.compose(new spec()), process.stdout, { end: false })
  return passed
}

/** All in one process, which is not this one: it would wait for the database server to end. */
async function runTogether(files: readonly string[]): Promise<boolean> {
  const options = ['--test', '--test-isolation=none', '--test-reporter=spec', '--test-timeout=240000']
  const child = spawn(process.execPath, [...options, ...files], { cwd: checkout, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}

// Tests of pure rules share no state, so they can share a process.
const [pure = [], others = []] = [true, false].map(isPure =>
  files.filter(file => file.startsWith('test/rules/') === isPure),
)
const results: boolean[] = []
if (pure.length > 0) results.push(await runTogether(pure))
if (others.length > 0) results.push(await runFiles(longestFirst(others)))
const passed = results.every(one => one)
if (isRecorded) {
  const all = Object.entries({ ...durations, ...took }).filter(([file]) => existsSync(join(checkout, file)))
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all.sort()), null, 2)}\n`)
}
await stop()
rmSync(folder, { recursive: true, force: true })

let status = passed ? 0 : 1
if (kind === null) {
  console.error('\n*** NO REAL POSTGRESQL SERVER: every test that needs one has failed or was skipped. ***\n')
  status = 1
} else console.log(`\nRan against ${kind}.`)
process.exit(status)
