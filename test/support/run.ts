/**
 * `npm test`: starts one real PostgreSQL server for all test files and runs them. The system's own server is taken where there is
 * one (its version is likely another than the embedded one's, which some tests start anyway); else the embedded one.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'

const systemServers = '/usr/lib/postgresql'

/** Newest last; only versions that the platform takes. */
function systemRuntimes(): string[] {
  if (!existsSync(systemServers)) return []
  return readdirSync(systemServers)
    .filter(version => Number(version) >= 15 && existsSync(join(systemServers, version, 'bin/initdb')))
    .sort((a, b) => Number(a) - Number(b))
    .map(version => join(systemServers, version))
}

// What a test database needs is to be quick; tests of durability start a server of their own.
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

const files = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'perkline-test-'))
// The server of a run as root is another user's process.
chmodSync(folder, 0o711)
let status = 1
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

// Programs that tests run say `#!/usr/bin/env node`, and the PATH's may be too old for them.
const withOwnNode = `${dirname(process.execPath)}:${process.env.PATH}`
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=3', '--test-timeout=240000', ...(files.length > 0 ? files : ['test/**/*.test.ts'])],
  { stdio: 'inherit', env: { ...process.env, PATH: withOwnNode, ...(url && { TEST_DATABASE_URL: url }) } },
)
status = await new Promise<number>(resolve => child.once('exit', code => resolve(code ?? 1)))
await stop()
rmSync(folder, { recursive: true, force: true })

if (kind === null) {
  console.error('\n*** NO REAL POSTGRESQL SERVER: every test that needs one has failed or was skipped. ***\n')
  status = 1
} else console.log(`\nRan against ${kind}.`)
process.exit(status)
