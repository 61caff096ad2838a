/** Reads the rows of a long answer in pieces, from one statement and one snapshot, as fast as the reader takes them. */
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import { type Database, queryable } from './database.ts'

const rowsAtOnce = 500
/**
 * The time limit of a read, because PostgreSQL cannot clean up deleted rows during its transaction. When the caller takes
 * no rows for a minute, PostgreSQL ends the session by itself (`idle_in_transaction_session_timeout`).
 */
const wholeMs = 10 * 60_000

/**
 * @param text a query without parameters
 * @param signal an abort ends the connection and the statement that runs on it
 * @throws DomainError 'unavailable' when reading takes too long
 */
export async function* readPiecewise<Row extends object>(
  database: Database,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<Row[]> {
  const opened = Promise.withResolvers<pg.ClientBase>()
  const ended = Promise.withResolvers<void>()
  const lent = database.longRead('files', async client => {
    signal.throwIfAborted()
    opened.resolve(client)
    await ended.promise
  })
  lent.catch(opened.reject)
  // If no connection was made, nobody awaits this promise. Avoid an unhandled rejection.
  ended.promise.catch(() => {})
  const leave = () => ended.reject(new Error('The reader has left'))
  signal.addEventListener('abort', leave)
  const giveUpAtMs = performance.now() + wholeMs
  const client = await opened.promise
  const fetch = (): Promise<Row[]> => queryable(client).query<Row>(`fetch ${rowsAtOnce} from piecewise`)
  try {
    await client.query(`begin read only; set local jit = off; declare piecewise no scroll cursor for ${text}`)
    for (let next: Promise<Row[]> | null = fetch(); next; ) {
      const rows: Row[] = await next
      // Fetch the next rows while the caller takes these.
      next = rows.length < rowsAtOnce ? null : fetch()
      next?.catch(() => {})
      if (rows.length > 0) yield rows
      if (performance.now() > giveUpAtMs)
        throw new DomainError('unavailable', 'Reading has taken too long; try again', { retryAfterSeconds: 10 })
    }
    await client.query('commit')
    ended.resolve()
  } finally {
    // This does nothing after `ended.resolve()`. If the read has failed or the caller has stopped early, the connection
    // is still inside its transaction. Then the rejection makes `longRead` close it.
    ended.reject(new Error('The reading was broken off'))
    signal.removeEventListener('abort', leave)
  }
}
