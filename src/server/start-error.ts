/** Error messages for a start that cannot use the database. */
import { DomainError } from '../errors.ts'

/** Throws an error that explains why a start cannot reach the database. Requests get another message. */
export function startError(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'unavailable') throw refusal(error) ?? error
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string }
  const reason = message || code || 'no answer'
  throw (
    refusal(error.cause) ?? new Error(`The database can't be reached (${reason}): check DATABASE_URL, and that it runs`)
  )
}

/** Whether a later try may succeed: the database is unavailable, but has not refused the connection. */
export const mayAnswerLater = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'unavailable' && refusal(error.cause) === null

/**
 * Whether PostgreSQL said that it is starting, recovering or stopping (SQLSTATE 57P03). After starting or recovering,
 * it accepts connections by itself.
 */
export const isStarting = (error: unknown): boolean =>
  error instanceof DomainError && (error.cause as { code?: unknown } | undefined)?.code === '57P03'

/** PostgreSQL's code (SQLSTATE) for a write in a transaction that only reads. */
const readOnlyCode = '25006'

/**
 * Whether a code of PostgreSQL (SQLSTATE) means that it refused the connection: 3D000 no such database, 28... no such
 * user or a wrong password, 42501 no permission, 55000 a database that takes no connections.
 */
const isRefusal = (code: string): boolean => /^(?:3D000|28...|42501|55000)$/.test(code)

function refusal(error: unknown): Error | null {
  if (!(error instanceof Error && 'code' in error)) return null
  if (error.code === readOnlyCode)
    return new Error(
      `The database takes no writes (${error.message}): the server is a standby, or default_transaction_read_only is set. ` +
        'Give DATABASE_URL the address of the primary, or reset this setting',
    )
  if (!isRefusal(String(error.code))) return null
  return new Error(`The database refuses (${error.message}): check DATABASE_URL, and what its user may do`)
}
