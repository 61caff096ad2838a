/** What a database error means to callers: it passes by itself (`DomainError('unavailable')`), or it is an error of ours. */
import pg from 'pg'
import { DomainError } from '../errors.ts'

/** A deadlock or a serialisation failure: the same may succeed at once. */
export const hasLostAgainstOthers = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')

/**
 * SQLSTATE classes and codes after which a connection is of no use: connection, login, resources, operator intervention, input and
 * output; no such database, or one that takes no connections; a standby.
 */
const lost = /^(08|28|53|57P|58|25006|25P03|3D000|55000)/
/** A time limit or a cancellation: the connection is as good as before. */
const ended = /^(57014|55P03)/

/** Whether the connection is not to be used again. */
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

/** @throws DomainError 'unavailable' for every error that passes by itself, else the error as it came */
export function mapError(error: unknown): never {
  if (hasLostAgainstOthers(error))
    throw new DomainError('unavailable', 'Others change the same at this moment; try again', {
      retryAfterSeconds: 1,
      cause: error,
    })
  if (isLost(error) || isEnded(error))
    throw new DomainError('unavailable', 'The database is away for a moment; try again', {
      retryAfterSeconds: 2,
      cause: error,
    })
  throw error
}
