/** The rows of a long answer: one statement in one snapshot, read in pieces as fast as they are taken. */
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import { type Database, queryable } from './database.ts'

const rowsAtOnce = 500
/** Whoever reads holds a snapshot of the database, so it ends after so long; one that takes nothing for a minute is cut off by the server. */
const wholeMs = 10 * 60_000

/**
 * @param text a query without parameters
 * @throws DomainError 'unavailable' when it takes too long
 */
export async function* readPiecewise<Row extends object>(database: Database, text: string): AsyncGenerator<Row[]> {
  const opened = Promise.withResolvers<pg.ClientBase>()
  const ended = Promise.withResolvers<void>()
  const lent = database.longRead(async client => {
    opened.resolve(client)
    await ended.promise
  })
  lent.catch(opened.reject)
  const giveUpAtMs = performance.now() + wholeMs
  const client = await opened.promise
  const fetch = (): Promise<Row[]> => queryable(client).query<Row>(`fetch ${rowsAtOnce} from piecewise`)
  try {
    await client.query(`begin read only; set local jit = off; declare piecewise no scroll cursor for ${text}`)
    for (let next: Promise<Row[]> | null = fetch(); next; ) {
      const rows: Row[] = await next
      // The database goes on while these are taken.
      next = rows.length < rowsAtOnce ? null : fetch()
      next?.catch(() => {})
      if (rows.length > 0) yield rows
      if (performance.now() > giveUpAtMs)
        throw new DomainError('unavailable', 'Reading has taken too long; try again', { retryAfterSeconds: 10 })
    }
    await client.query('commit')
    ended.resolve()
  } finally {
    // Of no effect once it is resolved; a connection that was left within its transaction is not used again.
    ended.reject(new Error('The reading was broken off'))
  }
}
