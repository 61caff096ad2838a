/** Transactions that may take minutes: on a connection of their own, so that short statements never wait for them. */
import type pg from 'pg'
import type { Database } from './database.ts'

/**
 * Runs `work` in one transaction without time limits. Unlike `Database.transaction` it is never tried again by itself: its input is
 * often a stream that comes once.
 *
 * @param options.begin how it begins, e.g. with an isolation level
 * @param options.keep false: all is rolled back at the end, and only the result stays
 */
export function longTransaction<T>(
  database: Database,
  work: (client: pg.Client) => Promise<T>,
  options: { begin?: string; keep?: boolean } = {},
): Promise<T> {
  return database.dedicated(async client => {
    await client.query(options.begin ?? 'begin')
    // An error needs no rollback: the connection ends, and the transaction with it.
    const result = await work(client)
    await client.query(options.keep === false ? 'rollback' : 'commit')
    return result
  })
}
