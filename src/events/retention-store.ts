/**
 * Removes events, deliveries and their attempts after `EVENT_RETENTION_DAYS`, by dropping the partitions of whole days.
 * Also deletes old replays.
 */
import type { Database } from '../db/database.ts'
import { forEachItem } from '../work/for-each.ts'
import { daily } from './sequence-store.ts'

type Daily = (typeof daily)[number]

const detachWait = '5s'

/**
 * Drops the old partitions of each table, and deletes old or finished replays. A partition that a long read is using
 * stays until the next run. Then the later partitions of the same table also stay, because PostgreSQL detaches only one
 * partition of a table at a time.
 *
 * @throws AggregateError at the end, which names the tables whose partitions could not be dropped
 */
export async function dropOldEvents(database: Database, retentionDays: number): Promise<false> {
  // Normally a replay is deleted when it ends. But a process of an earlier version may still be running, and it only
  // marks the replay as finished.
  await database.execute(
    `delete from webhook_replays where finished_at is not null or created_at < now() - $1 * interval '1 day'`,
    [retentionDays],
  )
  await forEachItem(
    daily,
    table => table,
    table => dropOldDays(database, table, retentionDays),
  )
  return false
}

async function dropOldDays(database: Database, parent: Daily, retentionDays: number): Promise<void> {
  const days = await database.query<OldDay>(
    `select to_date(right(c.relname, 8), 'YYYYMMDD')::text as day, c.relname as table,
       case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end as state
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname ~ ('^' || $2 || '_[0-9]{8}$')
       and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date - $1::int order by 1`,
    [retentionDays, parent],
  )
  for (const day of days) await dropDay(database, parent, day)
}

/** A day to remove. If a process was killed while it detached the day's partition, the state is `pending` or `detached`. */
type OldDay = { day: string; table: string; state: 'attached' | 'pending' | 'detached' }

/**
 * Drops one day. It first records in the feeds that the events were removed. Otherwise an interrupted drop would look
 * like a gap in the feed.
 */
async function dropDay(database: Database, parent: Daily, { day, table, state }: OldDay): Promise<void> {
  if (parent === 'events') await markRemoved(database, day, table)
  await database.dedicated(async client => {
    await client.query(`set lock_timeout = '${detachWait}'`)
    if (state !== 'detached')
      await client.query(
        `alter table ${parent} detach partition ${table} ${state === 'pending' ? 'finalize' : 'concurrently'}`,
      )
    await client.query(`drop table ${table}`)
  })
}

async function markRemoved(database: Database, day: string, table: string): Promise<void> {
  await database.execute(
    `update feeds f set removed_through = greatest(f.removed_through, gone.last) from (
       select account_type, account_id, max(sequence) as last from ${table} group by account_type, account_id
     ) as gone where gone.account_type = f.account_type and gone.account_id = f.account_id`,
  )
  await database.execute(`delete from feed_days where day = $1`, [day])
}
