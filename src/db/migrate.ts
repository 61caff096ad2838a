/**
 * Forward-only migrations: `migrations/NNNN_name.sql`, applied in order under a lock, each in a transaction of its own
 * (one exception: `together`).
 * The checksum of each applied migration is stored, so that we refuse a schema of a newer version and a database of
 * another product.
 *
 * A migration that builds an index `concurrently`, so that a large table can be written meanwhile, can't be in a
 * transaction. It is applied statement by statement. If it is interrupted, it is applied again from its beginning, so
 * each of its statements must allow a second run (`if not exists`).
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Database, Queryable } from './database.ts'
import { queryable } from './database.ts'
import { connectedVersions, mayServe, previousVersion, refusedBy, servesOf } from './versions.ts'

export type Migration = { version: number; name: string; sql: string; checksum: string }

/** The error of a database that cannot be used as it is. The message says why, and what to do. */
export class SchemaError extends Error {
  override name = 'SchemaError'
}

const migrationsFolder = new URL('../../migrations/', import.meta.url)
/** The two locks of migrations. While an index is built (`applyPiecewise`), only `workKey` is held. */
const lockKey = 7_365_012
const workKey = 7_365_069
const minServerVersion = 150_000
/**
 * How long a migration waits for the lock on a table. Meanwhile other requests for that table wait behind it. So it
 * waits only briefly, then lets them proceed and tries again after `pauseMs`.
 */
const lockWait = '1s'
const pauseMs = 1_000
const lockPauseMs = 100
const giveUpAfterMs = 10 * 60_000
/** The SQLSTATEs of a lock timeout and of a deadlock. */
const heldCodes: ReadonlySet<string> = new Set(['55P03', '40P01'])
/**
 * The migrations 0028 and 0038 are applied in one transaction, before those between them, which 0038 does not need.
 * 0028 adds columns and counts of campaigns that version 0.2 does not write. 0038 adds the triggers that write them for
 * a process of 0.2. Without these triggers, such a process could create no campaign, and its decisions would leave
 * wrong copies. The tables are locked before 0028 fills its columns, so that a long read of one of them cannot undo
 * this work.
 */
const together = { first: 28, second: 38, tables: 'campaigns, campaign_banks, campaign_history' }
const buildsConcurrently = /^\s*create (?:unique )?index concurrently /im

/** The migrations of this version of the program, in order. */
export function readMigrations(folder: URL = migrationsFolder): Migration[] {
  return readdirSync(folder)
    .filter(file => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map(file => {
      const sql = readFileSync(new URL(file, folder), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { version: Number(file.slice(0, 4)), name: file.slice(5, -4), sql, checksum }
    })
}

/**
 * Brings the database to this version. When two processes call it at once, one works; the other waits and finds nothing
 * to do.
 *
 * @returns the names of the applied migrations
 * @throws SchemaError when the database belongs to another product, is newer or altered, or its server is too old; and
 *   when processes are connected that could not continue serving (`versions.ts`)
 */
export function migrate(database: Database, migrations = readMigrations()): Promise<string[]> {
  return database.dedicated(async client => {
    await takeLock(client)
    try {
      const pending = await pendingMigrations(queryable(client), migrations)
      await refuseBesideOlder(queryable(client), pending)
      const steps = stepsOf(pending)
      for (const step of steps) await applyOnceFree(client, step)
      return steps.flat().map(migration => migration.name)
    } finally {
      await client.query('select pg_advisory_unlock_all()')
    }
  })
}

/** The migrations that are applied in one transaction; usually there is only one. */
type Step = readonly [Migration, ...Migration[]]

function stepsOf(pending: readonly Migration[]): Step[] {
  const first = pending.find(({ version }) => version === together.first)
  const second = pending.find(({ version }) => version === together.second)
  if (!first || !second) return pending.map(migration => [migration])
  return pending
    .filter(migration => migration !== second)
    .map(migration => (migration === first ? [first, second] : [migration]))
}

/** Refuses to change the schema while older processes are connected that would give wrong answers after the change. */
async function refuseBesideOlder(database: Queryable, pending: readonly Migration[]): Promise<void> {
  const older = refusedBy(
    pending.map(({ sql }) => sql),
    await connectedVersions(database),
  )
  if (older.length === 0) return
  throw new SchemaError(
    `Processes of version ${older.join(' and ')} are connected to the database and cannot serve on this version's schema: stop ` +
      'them first',
  )
}

/** Takes the locks of migrations. A process of version 0.3.0 or before knows only `lockKey`. */
async function takeLock(client: pg.Client): Promise<void> {
  for (const key of [workKey, lockKey]) await takeKey(client, key)
}

/**
 * Takes a lock. It asks for the lock again and again. A single statement that waits for the lock would hold a snapshot,
 * and a process that builds an index concurrently would wait for this snapshot.
 */
async function takeKey(client: pg.Client, key: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [key])
    if (rows[0]?.taken) return
    await wait(lockPauseMs)
  }
}

/**
 * Applies a step, and tries again while others hold conflicting locks. An upload or a long list may hold one for
 * minutes. A deadlock with a request is tried again, too.
 */
