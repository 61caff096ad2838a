/**
 * Starts one real PostgreSQL server for all test files and runs them (`room.ts`, `jobs.ts`). The arguments are folders
 * or files; the default is the tests of rules and APIs. `--quick`: only those tests of rules and APIs that were
 * recorded as short. `--again`: runs an experiment that failed once more, alone. `--within=MINUTES`: begins no file after
 * this time, and lists the files that did not run. `--record`: stores how long each file took.
 */
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { runJobs } from './jobs.ts'
import { type Durations, isExperiment, isQuick, makeJobs } from './schedule.ts'
import { makeTestFolder, startTestServer } from './test-server.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const args = process.argv.slice(2)
const has = (flag: string) => args.includes(flag)
const within = args.find(name => name.startsWith('--within'))
const withinMs = within === undefined ? Number.POSITIVE_INFINITY : Number(within.split('=')[1]) * 60_000
if (!(withinMs > 0)) throw new Error('--within takes a number of minutes above 0')

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

// Removes the folder of this run also after an interruption. The folder may be in memory, where nothing else would
// remove it.
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
// With this cache, a test process need not compile the whole platform again. bin/perkline uses the same folder.
process.env.NODE_COMPILE_CACHE ??= join(checkout, 'node_modules/.cache/node-compile')
// Every user may write into this folder, because tests run programs as other users.
process.env.TMPDIR = join(folder, 'tmp')
mkdirSync(process.env.TMPDIR)
chmodSync(process.env.TMPDIR, 0o1777)

const chosen = args.filter(name => !name.startsWith('--'))
const rooms = chosen.length > 0 ? chosen : ['test/rules', 'test/api']
const durationsFile = new URL('durations.json', import.meta.url)
const durations: Durations = JSON.parse(readFileSync(durationsFile, 'utf8'))
const files = rooms
  .flatMap(name => (name.endsWith('.ts') ? [name] : globSync(`${name}/**/*.test.ts`, { cwd: checkout })))
  .filter(name => !has('--quick') || isQuick(name, durations))
const { failed, took, notRun } = await runJobs(makeJobs(files, durations), checkout, performance.now() + withinMs)
if (has('--record')) {
  const all = Object.entries({ ...durations, ...took }).filter(([file]) => existsSync(join(checkout, file)))
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all.sort()), null, 2)}\n`)
}
const passed = failed.length === 0 || (has('--again') && (await passAlone(failed)))
for (const file of notRun) console.error(`NOT RUN, because the time was over: ${file}`)
await stop()
removeFolder()

let status = passed ? 0 : 1
if (kind === null) {
  console.error('\n*** NO REAL POSTGRESQL SERVER: every test that needs one has failed or was skipped. ***\n')
  status = 1
} else console.log(`\nRan against ${kind}.`)
process.exit(status)

/** Runs failed experiments again, one at a time, because others may have disturbed them. Other tests have no second run. */
async function passAlone(failed: readonly string[]): Promise<boolean> {
  if (!failed.every(isExperiment)) return false
  for (const file of failed) {
    console.log(`\nONCE MORE, ALONE: ${file}`)
    if ((await runJobs(makeJobs([file], durations), checkout)).failed.length > 0) return false
    console.log(`FLAKY: ${file} failed beside other tests and passed alone`)
  }
  return true
}
