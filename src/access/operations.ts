/** What is done with credentials and users: exchanging them for a token, and the operator's side of both. */

import { randomUUID } from 'node:crypto'
import { realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import type { BankRole } from './caller.ts'
import { bankRoles, merchantRoles, platformRoles } from './caller.ts'
import {
  hashPassword,
  hashSecret,
  makeClientId,
  makeSecret,
  passwordMatches,
  secretIdOf,
  secretMatches,
} from './secrets.ts'
import type { PartnerReference } from './store.ts'
import * as store from './store.ts'
import type { Tokens } from './tokens.ts'

export type AccessDeps = { database: Database; tokens: Tokens }

/**
 * Exchanges clientId and secret for a token (POST /getToken/auth).
 *
 * @returns null for an unknown clientId, a wrong secret, a revoked credential and a suspended partner alike, in the same time
 */
export async function issueGatewayToken(
  deps: AccessDeps,
  given: { clientId: string; secret: string },
): Promise<string | null> {
  const credential = await store.findCredential(deps.database, given.clientId)
  const current = secretMatches(given.secret, credential?.secretHash ?? null)
  const previous = secretMatches(given.secret, credential?.previousSecretHash ?? null)
  if (!credential || credential.revoked || credential.suspended) return null
  if (!current && !(previous && credential.hasOverlap)) return null
  const caller = { ...credential.account, userType: 'gateway_user', subject: credential.clientId } as const
  return deps.tokens.issue(caller, secretIdOf(hashSecret(given.secret)))
}

/**
 * Exchanges login and password for a token (POST /auth/login).
 *
 * @returns null when anything does not fit, without telling what
 */
export async function logIn(
  deps: AccessDeps,
  given: { typeAccount: string; login: string; password: string },
): Promise<string | null> {
  const user = await store.findUser(deps.database, given.login)
  const matches = await passwordMatches(given.password, user?.passwordHash ?? null)
  if (!user || !matches || user.disabled || user.suspended || user.account.type !== given.typeAccount) return null
  return deps.tokens.issue({ ...user.account, userType: 'portal_user', subject: user.userId })
}

/** Ends one token in all processes, as when its user logs out; other tokens of the same user live on. */
export async function endToken(deps: { database: Database }, token: { id: string; expiresAt: Date }): Promise<void> {
  await deps.database.transaction(async transaction => {
    await store.insertEndedToken(transaction, token)
    await notify(transaction, 'access')
  })
}

/**
 * Issues a credential for a bank (with a role) or a merchant.
 *
 * @returns the secret in plain, for this once
 * @throws DomainError 'not-found' when no partner has that code
 */
export async function issueCredential(
  deps: { database: Queryable },
  given: { partner: PartnerReference; role: BankRole | 'gateway'; label: string },
): Promise<{ clientId: string; secret: string }> {
  const owner = await ownerOf(deps.database, given.partner)
  const clientId = makeClientId()
  const secret = makeSecret()
  const { role, label } = given
  await store.insertCredential(deps.database, {
    clientId,
    owner,
    role,
    label,
    secretHash: hashSecret(secret),
  })
  return { clientId, secret }
}

/**
 * Gives a credential a new secret; the one before works until the overlap ends, so that the partner can change over without a gap.
 * Its tokens end with it. A secret that was still in an overlap of its own ends at once.
 *
 * @throws DomainError 'not-found' when there is no such live credential
 */
export async function rotateCredential(
  deps: { database: Database },
  given: { clientId: string; overlapMs: number },
): Promise<{ clientId: string; secret: string; previousValidUntil: Date }> {
  const { clientId } = given
  const secret = makeSecret()
  const now = realNow()
  const previousValidUntil = new Date(now.getTime() + given.overlapMs)
  await deps.database.transaction(async transaction => {
    const replaced = await store.replaceSecret(transaction, {
      clientId,
      secretHash: hashSecret(secret),
      previousValidUntil,
    })
    if (!replaced) throw new DomainError('not-found', `No live credential has the clientId ${clientId}`)
    const { secretHash, previousSecretHash } = replaced
    if (previousSecretHash)
      await store.endSecret(transaction, { clientId, secretId: secretIdOf(previousSecretHash), endsAt: now })
    await store.endSecret(transaction, { clientId, secretId: secretIdOf(secretHash), endsAt: previousValidUntil })
    await notify(transaction, 'access')
  })
  return { clientId, secret, previousValidUntil }
}

/** @throws DomainError 'not-found' when there is no such credential */
export async function revokeCredential(deps: { database: Database }, clientId: string): Promise<void> {
  await deps.database.transaction(async transaction => {
    if (!(await store.markRevoked(transaction, clientId)))
      throw new DomainError('not-found', `No credential has the clientId ${clientId}`)
    await notify(transaction, 'access')
  })
}

export type UserOwner = PartnerReference | 'platform'

/**
 * Adds a portal user.
 *
 * @throws DomainError 'invalid' for a role that this kind of account does not have, 'not-found' for an unknown partner,
 *   'conflict' when the login is taken
 */
export async function addUser(
  deps: { database: Queryable },
  given: { owner: UserOwner; login: string; role: string; password: string },
): Promise<{ userId: string }> {
  const roles: readonly string[] = rolesFor(given.owner)
  if (!roles.includes(given.role))
    throw new DomainError('invalid', [broken('role', 'one-of', { values: roles.join(', ') })])
  const owner = given.owner === 'platform' ? 'platform' : await ownerOf(deps.database, given.owner)
  const userId = randomUUID()
  const { login, role } = given
  const passwordHash = await hashPassword(given.password)
  if (!(await store.insertUser(deps.database, { userId, owner, login, role, passwordHash }))) {
    const holder = await store.findUser(deps.database, login)
    const rule = holder?.disabled ? 'login-of-disabled' : 'login-taken'
    throw new DomainError('conflict', [broken('login', rule, { login })])
  }
  return { userId }
}

/** @throws DomainError 'not-found' when there is no such login */
export async function disableUser(deps: { database: Database }, login: string): Promise<void> {
  await deps.database.transaction(async transaction => {
    if (!(await store.markDisabled(transaction, login)))
      throw new DomainError('not-found', `No user has the login ${login}`)
    await notify(transaction, 'access')
  })
}

function rolesFor(owner: UserOwner): readonly string[] {
  if (owner === 'platform') return platformRoles
  return 'bank' in owner ? bankRoles : merchantRoles
}

async function ownerOf(database: Queryable, partner: PartnerReference): Promise<store.CredentialOwner> {
  const owner = await store.findOwner(database, partner)
  if (owner) return owner
  const [kind, code] = 'bank' in partner ? ['bank', partner.bank] : ['merchant', partner.merchant]
  throw new DomainError('not-found', `No ${kind} has the code ${code}`)
}
