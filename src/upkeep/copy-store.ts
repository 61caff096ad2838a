/** SQL that checks a restored copy and compares it with its platform. It only reads. */
import pg from 'pg'
import type { Queryable } from '../db/database.ts'

export type TableCount = { table: string; rows: number }

/**
 * Counts the rows of each table.
 *
 * @param until counts only rows created until this instant, in tables with the column `created_at`; null: counts all
 *   rows
 */
export async function countTables(database: Queryable, until: Date | null): Promise<TableCount[]> {
  const tables = await database.query<{ name: string; isDated: boolean }>(
    `select c.relname as name,
       exists (select from pg_attribute where attrelid = c.oid and attname = 'created_at' and not attisdropped) as "isDated"
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`,
  )
  const counts: TableCount[] = []
  for (const { name, isDated } of tables) {
    const dated = isDated && until !== null
    const [row] = await database.query<{ rows: number }>(
      `select count(*) as rows from ${pg.escapeIdentifier(name)}${dated ? ' where created_at <= $1' : ''}`,
      dated ? [until] : [],
    )
    counts.push({ table: name, rows: row?.rows ?? 0 })
  }
  return counts
}

/** Queries for the time of the newest record of each kind. These times show how much data the copy is missing. */
const newestOf = {
  order: {
    table: 'orders',
    // Reads only the newest order, because ids ascend with the time of reservation.
    text: `select greatest(created_at, confirmed_at, cancelled_at) as at from orders where status <> 'withdrawn'
           order by order_id desc limit 1`,
  },
  event: { table: 'events', text: 'select max(recorded_at) as at from events' },
  statement: { table: 'statements', text: 'select max(closed_at) as at from statements' },
  auditEntry: { table: 'audit_log', text: 'select at from audit_log order by seq desc limit 1' },
} as const
export type RecordKind = keyof typeof newestOf
export const recordKinds = Object.keys(newestOf) as RecordKind[]

/**
 * Returns the time of the newest record of a kind.
 *
 * @returns null when there is no record, or when the version of the copy does not have this kind yet
 */
export async function findNewest(database: Queryable, kind: RecordKind): Promise<Date | null> {
  const { table, text } = newestOf[kind]
  const [found] = await database.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table])
  if (!found?.exists) return null
  const [row] = await database.query<{ at: Date | null }>(text)
  return row?.at ?? null
}

/** Whether the server is still replaying its write-ahead log (recovery). */
export async function readRecovery(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ replaying: boolean }>('select pg_is_in_recovery() as replaying')
  return row?.replaying === true
}

/** Returns the current time by the platform's clock, which a sandbox may have moved. */
export async function readNow(database: Queryable): Promise<Date> {
  const [row] = await database.query<{ now: Date }>(
    `select clock_timestamp() + coalesce((select offset_ms from sandbox_clock), 0) * interval '1 millisecond' as now`,
  )
  if (!row) throw new Error('A select without a table has one row')
  return row.now
}

export type SealedProfile = { profileId: number; tariffId: number; iccidHash: Buffer; sealed: Buffer }

/**
 * Returns at most `count` random profiles. For each, it draws a random id between the first and the last profile's id,
 * and takes the first profile whose id is not lower.
 */
export function drawProfiles(database: Queryable, count: number): Promise<SealedProfile[]> {
  return database.query<SealedProfile>(
    `select distinct on (p.profile_id) p.profile_id as "profileId", p.tariff_id as "tariffId", p.iccid_hash as "iccidHash", p.sealed
     from (
       select first + floor(random() * (last - first + 1))::bigint as drawn
       from (select min(profile_id) as first, max(profile_id) as last from profiles) as ends, generate_series(1, $1)
     ) as draws
     cross join lateral (select * from profiles where profile_id >= drawn order by profile_id limit 1) as p`,
    [count],
  )
}
