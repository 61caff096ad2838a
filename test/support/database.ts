/**
 * A database for one test, on a real PostgreSQL server: that of TEST_DATABASE_URL, which `run.ts` starts once for all
 * test files. Without it, an embedded server runs as long as this process has a test database open.
 */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import pg from 'pg'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { sequenceEvents } from '../../src/events/sequence-store.ts'

export type TestDatabase = {
  /** A connection string, as in DATABASE_URL. */
  url: string
  database: Database
  /** Drops the database, even if clients are connected. */
  close(): Promise<void>
}

type Server = { adminUrl: string; stop(): Promise<void> }

const lockKey = 7_365_900
/** Our own server keeps running for this time after the last test database, because the next test may need it. */
const lingerMs = 300

/** @param options.migrated false: the database gets no tables */
export async function createTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = await useServer()
  const name = `perkline_test_${process.pid}_${randomBytes(6).toString('hex')}`
  const url = withDatabase(server.adminUrl, name)
  try {
    const template = options.migrated === false ? 'template0' : await findTemplate(server.adminUrl)
    await asAdmin(server.adminUrl, client => client.query(`create database ${name} template ${template}`))
  } catch (error) {
    leaveServer()
    throw error
  }
  const database = openDatabase({ connection: { connectionString: url }, poolSize: 4 })
  let closed = false
  return {
    url,
    database,
    async close() {
      if (closed) return
      closed = true
      await database.close()
      await asAdmin(server.adminUrl, client => dropDatabase(client, name))
      leaveServer()
    },
  }
}

/**
 * Drops a database. With `force`, PostgreSQL ends client sessions, but may not end autovacuum, which belongs to another
 * user. Without `force`, it ends only autovacuum. So this tries both forms in turns until one succeeds.
 */
async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  const drop = `drop database if exists ${name}`
  const giveUpAtMs = performance.now() + 30_000
  const failsBy = (statement: string, code: string) =>
    client.query(statement).then(
      () => false,
      (error: pg.DatabaseError) => {
        if (error.code !== code || performance.now() > giveUpAtMs) throw error
        return true
      },
    )
  while (await failsBy(`${drop} with (force)`, insufficientPrivilege)) if (!(await failsBy(drop, objectInUse))) return
}

const insufficientPrivilege = '42501'
const objectInUse = '55006'

let running: Promise<Server> | undefined
let users = 0
let stopTimer: NodeJS.Timeout | undefined

function useServer(): Promise<Server> {
  clearTimeout(stopTimer)
  users++
  running ??= startServer()
  return running
}

/**
 * Stops the server when no test database has been open for `lingerMs`. It uses a timer, because an `after` hook of this
 * module would run before the hooks of the test file, which still need the server.
 */
function leaveServer(): void {
  if (--users > 0) return
  stopTimer = setTimeout(() => {
    const server = running
    running = undefined
    templates.clear()
    void server?.then(({ stop }) => stop())
  }, lingerMs)
}

async function startServer(): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { adminUrl: given, stop: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'perkline-server-'))
  await chmod(folder, 0o711)
  // These settings are fast, but a crash may lose data. Tests of durability start a server of their own.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' }
  const server = await startEmbeddedDatabase({ dataDir: join(folder, 'data'), settings })
  const { user, database, host } = server.connection
  return {
    adminUrl: `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`,
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const templates = new Map<string, Promise<string>>()

/** The template from which test databases are copied. The first test process creates it. */
function findTemplate(adminUrl: string): Promise<string> {
  let template = templates.get(adminUrl)
  if (!template) {
    template = makeTemplate(adminUrl)
    templates.set(adminUrl, template)
    template.catch(() => templates.delete(adminUrl))
  }
  return template
}

async function makeTemplate(adminUrl: string): Promise<string> {
  const migrations = readMigrations()
  const texts = migrations.map(({ version, checksum }) => `${version} ${checksum}`).join()
  const name = `perkline_template_${createHash('sha256').update(texts).digest('hex').slice(0, 12)}`
  return asAdmin(adminUrl, async client => {
    // The lock ends with the connection.
    await client.query('select pg_advisory_lock($1)', [lockKey])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount) return name
    // Created under a draft name first, so that a process that dies leaves no unfinished template.
    await client.query(`drop database if exists ${name}_draft with (force)`)
    await client.query(`create database ${name}_draft template template0`)
    const database = openDatabase({
      connection: { connectionString: withDatabase(adminUrl, `${name}_draft`) },
      poolSize: 1,
    })
    try {
      await migrate(database, migrations)
      // Make the daily partitions here in the template, so that the platforms of the tests need not make them.
      // `sequenceEvents` does nothing if its last run was a moment ago. In a new database that time is now, so set it far
      // back first.
      await database.execute(`update event_ticks set at = '-infinity' where consumer = 'events'`)
      await sequenceEvents(database, true)
      await database.execute('analyze')
    } finally {
      await database.close()
    }
    await client.query(`alter database ${name}_draft with allow_connections false`)
    await client.query(`alter database ${name}_draft rename to ${name}`)
    return name
  })
}

/** Whether an index of this database is being built. */
export async function isBuildingIndex(database: Database): Promise<boolean> {
  const [row] = await database.query<{ builds: boolean }>(
    'select exists (select from pg_stat_progress_create_index where datname = current_database()) as builds',
  )
  return row?.builds ?? false
}

async function asAdmin<T>(adminUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: adminUrl, application_name: 'perkline tests' })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
