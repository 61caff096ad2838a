/** How managers handle their account's own credentials (contract/people.md, "Own credentials"). */
import { type BankRole, callerName } from '../access/caller.ts'
import { issueCredentialTo, revokeCredential, rotateCredential } from '../access/operations.ts'
import type { AccountOwner } from '../access/owners.ts'
import { originOfCaller } from '../audit-log/origin.ts'
import type { Database, Queryable } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { findCredentialOwner } from './credentials-store.ts'
import { type Manager, manages } from './managers.ts'

/**
 * @throws DomainError 'invalid' for the platform, which has no credentials, and for a role that this kind of
 *   account cannot have
 */
export function issueOwn(
  deps: { database: Database },
  manager: Manager,
  { owner, role, label }: { owner: AccountOwner; role: BankRole | undefined; label: string },
): Promise<{ clientId: string; secret: string }> {
  if (owner === 'platform') throw new DomainError('invalid', [broken('bank', 'bank-or-merchant')])
  if ('merchantId' in owner && role !== undefined)
    throw new DomainError('invalid', [broken('role', 'no-role-of-merchant')])
  if ('bankId' in owner && role === undefined) throw new DomainError('invalid', [broken('role', 'role-of-bank')])
  return issueCredentialTo(by(deps, manager), {
    owner,
    role: role ?? 'gateway',
    label,
    issuedBy: callerName(manager.caller),
  })
}

/** @throws DomainError 'not-found' when the credential belongs to another account */
async function requireOwn(database: Queryable, manager: Manager, clientId: string): Promise<void> {
  const owner = await findCredentialOwner(database, clientId)
  if (!owner || !manages(manager, owner))
    throw new DomainError('not-found', `No credential has the clientId ${clientId}`)
}

/** As `rotateCredential`. @throws DomainError 'not-found' */
export async function rotateOwn(
  deps: { database: Database },
  manager: Manager,
  params: { clientId: string; overlapMs: number },
) {
  await requireOwn(deps.database, manager, params.clientId)
  return rotateCredential(by(deps, manager), params)
}

/** As `revokeCredential`. @throws DomainError 'not-found' */
export async function revokeOwn(deps: { database: Database }, manager: Manager, clientId: string): Promise<void> {
  await requireOwn(deps.database, manager, clientId)
  await revokeCredential(by(deps, manager), clientId)
}

const by = ({ database }: { database: Database }, { caller }: Manager) => ({ database, origin: originOfCaller(caller) })
