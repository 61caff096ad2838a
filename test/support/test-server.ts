/** The one PostgreSQL server of `npm test`, and the folder for it and for all that the tests write. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'

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

/**
 * The system's own server is taken where there is one (its version is likely another than the embedded one's, which some tests start
 * anyway); else the embedded one.
 */
export async function startTestServer(dataDir: string) {
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

const memoryDisk = '/dev/shm'
/** Free space of the memory's file system, and memory beside what lies there. */
const neededBytes = { disk: 3e9, memory: 6e9 }

/**
 * A new folder in memory where there is enough of it, else on disk: a copy of the template has 350 files, and a disk takes a second
 * to make them.
 */
export function makeTestFolder(): string {
  const folder = mkdtempSync(join(hasMemoryDisk() ? memoryDisk : tmpdir(), 'perkline-test-'))
  // The server of a run as root is another user's process.
  chmodSync(folder, 0o711)
  return folder
}

function hasMemoryDisk(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memoryDisk)
    const [, available] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
    return bavail * bsize > neededBytes.disk && Number(available) * 1024 > neededBytes.memory
  } catch {
    return false
  }
}
