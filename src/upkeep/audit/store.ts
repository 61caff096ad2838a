/**
 * SQL for running the audit: its lock, its connection, and the stored runs. The SQL of each check is in the folder of
 * its subject.
 */
import { campaignCheckFunctions } from '../../campaigns/lifecycle/audit-steps.ts'
import type { CheckResult, Counts, Found } from '../../db/check.ts'
import type { Queryable } from '../../db/database.ts'

export type AuditResult = { ok: boolean; checks: CheckResult[] }

export type AuditProgress = {
  /** The names of all steps. A run with other steps can't be resumed. */
  steps: string[]
  /** The index of the current step in `steps`. */
  step: number
  /** The key of the last row that the current step has checked; null at its beginning. */
  after: string[] | null
  /** Checked rows of the current step. */
  rows: number
  found: Record<string, Found>
  counts: Counts
  percent: number
}

export type AuditRun = { runId: number; startedAt: Date; progress: AuditProgress }

const auditLock = 7_365_029

/**
 * Prepares the audit's own connection, which only reads. If PostgreSQL's statistics are out of date, it could choose
 * plans that take hours. So these settings leave it no choice: it finds ranges by an index, and joins them by hash or
 * merge. If this process hangs or dies, PostgreSQL ends the connection, which releases the lock.
 */
export async function prepare(connection: Queryable): Promise<void> {
  for (const setting of [
    // The functions below are temporary, but a read-only transaction may not make them.
    'default_transaction_read_only = off',
    `statement_timeout = '20s'`,
    `idle_session_timeout = '10s'`,
    `client_connection_check_interval = '1s'`,
    'max_parallel_workers_per_gather = 0',
    'jit = off',
    'enable_nestloop = off',
    'enable_seqscan = off',
    // Without bitmap scans, PostgreSQL reads only the index, and not the table, if the index has all needed columns.
    'enable_bitmapscan = off',
    `work_mem = '16MB'`,
  ])
    await connection.execute(`set ${setting}`)
  for (const made of campaignCheckFunctions) await connection.execute(made)
  await connection.execute('set default_transaction_read_only = on')
}

/** Takes the lock of the audit. @returns false when another audit is running */
export async function tryLock(connection: Queryable): Promise<boolean> {
  const [row] = await connection.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [auditLock])
  return row?.locked ?? false
}

export async function unlock(connection: Queryable): Promise<void> {
  await connection.execute('select pg_advisory_unlock($1)', [auditLock])
}

/** Whether other connections of this database are working at this moment. */
export async function othersWork(connection: Queryable): Promise<boolean> {
  const rows = await connection.query(
    `select from pg_stat_activity
     where datname = current_database() and state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
  )
  return rows.length > 0
}

/** The size of each table, and its approximate number of rows. */
export async function findSizes(
  connection: Queryable,
  tables: readonly string[],
): Promise<Map<string, { bytes: number; rows: number }>> {
  const rows = await connection.query<{ name: string; bytes: number; rows: number }>(
    `select relname as name, pg_table_size(oid) as bytes, greatest(reltuples, 1) as rows from pg_class
     where oid = any($1::text[]::regclass[])`,
    [tables],
  )
  return new Map(rows.map(({ name, ...size }) => [name, size]))
}

/**
 * Returns the run that was interrupted; null when there is none. Call it with the lock of the audit: then no other run
 * is going on, so a run that has not finished was interrupted.
 */
export async function findUnfinished(database: Queryable): Promise<AuditRun | null> {
  const [run] = await database.query<AuditRun>(
    `select run_id as "runId", started_at as "startedAt", progress from audit_runs where finished_at is null
     order by run_id desc limit 1`,
  )
  return run ?? null
}

/** Starts a run, and deletes an interrupted one. Call it with the lock of the audit. */
export async function insertRun(database: Queryable, progress: AuditProgress): Promise<AuditRun> {
  await database.execute('delete from audit_runs where finished_at is null')
  const [run] = await database.query<AuditRun>(
    `insert into audit_runs (progress) values ($1) returning run_id as "runId", started_at as "startedAt", progress`,
    [JSON.stringify(progress)],
  )
  return run as AuditRun
}

export async function saveProgress(database: Queryable, runId: number, progress: AuditProgress): Promise<void> {
  await database.execute('update audit_runs set progress = $2, saved_at = now() where run_id = $1', [
    runId,
    JSON.stringify(progress),
  ])
}

/** Stores the result; only the last one is kept. */
export async function finishRun(database: Queryable, runId: number, result: AuditResult): Promise<void> {
  await database.execute(
    `with older as (delete from audit_runs where run_id <> $1)
     update audit_runs set result = $2, finished_at = now(), saved_at = now(), progress = '{}' where run_id = $1`,
    [runId, JSON.stringify(result)],
  )
}

export type LastAudit = { startedAt: Date; finishedAt: Date; result: AuditResult }
export type UnfinishedAudit = { startedAt: Date; savedAt: Date; percent: number; isRunning: boolean }

export async function findLastAudits(
  database: Queryable,
): Promise<{ last: LastAudit | null; unfinished: UnfinishedAudit | null }> {
  const runs = await database.query<LastAudit & { savedAt: Date; percent: number | null; isRunning: boolean }>(
    `select started_at as "startedAt", finished_at as "finishedAt", saved_at as "savedAt", result, (progress->>'percent')::int as percent,
       exists (select from pg_locks where locktype = 'advisory' and objid = $1 and granted
         and database = (select oid from pg_database where datname = current_database())) as "isRunning"
     from audit_runs order by run_id desc`,
    [auditLock],
  )
  const last = runs.find(({ finishedAt }) => finishedAt !== null)
  const unfinished = runs.find(({ finishedAt }) => finishedAt === null)
  return {
    last: last ? { startedAt: last.startedAt, finishedAt: last.finishedAt, result: last.result } : null,
    unfinished: unfinished
      ? {
          startedAt: unfinished.startedAt,
          savedAt: unfinished.savedAt,
          percent: unfinished.percent ?? 0,
          isRunning: unfinished.isRunning,
        }
      : null,
  }
}