async function applyOnceFree(client: pg.Client, step: Step): Promise<void> {
  const giveUpAtMs = performance.now() + giveUpAfterMs
  for (;;) {
    try {
      return await apply(client, step)
    } catch (error) {
      const cause = error instanceof SchemaError ? error.cause : null
      const isHeld = cause instanceof pg.DatabaseError && heldCodes.has(cause.code ?? '')
      if (!isHeld || performance.now() > giveUpAtMs) throw error
    }
    await wait(pauseMs)
  }
}

async function apply(client: pg.Client, step: Step): Promise<void> {
  try {
    if (buildsConcurrently.test(step[0].sql)) await applyPiecewise(client, step[0])
    else await applyAtOnce(client, step)
  } catch (error) {
    const names = step.map(({ version, name }) => `${version} (${name})`).join(' and ')
    const isDenied = error instanceof pg.DatabaseError && error.code === '42501'
    const advice = isDenied ? `: check DATABASE_URL, and what its user ${client.user ?? ''} may do` : ''
    throw new SchemaError(`Migration ${names} failed: ${(error as Error).message}${advice}`, { cause: error })
  }
}

async function applyAtOnce(client: pg.Client, step: Step): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = '${lockWait}'`)
    if (step.length > 1) await client.query(`lock table ${together.tables}`)
    for (const migration of step) {
      await client.query(migration.sql)
      await remember(client, migration)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/**
 * Applies the statements one by one. They block nobody while they wait for a lock, so they may wait without limit.
 *
 * A process of 0.2 that starts meanwhile takes `lockKey`. If it had to wait for this lock, it would hold a snapshot,
 * and the building of an index would wait for this snapshot. So `lockKey` is released first: the process gets it,
 * refuses this schema and ends.
 */
async function applyPiecewise(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [lockKey])
  try {
    await dropUnfinished(client, migration)
    for (const statement of migration.sql.split(/;\s*$/m)) if (statement.trim() !== '') await client.query(statement)
  } finally {
    await takeKey(client, lockKey)
  }
  await remember(client, migration)
}

/**
 * Drops the unusable indexes that an interrupted build of this migration has left, because `if not exists` would keep
 * them.
 */
async function dropUnfinished(client: pg.Client, { sql }: Migration): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_index join pg_class on oid = indexrelid
     where not indisvalid and relnamespace = current_schema()::regnamespace`,
  )
  for (const { name } of rows)
    if (sql.includes(name)) await client.query(`drop index concurrently ${pg.escapeIdentifier(name)}`)
}

async function remember(client: pg.Client, { version, name, checksum, sql }: Migration): Promise<void> {
  await client.query(
    `create table if not exists schema_migrations (
       version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`,
  )
  const values = [version, name, checksum]
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('applied_migrations') is not null as there`,
  )
  if (rows[0]?.there)
    await client.query('insert into applied_migrations (version, name, checksum, serves) values ($1, $2, $3, $4)', [
      ...values,
      servesOf(sql) ?? previousVersion,
    ])
  else await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', values)
}

/**
 * Compares the database with the migrations of this program.
 *
 * @returns the migrations that are not applied yet
 * @throws SchemaError like `migrate`
 */
export async function pendingMigrations(database: Queryable, migrations = readMigrations()): Promise<Migration[]> {
  const [server] = await database.query<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  )
  if (Number(server?.version) < minServerVersion)
    throw new SchemaError('The database server is too old: Perkline needs PostgreSQL 15 or newer')
  if (server?.encoding !== 'UTF8')
    throw new SchemaError(
      `The database has the encoding ${server?.encoding}, which can't hold every text; give it a database made with ` +
        "`create database ... encoding 'UTF8' template template0`",
    )

  const [found] = await database.query<{ ours: boolean; tables: number }>(
    // Other programs have a table of this name, too.
    `select (select count(*) = 2 from pg_attribute
             where attrelid = to_regclass('schema_migrations') and attname in ('version', 'checksum')) as ours,
            (select count(*) from pg_tables where schemaname = current_schema())::int as tables`,
  )
  if (!found?.ours) {
    if (found && found.tables > 0)
      throw new SchemaError('This database holds tables that are not Perkline’s; give it an empty database of its own')
    return migrations
  }
  const applied = await database.query<{ version: number; checksum: string; serves: string | null }>(
    `select version, checksum, to_jsonb(done)->>'serves' as serves from schema_migrations as done order by version`,
  )
  for (const { version, checksum, serves } of applied) {
    const known = migrations.find(migration => migration.version === version)
    // A newer version of the program has applied this migration. The migration allows this older program to serve, so
    // that an upgrade can be rolled back.
    if (!known && serves !== null && mayServe(serves)) continue
    if (!known)
      throw new SchemaError(
        `The database is of a newer version of Perkline (it has migration ${version}, this program knows up to ` +
          `${migrations.at(-1)?.version ?? 0}); start the newer program`,
      )
    if (known.checksum !== checksum)
      throw new SchemaError(
        `Migration ${version} (${known.name}) was applied with another text than this program's; start the program that applied it`,
      )
  }
  return migrations.filter(migration => !applied.some(done => done.version === migration.version))
}
