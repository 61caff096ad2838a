/**
 * Sensitive changes need a factor that was proven recently, so that nobody can make them in a session that was left
 * open.
 */
import type { Queryable } from '../../db/database.ts'
import { DomainError } from '../../errors.ts'
import { findFactorAge } from '../sessions/session-store.ts'

const freshSeconds = 15 * 60

/**
 * Checks that a factor was proven in this session within the last 15 minutes.
 *
 * @throws DomainError 'mfa-needed' when the last proof is older, or the session is not live
 */
export async function requireFreshFactor(database: Queryable, sessionId: string): Promise<void> {
  const seconds = await findFactorAge(database, sessionId)
  if (seconds === null || seconds > freshSeconds)
    throw new DomainError('mfa-needed', 'This needs a factor that was proven within the last 15 minutes')
}
