/**
 * `npm test`: starts one real PostgreSQL server for all test files and runs them (`room.ts`, `jobs.ts`).
 */
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { runJobs } from './jobs.ts'
import { type Durations, makeJobs } from './schedule.ts'
import { makeTestFolder, startTestServer } from './test-server.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

const folder = makeTestFolder()
const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
let kind: string | null = process.env.TEST_DATABASE_URL ? 'the server of TEST_DATABASE_URL' : null
let stop = async () => {}
let url = process.env.TEST_DATABASE_URL
if (!url) {
  try {
    const started = await startTestServer(join(folder, 'data'))
    kind = started.kind
    stop = () => started.server.stop()
    const { user, database, host } = started.server.connection
    url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`
  } catch (error) {
    console.error(`No PostgreSQL server could be started: ${(error as Error).message}`)
  }
}

// What lies in memory would stay there.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void stop().finally(() => {
      removeFolder()
      process.exit(1)
    })
  })

// Programs in tests use `#!/usr/bin/env node`, and the Node.js in the PATH may be too old.
process.env.PATH = `${dirname(process.execPath)}:${process.env.PATH}`
if (url) process.env.TEST_DATABASE_URL = url
// Every process of tests else compiles the whole platform for itself. The same place as bin/perkline's.
process.env.NODE_COMPILE_CACHE ??= join(checkout, 'node_modules/.cache/node-compile')
// Programs of other users write there, too.
process.env.TMPDIR = join(folder, 'tmp')
mkdirSync(process.env.TMPDIR)
chmodSync(process.env.TMPDIR, 0o1777)

const args = process.argv.slice(2)
const isRecorded = args.includes('--record')
const chosen = args.filter(name => name !== '--record')
const files = (chosen.length > 0 ? chosen : ['test']).flatMap(name =>
  name.endsWith('.ts') ? [name] : globSync(`${name}/**/*.test.ts`, { cwd: checkout }),
)
const durationsFile = new URL('durations.json', import.meta.url)
const durations: Durations = JSON.parse(readFileSync(durationsFile, 'utf8'))
const { passed, took } = await runJobs(makeJobs(files, durations), checkout)
if (isRecorded) {
  const all = Object.entries({ ...durations, ...took }).filter(([file]) => existsSync(join(checkout, file)))
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all.sort()), null, 2)}\n`)
}
await stop()
removeFolder()

let status = passed ? 0 : 1
if (kind === null) {
  console.error('\n*** NO REAL POSTGRESQL SERVER: every test that needs one has failed or was skipped. ***\n')
  status = 1
} else console.log(`\nRan against ${kind}.`)
process.exit(status)
