/** Checks the database server, and the connection to it, before the platform serves. */
import type pg from 'pg'
import type { Database } from './database.ts'
import { mapError } from './errors.ts'

const tries = 3

/**
 * Checks whether each connection keeps a session of its own. Settings, prepared statements, locks and notifications
 * belong to a session. Behind a pooler in transaction mode they get lost, because each transaction gets any free
 * session.
 */
export async function hasOwnSessions(database: Database): Promise<boolean> {
  const checked = await database.connect()
  try {
    const other = await database.connect()
    try {
      for (let tried = 0; tried < tries; tried++) if (!(await keepsItsSession(checked, other))) return false
      return true
    } finally {
      await other.end().catch(() => {})
    }
  } finally {
    await checked.end().catch(() => {})
  }
}

const setting = `select coalesce(current_setting('perkline.probe', true), '') as probe, current_setting('plan_cache_mode') as plans`

/**
 * Checks that a setting of the connection `checked` is still there while `other` is inside a transaction. A pooler in
 * transaction mode lends the first session to `other`, so `checked` then gets another session.
 */
async function keepsItsSession(checked: pg.Client, other: pg.Client): Promise<boolean> {
  await checked.query(`set perkline.probe = 'asked'`).catch(mapError)
  await other.query(`begin; set local perkline.probe = 'other'`).catch(mapError)
  const rows = await checked.query({ text: setting, query_timeout: 3_000 } as pg.QueryConfig).then(
    result => result.rows,
    // A pooler with only one session makes this statement wait until the transaction of `other` ends, so it times out.
    () => [],
  )
  await other.query('rollback').catch(mapError)
  return rows[0]?.probe === 'asked' && rows[0]?.plans === 'force_custom_plan'
}

/**
 * The number of connections that a process may need outside its pools, for uploads, imports, notifications and an
 * audit.
 */
const besidePools = 16

/**
 * Returns how many connections the server allows, and how many this number of processes may open together.
 *
 * @param database call `createPools` with it before, so that it counts all pools of a process
 */
export async function countConnections(
  database: Database,
  processes = 1,
): Promise<{ needed: number; allowed: number }> {
  const [row] = await database.query<{ allowed: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0) as allowed`,
  )
  return { needed: processes * (database.maxConnections() + besidePools), allowed: row?.allowed ?? 0 }
}

/** The user and the schema in which it may not make tables, as migrations must; null: it may. */
export async function findMissingCreate(database: Database): Promise<{ user: string; schema: string } | null> {
  const [row] = await database.query<{ user: string; schema: string | null; may: boolean | null }>(
    `select current_user as user, current_schema() as schema, has_schema_privilege(current_schema(), 'CREATE') as may`,
  )
  return row && !row.may ? { user: row.user, schema: row.schema ?? 'public' } : null
}

/** Whether the user may make temporary tables. Sales need none; uploads, imports and the audit do. */
export async function mayMakeTemporaryTables(database: Database): Promise<boolean> {
  const [row] = await database.query<{ may: boolean }>(
    `select has_database_privilege(current_database(), 'TEMPORARY') as may`,
  )
  return row?.may ?? false
}
