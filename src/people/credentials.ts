/** How managers handle their account's own credentials (contract/people.md, "Own credentials"). */

import { issueCredentialTo, revokeCredential, rotateCredential } from '../access/operations.ts'
import type { AccountOwner } from '../access/owners.ts'
import type { CountSettingsChange } from '../access/settings-limit.ts'
import { callerName } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { originOfCaller } from '../outbox/origin.ts'
import type { BankSystemRole } from '../roles.ts'
import { countLive, findCredentialOwner } from './credentials-store.ts'
import { changing, countChange, type Manager, manages } from './managers.ts'

/** The maximum number of live credentials of an account. The operator may issue more. */
export const maxCredentials = 1_000

export type CredentialDeps = { database: Database; countSettingsChange: CountSettingsChange }

/**
 * Issues a credential of the managed account.
 *
 * @throws DomainError 'invalid' for the platform, which has no credentials, for a bank without a role, and for a merchant with one;
 *   'limit-reached' when the account has `maxCredentials` live credentials; 'too-many' as `CountSettingsChange`
 */
export async function issueOwn(
  deps: CredentialDeps,
  manager: Manager,
  { owner, role, label }: { owner: AccountOwner; role: BankSystemRole | undefined; label: string },
): Promise<{ clientId: string; secret: string }> {
  if (owner === 'platform') throw new DomainError('invalid', [broken('bank', 'bank-or-merchant')])
  if ('merchantId' in owner && role !== undefined)
    throw new DomainError('invalid', [broken('role', 'no-role-of-merchant')])
  if ('bankId' in owner && role === undefined) throw new DomainError('invalid', [broken('role', 'role-of-bank')])
  const credential = { owner, role: role ?? 'gateway', label, issuedBy: callerName(manager.caller) } as const
  await countChange(deps, manager, owner)
  return changing(deps.database, manager, owner, async within => {
    if ((await countLive(within, owner)) >= maxCredentials)
      throw new DomainError('limit-reached', `An account has at most ${maxCredentials} live credentials`)
    return issueCredentialTo(by(within, manager), credential)
  })
}

/** The owner of a credential that this manager may handle. @throws DomainError 'not-found' for any other credential */
async function ownerOfOwn(database: Queryable, manager: Manager, clientId: string): Promise<AccountOwner> {
  const owner = await findCredentialOwner(database, clientId)
  if (owner && manages(manager, owner)) return owner
  throw new DomainError('not-found', `No credential has the clientId ${clientId}`)
}

/**
 * Like `rotateCredential`, for a credential of an account that the manager manages.
 *
 * @throws DomainError 'not-found' for any other credential, and for a revoked one; 'too-many' as `CountSettingsChange`
 */
export async function rotateOwn(
  deps: CredentialDeps,
  manager: Manager,
  params: { clientId: string; overlapMs: number },
) {
  const owner = await ownerOfOwn(deps.database, manager, params.clientId)
  await countChange(deps, manager, owner)
  return changing(deps.database, manager, owner, within => rotateCredential(by(within, manager), params))
}

/**
 * Like `revokeCredential`, for a credential of an account that the manager manages.
 *
 * @throws DomainError 'not-found' for any other credential
 */
export async function revokeOwn(deps: { database: Database }, manager: Manager, clientId: string): Promise<void> {
  const owner = await ownerOfOwn(deps.database, manager, clientId)
  await changing(deps.database, manager, owner, within => revokeCredential(by(within, manager), clientId))
}

const by = (database: Database, { caller }: Manager) => ({ database, origin: originOfCaller(caller) })
