/** Transactions that may take minutes. They run on connections of their own, so that short statements never wait for them. */
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import { type Database, type Queryable, queryable } from './database.ts'

/**
 * Runs `work` in one transaction without time limits. Unlike `Database.transaction` it is never repeated, because its
 * input is often a stream that can be read only once.
 *
 * Inside another long transaction (`Database.joined`) it joins that transaction, and `begin` and `keep` are ignored.
 *
 * @param work gets the connection, and a `Queryable` on it that refuses further statements once the client has left
 * @param options.begin the statement that begins the transaction, e.g. with an isolation level
 * @param options.keep false: rolls everything back at the end and keeps only the result
 * @param options.signal aborts when the client closes the connection: nothing is committed after that
 * @throws DomainError 'unavailable' when the client left before the commit
 */
export function longTransaction<T>(
  database: Database,
  work: (client: pg.Client, transaction: Queryable) => Promise<T>,
  options: { begin?: string; keep?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const { joined } = database
  if (joined) return work(joined, whilePresent(queryable(joined), options.signal))
  return database.dedicated(async client => {
    await client.query(options.begin ?? 'begin')
    // After an error no rollback is needed: the connection closes, and the transaction ends with it.
    const result = await work(client, whilePresent(queryable(client), options.signal))
    requirePresent(options.signal)
    await client.query(options.keep === false ? 'rollback' : 'commit')
    return result
  })
}

/** Runs work in a transaction, which is committed when the work has ended. */
export type Transact = <T>(work: (transaction: Queryable, client: pg.Client) => Promise<T>) => Promise<T>

/**
 * Runs several long transactions, one after the other, on one connection, because opening a connection takes longer
 * than a short transaction. A failed transaction is rolled back, and `work` may continue with the next one.
 *
 * @param begin the statements that begin each transaction
 */
export function longTransactions<T>(
  database: Database,
  begin: string,
  work: (transact: Transact) => Promise<T>,
): Promise<T> {
  return database.dedicated(client =>
    work(async inside => {
      await client.query(begin)
      try {
        const result = await inside(queryable(client), client)
        await client.query('commit')
        return result
      } catch (error) {
        // If the connection is lost, there is nothing to roll back; report the first error.
        await client.query('rollback').catch(() => {})
        throw error
      }
    }),
  )
}

function whilePresent(transaction: Queryable, signal: AbortSignal | undefined): Queryable {
  const checked =
    <Values extends unknown[], Result>(run: (...values: Values) => Promise<Result>) =>
    async (...values: Values): Promise<Result> => {
      requirePresent(signal)
      return run(...values)
    }
  return {
    query: checked(transaction.query) as Queryable['query'],
    tuples: checked(transaction.tuples) as Queryable['tuples'],
    execute: checked(transaction.execute),
  }
}

/** Throws when the client has disconnected. The client could not learn the result, so nothing must be committed. */
function requirePresent(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DomainError('unavailable', 'The client closed the connection: nothing was kept')
}
