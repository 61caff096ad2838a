/**
 * Operations on credentials and users: tokens of systems; issuing, rotating and revoking credentials; adding and
 * disabling people. The operator and the managers of accounts (`people/`) share them.
 */

import { randomUUID } from 'node:crypto'
import type { Caller, Trace } from '../caller.ts'
import { realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { type Fact, recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import type { RecordedAccount } from '../outbox/rows.ts'
import { type BankSystemRole, rolesOfPeople } from '../roles.ts'
import { isUuid } from '../text/uuid.ts'
import { findOwner, type PartnerOwner, type PartnerReference } from './accounts.ts'
import { endSecret, findCredential, insertCredential, markRevoked, replaceSecret } from './credential-store.ts'
import { insertEndedToken } from './ended-token-store.ts'
import { endChallenges } from './factors/factor-store.ts'
import { type AccountOwner, accountTypeOf, type CredentialOwner } from './owners.ts'
import { requirePassword } from './passwords/password-rules.ts'
import type { RefusalSums, Refused } from './refusal-sums.ts'
import type { Refusals } from './refusals.ts'
import {
  fingerprintOf,
  hashPassword,
  hashSecret,
  makeClientId,
  makeSecret,
  secretIdOf,
  secretMatches,
} from './secrets.ts'
import { deleteSession, endSessions } from './sessions/session-store.ts'
import type { Tokens } from './tokens.ts'
import {
  deleteResets,
  findNamesOf,
  insertUser,
  isLoginOfDisabled,
  lockLogin,
  markDisabled,
  type Withdrawn,
} from './user-store.ts'

/** `origin` says who makes the change; default: the operator. */
export type ChangeDeps = { database: Queryable & Pick<Database, 'transaction'>; origin?: Origin }

export type AccessDeps = {
  database: Database
  tokens: Tokens
  refusals: Pick<Refusals, 'admitsAddress'>
  refusalSums: Pick<RefusalSums, 'add'>
}

/** Where a request for a token comes from. */
export type Source = { address: string; trace: Trace }

/**
 * Exchanges clientId and secret for a token (POST /getToken/auth).
 *
 * @returns null for an unknown clientId, a wrong secret, a revoked credential, a suspended partner, and an address that the
 *   partner does not allow. The caller cannot distinguish these cases, not even by the time that they take
 */
export async function issueGatewayToken(
  deps: AccessDeps,
  { address, trace }: Source,
  input: { clientId: string; secret: string },
): Promise<{ token: string; caller: Caller } | null> {
  const credential = await findCredential(deps.database, input.clientId)
  const caller =
    credential && ({ ...credential.account, userType: 'gateway_user', subject: credential.clientId } as const)
  const refuse = (refused: Pick<Refused, 'action' | 'lacking'>) => {
    deps.refusalSums.add({ ...refused, caller, trace })
    return null
  }
  const current = secretMatches(input.secret, credential?.secretHash ?? null)
  const previous = secretMatches(input.secret, credential?.previousSecretHash ?? null)
  if (!credential || !caller || !(current || (previous && credential.hasOverlap)))
    return refuse({ action: 'login.refused', lacking: 'secret' })
  if (credential.revoked || credential.suspended) return refuse({ action: 'login.refused', lacking: 'access' })
  if (!deps.refusals.admitsAddress(caller, address)) return refuse({ action: 'address.refused' })
  const { token } = deps.tokens.issue(caller, { secretId: secretIdOf(hashSecret(input.secret)) })
  return { token, caller }
}

/** Ends one token in all processes, for example at a logout. Other tokens of the same user stay valid. */
export async function endToken(
  { database, origin = operatorOrigin() }: ChangeDeps,
  token: { id: string; expiresAt: Date },
): Promise<void> {
  await database.transaction(async transaction => {
    const isNew = await insertEndedToken(transaction, token)
    const fact = { action: 'logout', object: { type: 'session', id: token.id } }
    await recordEntries(transaction, origin, isNew ? [fact] : [])
    if (isUuid(token.id)) await deleteSession(transaction, token.id)
    await notify(transaction, 'access')
  })
}

/**
 * Issues a credential for a bank (with a role) or a merchant.
 *
 * @returns the secret in plain text; it cannot be read again
 * @throws DomainError 'not-found' when no partner has that code
 */
export async function issueCredential(
  deps: ChangeDeps,
  input: { partner: PartnerReference; role: BankSystemRole | 'gateway'; label: string },
): Promise<{ clientId: string; secret: string }> {
  const owner = await ownerOf(deps.database, input.partner)
  return issueCredentialTo(deps, { ...input, owner, issuedBy: null })
}

/**
 * Issues a credential for a bank or a merchant.
 * @param input.issuedBy the issuer as `callerName` returns it; null: the operator
 */
export async function issueCredentialTo(
  { database, origin = operatorOrigin() }: ChangeDeps,
  input: { owner: CredentialOwner; role: BankSystemRole | 'gateway'; label: string; issuedBy: string | null },
): Promise<{ clientId: string; secret: string }> {
  const clientId = makeClientId()
  const secret = makeSecret()
  const secretHash = hashSecret(secret)
  const { owner, role, label, issuedBy } = input
  await database.transaction(async transaction => {
    await insertCredential(transaction, { clientId, owner, role, label, secretHash, issuedBy })
    const change = { role: [null, role], label: [null, label], secret: [null, fingerprintOf(secretHash)] } as const
    await recordEntries(transaction, origin, [
      { action: 'credential.issued', object: credential(clientId), owner: ownerAccountOf(owner), change },
    ])
  })
  return { clientId, secret }
}

/**
 * Gives a credential a new secret. The previous secret works until the overlap ends, so that the partner can change
 * over without a gap. The tokens of the previous secret end together with that secret. If an even older secret still works,
 * it ends at once.
 *
 * @throws DomainError 'not-found' when there is no such live credential
 */
export async function rotateCredential(
  { database, origin = operatorOrigin() }: ChangeDeps,
  input: { clientId: string; overlapMs: number },
): Promise<{ clientId: string; secret: string; previousValidUntil: Date }> {
  const { clientId } = input
  const secret = makeSecret()
  const now = realNow()
  const previousValidUntil = new Date(now.getTime() + input.overlapMs)
  const nextHash = hashSecret(secret)
  await database.transaction(async transaction => {
    const replaced = await replaceSecret(transaction, { clientId, secretHash: nextHash, previousValidUntil })
    if (!replaced) throw new DomainError('not-found', `No live credential has the clientId ${clientId}`)
    const { secretHash, previousSecretHash } = replaced
    if (previousSecretHash)
      await endSecret(transaction, { clientId, secretId: secretIdOf(previousSecretHash), endsAt: now })
    await endSecret(transaction, { clientId, secretId: secretIdOf(secretHash), endsAt: previousValidUntil })
    const change = {
      secret: [fingerprintOf(secretHash), fingerprintOf(nextHash)],
      previousValidUntil: [null, previousValidUntil.toISOString()],
    } as const
    await recordEntries(transaction, origin, [
      { action: 'credential.rotated', object: credential(clientId), owner: ownerAccountOf(replaced), change },
    ])
    await notify(transaction, 'access')
  })
  return { clientId, secret, previousValidUntil }
}

/** Revokes a credential. @throws DomainError 'not-found' when there is no such credential */
export async function revokeCredential(
  { database, origin = operatorOrigin() }: ChangeDeps,
  clientId: string,
): Promise<void> {
  await database.transaction(async transaction => {
    const ended = await markRevoked(transaction, clientId)
    if (!ended) throw new DomainError('not-found', `No credential has the clientId ${clientId}`)
    const change = { revoked: [false, true] } as const
    const fact = { action: 'credential.revoked', object: credential(clientId), owner: ownerAccountOf(ended), change }
    await recordEntries(transaction, origin, ended.isNew ? [fact] : [])
    await notify(transaction, 'access')
  })
}

export type UserOwner = PartnerReference | 'platform'

export type NewUser = { owner: UserOwner; login: string; role: string; password: string; email?: string | null }

/**
 * Adds a portal user.
 *
 * @throws DomainError 'invalid' for a role that this kind of account does not have or a password that is refused, 'not-found' for an
 *   unknown partner, 'conflict' when the login is taken
 */
export async function addUser(
  { database, origin = operatorOrigin() }: ChangeDeps,
  input: NewUser,
): Promise<{ userId: string }> {
  const { login, role, password, email = null } = input
  const owner = input.owner === 'platform' ? 'platform' : await ownerOf(database, input.owner)
  requireRole(owner, role)
  requirePassword('password', password, await findNamesOf(database, owner, login))
  const userId = randomUUID()
  const passwordHash = await hashPassword(password)
  await database.transaction(async transaction => {
    if (!(await insertUser(transaction, { userId, owner, login, role, email, passwordHash })))
      throw await loginTaken(transaction, login)
    const change = { role: [null, role] } as const
    await recordEntries(transaction, origin, [
      { action: 'user.added', object: user(userId), owner: ownerAccountOf(owner), change },
    ])
    await notify(transaction, 'access')
  })
  return { userId }
}

/** Stores a new person. @throws DomainError 'conflict' when the login is taken; the error does not say by whom */
export async function insertPerson(transaction: Queryable, person: Parameters<typeof insertUser>[1]): Promise<void> {
  const { login } = person
  if (!(await insertUser(transaction, person)))
    throw new DomainError('conflict', [broken('login', 'login-taken', { login })])
}

/** @throws DomainError 'invalid' for a role that this kind of account does not have */
export function requireRole(owner: AccountOwner, role: string): void {
  const roles: readonly string[] = rolesOfPeople[accountTypeOf(owner)]
  if (!roles.includes(role)) throw new DomainError('invalid', [broken('role', 'one-of', { values: roles.join(', ') })])
}

/**
 * Ends a person's sessions, unfinished logins and links to a new password. The person's row must be locked.
 * @returns whether there were sessions
 */
export async function endAccess(transaction: Queryable, userId: string): Promise<boolean> {
  await endChallenges(transaction, userId)
  await deleteResets(transaction, userId)
  return (await endSessions(transaction, userId)) > 0
}

/**
 * Disables any user. This ends the user's sessions and links, and also the links that the user made for others.
 * @throws DomainError 'not-found' when nobody has the login
 */
export async function disableUser({ database, origin = operatorOrigin() }: ChangeDeps, login: string): Promise<void> {
  await database.transaction(async transaction => {
    const userId = await lockLogin(transaction, login)
    if (userId === null) throw new DomainError('not-found', `No user has the login ${login}`)
    const ended = await markDisabled(transaction, userId)
    await endAccess(transaction, userId)
    const change = { disabled: [false, true] } as const
    const fact = { action: 'user.disabled', object: user(userId), owner: ownerAccountOf(ended), change }
    await recordEntries(transaction, origin, [...(ended.isNew ? [fact] : []), ...withdrawals(ended.withdrawn)])
    await notify(transaction, 'access')
  })
}

/** Entries of the audit log for invitations that are withdrawn because their author lost access. */
export const withdrawals = (withdrawn: readonly Withdrawn[]): Fact[] =>
  withdrawn.map(({ invitationId, ...owner }) => ({
    action: 'invitation.withdrawn',
    object: { type: 'invitation', id: invitationId },
    owner: ownerAccountOf(owner),
  }))

/**
 * The error for a login that is taken. If a disabled user has the login, the error says so, because the operator can
 * free the login by erasing that user.
 */
async function loginTaken(database: Queryable, login: string): Promise<DomainError> {
  const isOfDisabled = await isLoginOfDisabled(database, login)
  return new DomainError('conflict', [broken('login', isOfDisabled ? 'login-of-disabled' : 'login-taken', { login })])
}

const credential = (id: string) => ({ type: 'credential', id })
const user = (id: string) => ({ type: 'user', id })

/** The owner of an object, in the form of the audit log's entries. */
export function ownerAccountOf(owner: Partial<PartnerOwner> | 'platform'): RecordedAccount {
  if (owner === 'platform') return { type: 'platform', id: null }
  if (owner.bankId) return { type: 'bank', id: owner.bankId }
  return owner.merchantId ? { type: 'merchant', id: owner.merchantId } : { type: 'platform', id: null }
}

/**
 * Finds the owner of credentials by the partner's code.
 * @throws DomainError 'not-found' when no partner has that code
 */
export async function ownerOf(database: Queryable, partner: PartnerReference): Promise<CredentialOwner> {
  const owner = await findOwner(database, partner)
  if (owner) return owner
  const [kind, code] = 'bank' in partner ? ['bank', partner.bank] : ['merchant', partner.merchant]
  throw new DomainError('not-found', `No ${kind} has the code ${code}`)
}

/**
 * Finds the partner whose code a request's query contains. @returns null when the query contains no code
 * @throws DomainError 'invalid' when the query contains two codes, 'not-found' when no partner has that code
 */
export async function namedPartner(
  database: Queryable,
  { bank, merchant }: { bank?: string; merchant?: string },
): Promise<CredentialOwner | null> {
  if (bank !== undefined && merchant !== undefined) throw new DomainError('invalid', [broken('bank', 'one-account')])
  if (bank !== undefined) return ownerOf(database, { bank })
  return merchant === undefined ? null : ownerOf(database, { merchant })
}
