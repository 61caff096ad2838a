/** Transactions that may take minutes: on a connection of their own, so that short statements never wait for them. */
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import { type Database, type Queryable, queryable } from './database.ts'

/**
 * Runs `work` in one transaction without time limits. Unlike `Database.transaction` it is never tried again by itself: its input is
 * often a stream that comes once.
 *
 * Within another one (`Database.joined`) it becomes a part of that: `begin` and `keep` are then the other's affair.
 *
 * @param work gets the connection, and the same as `Queryable`; the latter refuses further statements once the client has left
 * @param options.begin how it begins, e.g. with an isolation level
 * @param options.keep false: all is rolled back at the end, and only the result stays
 * @param options.left aborts when the client closes the connection: nothing is committed after that
 * @throws DomainError 'unavailable' when the client left before the commit
 */
export function longTransaction<T>(
  database: Database,
  work: (client: pg.Client, transaction: Queryable) => Promise<T>,
  options: { begin?: string; keep?: boolean; left?: AbortSignal | undefined } = {},
): Promise<T> {
  const { joined } = database
  if (joined) return work(joined, whilePresent(queryable(joined), options.left))
  return database.dedicated(async client => {
    await client.query(options.begin ?? 'begin')
    // An error needs no rollback: the connection ends, and the transaction with it.
    const result = await work(client, whilePresent(queryable(client), options.left))
    requirePresent(options.left)
    await client.query(options.keep === false ? 'rollback' : 'commit')
    return result
  })
}

function whilePresent(transaction: Queryable, left: AbortSignal | undefined): Queryable {
  const checked =
    <Values extends unknown[], Result>(run: (...values: Values) => Promise<Result>) =>
    async (...values: Values): Promise<Result> => {
      requirePresent(left)
      return run(...values)
    }
  return {
    query: checked(transaction.query) as Queryable['query'],
    tuples: checked(transaction.tuples) as Queryable['tuples'],
    execute: checked(transaction.execute),
  }
}

/** Whoever has left cannot learn what was kept, so nothing is. */
function requirePresent(left: AbortSignal | undefined): void {
  if (left?.aborted) throw new DomainError('unavailable', 'The client closed the connection: nothing was kept')
}
