/** Counts what the database has read, for tests of what a request costs. */
import type { Database } from '../../src/db/database.ts'

/**
 * How many rows of some tables were read since the database was made. Reads are counted for certain only when their
 * connection has ended. So let another process do the work, and measure after it has ended.
 *
 * @param tables a `like` pattern for their names
 */
export async function rowsRead(database: Database, tables: string): Promise<number> {
  const [row] = await database.query<{ read: string }>(
    `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as read from pg_stat_user_tables where relname like $1`,
    [tables],
  )
  return Number(row?.read)
}
