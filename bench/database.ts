/**
 * The temporary PostgreSQL server of a run: the system's (which includes pgbench) or the embedded one. All compared
 * sides use the same server.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedDatabase } from '../src/db/embedded/server.ts'
import { familyCpuMs } from './processes.ts'

export type DatabaseServer = {
  version: string
  socketFolder: string
  port: number
  /** The path of pgbench. null: this PostgreSQL does not include pgbench. */
  pgbench: string | null
  /** The path of psql; null as for `pgbench`. */
  psql: string | null
  /** Milliseconds of processor time of all processes of the server (Linux; NaN elsewhere). */
  cpuMs(): number
  url(database: string, user?: string): string
  /** Runs statements as the superuser. */
  run(database: string, ...statements: string[]): Promise<void>
  /** Makes the database, from `template` if given. An existing one with that name is dropped first. */
  create(database: string, template?: string): Promise<void>
  stop(): Promise<void>
}

const systemServers = '/usr/lib/postgresql'
const systemShare = '/usr/share/postgresql'

/**
 * The server is durable as in production: every commit is on disk before it is answered. Its log may grow so much that
 * no checkpoint happens during a measurement.
 */
const settings = {
  max_connections: '250',
  shared_buffers: '2GB',
  effective_cache_size: '8GB',
  maintenance_work_mem: '256MB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
}

/** @param folder a folder that other users can enter. It is empty, or has the database of an earlier run */
export async function startDatabaseServer(folder: string): Promise<DatabaseServer> {
  const runtimeDir = systemRuntime(folder)
  const dataDir = join(folder, 'database')
  const server = await startEmbeddedDatabase({ dataDir, settings, ...(runtimeDir && { runtimeDir }) })
  const { host, port } = server.connection
  const url = (database: string, user = 'perkline') =>
    `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`

  const query = async (database: string, statements: string[]) => {
    const client = new pg.Client({ connectionString: url(database, 'postgres') })
    await client.connect()
    try {
      const rows: { version?: string }[] = []
      for (const statement of statements) rows.push(...(await client.query(statement)).rows)
      return rows
    } finally {
      await client.end()
    }
  }
  const program = (name: string): string | null => {
    const path = runtimeDir && join(runtimeDir, 'bin', name)
    return path && existsSync(path) ? path : null
  }
  const [row] = await query('postgres', [`select split_part(current_setting('server_version'), ' ', 1) as version`])
  return {
    version: row?.version ?? 'unknown',
    socketFolder: host,
    port,
    pgbench: program('pgbench'),
    psql: program('psql'),
    cpuMs: () => familyCpuMs(Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])),
    url,
    run: async (database, ...statements) => void (await query(database, statements)),
    create: async (database, template = 'template0') =>
      void (await query('postgres', [
        `drop database if exists ${database} with (force)`,
        `create database ${database} owner perkline template ${template}`,
      ])),
    stop: () => server.stop(),
  }
}

/**
 * Finds the newest PostgreSQL of this system that the platform supports. Makes a folder with links to its files, in the
 * layout that `startEmbeddedDatabase` expects. @returns the folder; null when there is no such PostgreSQL
 */
function systemRuntime(folder: string): string | null {
  if (!existsSync(systemServers)) return null
  const versions = readdirSync(systemServers).filter(
    version =>
      Number(version) >= 15 &&
      existsSync(join(systemServers, version, 'bin/initdb')) &&
      existsSync(join(systemShare, version, 'postgres.bki')),
  )
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1)
  if (!newest) return null
  const runtimeDir = join(folder, 'runtime')
  if (existsSync(runtimeDir)) return runtimeDir
  mkdirSync(join(runtimeDir, 'share'), { recursive: true })
  symlinkSync(join(systemServers, newest, 'bin'), join(runtimeDir, 'bin'))
  symlinkSync(join(systemShare, newest), join(runtimeDir, 'share/postgresql'))
  return runtimeDir
}
