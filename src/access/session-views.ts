/** Builds the portal's answer about the logged-in person and the session. */
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findFailedLogins } from './login-store.ts'
import { findNames } from './shown-names-store.ts'
import type { ReadToken } from './tokens.ts'

export type ViewDeps = { database: Database; clock: Clock }

/**
 * Builds the answer about the caller's session.
 * @throws DomainError 'unauthenticated' when the account no longer exists
 */
export async function sessionView({ database, clock }: ViewDeps, { caller, expiresAt }: ReadToken) {
  const names = await findNames(database, caller)
  if (!names) throw new DomainError('unauthenticated', 'This account is not there any more')
  const failed = caller.userType === 'portal_user' ? await findFailedLogins(database, caller.subject) : null
  return {
    typeAccount: caller.type,
    login: names.login,
    role: caller.role,
    id: caller.type === 'bank' ? caller.bankId : caller.type === 'retailer' ? caller.merchantId : null,
    name: names.name ?? 'Perkline',
    nameEn: names.nameEn,
    expiresAt: expiresAt.toISOString(),
    now: clock.now().toISOString(),
    failedLogins: failed && { count: failed.count, since: failed.since.toISOString() },
  }
}
