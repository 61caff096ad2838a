/** The one PostgreSQL server of `npm test`, and the folder for it and for all that the tests write. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'

const systemServers = '/usr/lib/postgresql'

/** The system's servers in a version that the platform supports, the newest last. */
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
 * Starts the system's own server if there is one, otherwise the embedded one. The two probably have different versions.
 * Some tests always start the embedded server, so both versions are tested.
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
/** The free space that the file system in memory must have, and the memory that must be free in addition. */
const neededBytes = { disk: 3e9, memory: 6e9 }

/**
 * Makes a new folder: in memory if there is enough, otherwise on disk. A copy of the template has 350 files, which take a second on a
 * disk.
 */
export function makeTestFolder(): string {
  const folder = mkdtempSync(join(hasMemoryDisk() ? memoryDisk : tmpdir(), 'perkline-test-'))
  // Other users may enter the folder: in a run as root, the server is a process of another user.
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
