/** SQL of the platform's state, for its metrics. */
import type { Queryable } from '../db/database.ts'

export type AuditState = {
  /** When the last audit ended, or when the database was first used if there was no audit. */
  at: Date
  /** The result of the last audit; null: there was none. */
  ok: boolean | null
}

export async function findAuditState(database: Queryable): Promise<AuditState | null> {
  const [state] = await database.query<AuditState>(
    `select coalesce(last.finished_at, first.used_at) as at, (last.result->>'ok')::boolean as ok
     from (select min(applied_at) as used_at from schema_migrations) as first
     left join (
       select finished_at, result from audit_runs where finished_at is not null order by run_id desc limit 1
     ) as last on true`,
  )
  return state ?? null
}

/** The number of campaigns of all merchants, by status. */
export function countCampaigns(database: Queryable): Promise<{ status: string; campaigns: number }[]> {
  return database.query(
    `select campaign_status as status, sum(campaigns)::bigint as campaigns from campaign_counts where bank_status = '' group by 1`,
  )
}

/** Counts reservations that have ended but are not yet stored as expired. It stops counting at 10,000. */
export async function countLapsed(database: Queryable, now: Date): Promise<number> {
  const [row] = await database.query<{ lapsed: number }>(
    `select count(*)::int as lapsed from (
       select from orders where status = 'reserved' and reserved_until <= $1 limit 10000
     ) as over`,
    [now],
  )
  return row?.lapsed ?? 0
}
