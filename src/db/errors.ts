/** Classifies database errors for callers: temporary ones become `DomainError('unavailable')`, all others are bugs of ours. */
import pg from 'pg'
import { DomainError } from '../errors.ts'

/**
 * A deadlock or a serialisation failure, caused by another transaction. The same work may succeed if it is repeated at
 * once.
 */
export const hasLostAgainstOthers = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')

/**
 * SQLSTATE classes and codes after which a connection cannot be used: errors of the connection, login, resources,
 * operator intervention, input and output; a database that is missing, takes no connections or is a standby; and the
 * time limits of a transaction, which end the session.
 */
const lost = /^(08|28|53|57P|58|25006|25P0[34]|3D000|55000)/
/** A time limit of one statement or lock, or a cancellation: the connection stays usable. */
const ended = /^(57014|55P03)/

/** Whether the connection must not be used again. */
export function isLost(error: unknown): boolean {
  if (error instanceof DomainError) return false
  if (error instanceof pg.DatabaseError) return lost.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return (
    /^E[A-Z]+$/.test(code) ||
    /timeout|terminated|not queryable|closed|Connection|calling end on the pool/i.test(error.message)
  )
}

const isEnded = (error: unknown): boolean => error instanceof pg.DatabaseError && ended.test(error.code ?? '')

/**
 * After how many seconds clients should try again when the database is away. A planned switchover takes about 3 seconds
 * (contract/production.md, "High availability"), so the second try of a client succeeds.
 */
const awaySeconds = 4

/** Makes the error for a database that is away. @param cause the error of the database, if there was one */
export function databaseAway(cause?: unknown): DomainError {
  const message = 'The database is temporarily unavailable; try again'
  return new DomainError('unavailable', message, { retryAfterSeconds: awaySeconds, cause })
}

/** Throws DomainError 'unavailable' for every temporary error, otherwise the error itself. */
export function mapError(error: unknown): never {
  if (hasLostAgainstOthers(error))
    throw new DomainError('unavailable', 'Others change the same at this moment; try again', {
      retryAfterSeconds: 1,
      cause: error,
    })
  if (isLost(error) || isEnded(error)) throw databaseAway(error)
  throw error
}

/**
 * Reports any error while a connection is opened as a database that is away. This includes internal errors of the
 * server: a server with a full disk, for example, refuses connections with an internal error.
 *
 * @throws DomainError 'unavailable' always
 */
export function notReached(error: unknown): never {
  throw databaseAway(error)
}
