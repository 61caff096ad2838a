/** Counts what the database has read, for tests of what a request costs. */
import type { Database } from '../../src/db/database.ts'
import { until } from './esim.ts'
import type { TestPlatform } from './platform.ts'

/**
 * How many rows of some tables, or entries of their indexes, were read since the database was made. Reads are counted for
 * certain only when their connection has ended. So let another process do the work (`rowsReadBy`), and measure after it has
 * ended.
 *
 * @param tables a `like` pattern for their names
 */
export async function rowsRead(database: Database, tables: string): Promise<number> {
  // PostgreSQL counts a row that was found through an index twice: as an entry of the index and as a row. A read from
  // the index alone counts only as an entry. So the larger one of both counts is used.
  const [row] = await database.query<{ read: string }>(
    `select sum(seq_tup_read + greatest(coalesce(idx_tup_fetch, 0), coalesce(
       (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid), 0))) as read
     from pg_stat_user_tables t where relname like $1`,
    [tables],
  )
  return Number(row?.read)
}

/** Does the work through another process of the platform, and returns how many rows of `tables` were read meanwhile. */
export async function rowsReadBy(
  platform: TestPlatform,
  tables: string,
  work: (there: TestPlatform) => Promise<void>,
): Promise<number> {
  const { database } = platform.platform
  const before = await rowsRead(database, tables)
  const connected = await connections(database)
  const there = await platform.sibling()
  try {
    await work(there)
  } finally {
    await there.close()
  }
  await until('its connections have ended', async () => (await connections(database)) <= connected)
  return (await rowsRead(database, tables)) - before
}

async function connections(database: Database): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
  )
  return row?.count ?? 0
}
