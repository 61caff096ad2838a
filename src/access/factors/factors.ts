/** Operations on second factors (contract/people.md, "Second factors"). */

import { realMs } from '../../clock.ts'
import type { Database, Queryable } from '../../db/database.ts'
import { notify } from '../../db/notifications.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { recordEntries } from '../../outbox/audit-entry-writing.ts'
import type { Origin } from '../../outbox/origin.ts'
import { loadSealedKey, readSealedKey, resealKey } from '../../sealed-keys.ts'
import { createSealer, type Sealer } from '../../sealing.ts'
import { defaultMfa } from '../policy/policies.ts'
import type { Mfa } from '../policy/policy-store.ts'
import type { Proofs, Prover } from '../proofs.ts'
import { passwordMatches } from '../secrets.ts'
import { endSessions, noteFactor } from '../sessions/session-store.ts'
import type { WrongCodes } from '../throttle.ts'
import { findUser, lockUser, type User } from '../user-store.ts'
import * as store from './factor-store.ts'
import { hashRecoveryCode, makeRecoveryCodes } from './recovery-codes.ts'
import { makeTotpSecret, secretText, stepOf, totpUri } from './totp.ts'

export const factorMethods = ['totp', 'recovery-code'] as const
export type FactorMethod = (typeof factorMethods)[number]

const purpose = 'mfa'
const recoveryPurpose = 'recovery-codes'

/**
 * The keys of second factors: `sealer` encrypts the secrets of authenticator apps, `recoveryKey` hashes recovery
 * codes.
 */
export type FactorKeys = { sealer: Sealer; recoveryKey: Buffer }

export type FactorDeps = {
  database: Database
  factorKeys: FactorKeys
  wrongCodes: WrongCodes
  proofs: Proofs
  /** The rule for second factors of the platform's people until the platform sets a policy. */
  platformMfa: Mfa
  /** Queues a mail that tells the person about a change or use of the second factors, within the transaction. */
  notifyPerson(transaction: Queryable, userId: string, news: FactorNews): Promise<void>
  /** Counts a person's change of their own factors. @throws DomainError 'too-many' beyond the limit */
  countOwnChange(userId: string): Promise<void>
}

export type FactorNews = 'recovery-code-used' | 'factor-added' | 'factor-removed' | 'recovery-codes'

type OriginDeps = { origin: Origin }

const factorFact = (action: string, userId: string) => ({ action, object: { type: 'user', id: userId } })

export async function loadFactorKeys(database: Queryable, masterKeys: readonly Buffer[]): Promise<FactorKeys> {
  return {
    sealer: createSealer(masterKeys, purpose),
    recoveryKey: await loadSealedKey(database, masterKeys, recoveryPurpose),
  }
}

type RuleDeps = Pick<FactorDeps, 'platformMfa'>

/** The rule for second factors of this person's account. */
export const mfaRuleOf = ({ platformMfa }: RuleDeps, { account, mfa }: Pick<User, 'account' | 'mfa'>): Mfa =>
  mfa ?? defaultMfa(account.type === 'platform', platformMfa)

/** Whether a login of this person needs a second factor. */
export const asksFactor = (deps: RuleDeps, person: Pick<User, 'account' | 'hasFactor' | 'mfa'>): boolean =>
  person.hasFactor && mfaRuleOf(deps, person) !== 'off'

/** The kinds of second factors that a person has set up. */
export async function methodsOf(database: Queryable, userId: string): Promise<FactorMethod[]> {
  const { totp, recoveryCodes } = await readFactors(database, userId)
  if (totp === null) return []
  return recoveryCodes.left > 0 ? ['totp', 'recovery-code'] : ['totp']
}

export async function readFactors(
  database: Queryable,
  userId: string,
): Promise<{ totp: { confirmedAt: Date } | null; recoveryCodes: { left: number } }> {
  const found = await store.findTotp(database, userId)
  const left = await store.countRecoveryCodes(database, userId)
  return { totp: found?.confirmedAt ? { confirmedAt: found.confirmedAt } : null, recoveryCodes: { left } }
}

/**
 * Uses up a code of a person's second factor.
 *
 * @param transaction the transaction of the action that needs the code. If the transaction fails, the code stays valid
 * @returns false for a wrong or used code
 */
export async function takeCode(
  { factorKeys, notifyPerson, origin }: Pick<FactorDeps, 'factorKeys' | 'notifyPerson'> & OriginDeps,
  transaction: Queryable,
  { userId, method, code }: { userId: string; method: FactorMethod; code: string },
): Promise<boolean> {
  if (method === 'totp') return takeTotpCode(factorKeys, transaction, { userId, code, isConfirmed: true })
  const isTaken = await store.takeRecoveryCode(transaction, userId, hashRecoveryCode(factorKeys.recoveryKey, code))
  if (!isTaken) return false
  await notifyPerson(transaction, userId, 'recovery-code-used')
  await recordEntries(transaction, origin, [factorFact('mfa.recovery_used', userId)])
  return true
}

/**
 * Runs `attempt` as one transaction. If it returns null, the transaction is rolled back, so that the code and the challenge
 * stay valid.
 *
 * @param attempt checks the code of a factor; returns null when the code is refused
 */
export async function prove<Result>(
  database: Database,
  attempt: (transaction: Queryable) => Promise<Result | null>,
): Promise<Result | null> {
  try {
    return await database.transaction(async transaction => {
      const result = await attempt(transaction)
      if (result === null) throw new RefusedProof()
      return result
    })
  } catch (error) {
    if (error instanceof RefusedProof) return null
    throw error
  }
}

class RefusedProof extends Error {}

async function takeTotpCode(
  { sealer }: FactorKeys,
  transaction: Queryable,
  { userId, code, isConfirmed }: { userId: string; code: string; isConfirmed: boolean },
): Promise<boolean> {
  const factor = await store.findTotp(transaction, userId)
  if (!factor || (factor.confirmedAt !== null) !== isConfirmed) return false
  const { sealedSecret } = factor
  const step = stepOf(sealer.open(sealedSecret, Buffer.from(userId)), code, realMs())
  return step !== null && store.takeStep(transaction, userId, { sealedSecret, step, isConfirmed })
}

/**
 * @throws DomainError 'unauthenticated' when the person no longer exists; 'conflict' when the account's policy
 *   forbids second factors
 */
async function personWithFactors(deps: RuleDeps, database: Queryable, userId: string): Promise<User> {
  const person = await findUser(database, { userId })
  if (!person) throw new DomainError('unauthenticated', 'This account is not there any more')
  if (mfaRuleOf(deps, person) === 'off') throw new DomainError('conflict', 'Second factors are off for this account')
  return person
}

/**
 * Starts setting up an authenticator app. Logins need a code only after `confirmTotp` has accepted the first one.
 *
 * @returns the secret in base32, and the address for the QR code
 * @throws DomainError 'conflict' when an app is already set up, or the account's policy forbids second factors; 'unauthenticated' when
 *   the person was erased meanwhile
 */
export async function beginTotp(
  deps: FactorDeps,
  { userId, login }: { userId: string; login: string },
): Promise<{ secret: string; uri: string }> {
  const secret = makeTotpSecret()
  await deps.database.transaction(async transaction => {
    await lockUser(transaction, userId)
    await personWithFactors(deps, transaction, userId)
    const sealed = deps.factorKeys.sealer.seal(secret, Buffer.from(userId))
    if (!(await store.insertTotp(transaction, userId, sealed)))
      throw new DomainError('conflict', 'An authenticator app is set up already; remove it first')
  })
  return { secret: secretText(secret), uri: totpUri(secret, login) }
}

/** The person and session that act. */
export type Actor = Prover & { sessionId: string }

/**
 * Finishes setting up the authenticator app with its first code. The session then counts as proven with a second factor.
 *
 * @returns recovery codes, which are not shown again
 * @throws DomainError 'invalid' for a wrong code, 'too-many' after too many wrong codes, 'conflict' when no app waits
 *   for its first code, or the account's policy forbids second factors
 */
export async function confirmTotp(
  deps: FactorDeps & OriginDeps,
  actor: Actor,
  code: string,
): Promise<{ recoveryCodes: string[] }> {
  const { userId, sessionId } = actor
  const recoveryCodes = makeRecoveryCodes()
  const attempt = () =>
    deps.database.transaction(async transaction => {
      await lockUser(transaction, userId)
      await personWithFactors(deps, transaction, userId)
      const waiting = await store.findTotp(transaction, userId)
      if (!waiting || waiting.confirmedAt !== null)
        throw new DomainError('conflict', 'No authenticator app waits for its first code')
      if (!(await takeTotpCode(deps.factorKeys, transaction, { userId, code, isConfirmed: false }))) return false
      await store.setHasFactor(transaction, userId, true)
      await keepRecoveryCodes(deps, transaction, userId, recoveryCodes)
      await recordEntries(transaction, deps.origin, [factorFact('mfa.added', userId)])
      // Count only after the code was right. This may take a while, but only the person's own row is locked.
      await deps.countOwnChange(userId)
      await deps.notifyPerson(transaction, userId, 'factor-added')
      // The person's other sessions have proven only the password, which is no longer enough. End them before this
      // session's row is locked. A logout takes the lock of ended tokens first, and then the row of its session.
      // Another order here could deadlock.
      await endSessions(transaction, userId, { except: sessionId })
      await noteFactor(transaction, sessionId, true)
      await notify(transaction, 'access')
      return true
    })
  if (await deps.proofs.guard(actor, 'code', attempt)) return { recoveryCodes }
  throw new DomainError('invalid', [broken('code', 'present-code')])
}

/**
 * Removes the authenticator app and the recovery codes.
 * @throws DomainError 'too-many' after too many changes
 */
export async function removeTotp(
  deps: Pick<FactorDeps, 'database' | 'notifyPerson' | 'countOwnChange'> & OriginDeps,
  userId: string,
): Promise<void> {
  if ((await methodsOf(deps.database, userId)).length > 0) await deps.countOwnChange(userId)
  await deps.database.transaction(async transaction => {
    await lockUser(transaction, userId)
    if (await clearFactors(transaction, userId)) {
      await recordEntries(transaction, deps.origin, [factorFact('mfa.removed', userId)])
      await deps.notifyPerson(transaction, userId, 'factor-removed')
    }
    await notify(transaction, 'access')
  })
}

/** Removes all second factors of a person, whose row must be locked. @returns whether one was set up */
export async function clearFactors(transaction: Queryable, userId: string): Promise<boolean> {
  const methods = await methodsOf(transaction, userId)
  await store.setHasFactor(transaction, userId, false)
  await store.deleteTotp(transaction, userId)
  await store.replaceRecoveryCodes(transaction, userId, [])
  return methods.length > 0
}

/**
 * Creates new recovery codes; the old ones stop working.
 *
 * @throws DomainError 'conflict' when no authenticator app is set up, 'too-many' after too many changes
 */
export async function renewRecoveryCodes(
  deps: FactorDeps & OriginDeps,
  userId: string,
): Promise<{ recoveryCodes: string[] }> {
  await requireFactor(deps.database, userId)
  await deps.countOwnChange(userId)
  const recoveryCodes = makeRecoveryCodes()
  await deps.database.transaction(async transaction => {
    await lockUser(transaction, userId)
    await requireFactor(transaction, userId)
    await keepRecoveryCodes(deps, transaction, userId, recoveryCodes)
    await recordEntries(transaction, deps.origin, [factorFact('mfa.codes_renewed', userId)])
    await deps.notifyPerson(transaction, userId, 'recovery-codes')
  })
  return { recoveryCodes }
}

async function requireFactor(database: Queryable, userId: string): Promise<void> {
  if ((await methodsOf(database, userId)).length === 0)
    throw new DomainError('conflict', 'Recovery codes belong to an authenticator app; set one up first')
}

async function keepRecoveryCodes(
  { factorKeys }: Pick<FactorDeps, 'factorKeys'>,
  transaction: Queryable,
  userId: string,
  codes: string[],
): Promise<void> {
  const hashes = codes.map(code => hashRecoveryCode(factorKeys.recoveryKey, code))
  await store.replaceRecoveryCodes(transaction, userId, hashes)
}

/**
 * Proves a factor again within a session. People whose logins need no second factor use their password.
 *
 * @throws DomainError 'invalid' for the password of a person who needs a second factor, or a code of a person who needs none;
 *   'unauthenticated' for a wrong code or password, 'too-many' after too many wrong ones
 */
export async function refreshFactor(
  deps: FactorDeps & OriginDeps,
  actor: Actor,
  { method, code }: { method: FactorMethod | 'password'; code: string },
): Promise<void> {
  const { userId, sessionId } = actor
  const person = await findUser(deps.database, { userId })
  if (!person) throw new DomainError('unauthenticated', 'This account is not there any more')
  if (asksFactor(deps, person) === (method === 'password'))
    throw new DomainError('invalid', [
      broken('method', 'one-of', { values: asksFactor(deps, person) ? factorMethods.join(', ') : 'password' }),
    ])
  const attempt = async () => {
    // Check the password outside the transaction, so that no database connection is held while the password is hashed.
    if (method === 'password' && !(await passwordMatches(code, person.passwordHash))) return false
    return prove(deps.database, async transaction => {
      await lockUser(transaction, userId)
      const isProven = method === 'password' || (await takeCode(deps, transaction, { userId, method, code }))
      return isProven && (await noteFactor(transaction, sessionId, person.hasFactor)) ? true : null
    })
  }
  if (await deps.proofs.guard(actor, method === 'password' ? 'password' : 'code', attempt)) return
  throw new DomainError('unauthenticated', 'This is wrong, or was used before')
}

/**
 * Checks that the master keys can decrypt the key of recovery codes and the secret of every authenticator app. It
 * creates no key and no secret.
 *
 * @returns how many secrets there are
 * @throws SealingError when none of the master keys can decrypt one of them
 */
export async function openFactors(database: Queryable, masterKeys: readonly Buffer[]): Promise<number> {
  await readSealedKey(database, masterKeys, recoveryPurpose)
  const sealer = createSealer(masterKeys, purpose)
  let opened = 0
  for (let after: string | null = null; ; ) {
    const secrets: TotpSecrets = await store.listTotpSecrets(database, after, resealedAtOnce)
    for (const { userId, sealedSecret } of secrets) sealer.open(sealedSecret, Buffer.from(userId))
    opened += secrets.length
    after = secrets.at(-1)?.userId ?? null
    if (secrets.length < resealedAtOnce) return opened
  }
}

type TotpSecrets = Awaited<ReturnType<typeof store.listTotpSecrets>>

const resealedAtOnce = 500

/**
 * Encrypts the secrets and keys of second factors again with the first master key, so that the other keys can be
 * removed.
 */
export async function resealFactors(database: Database, masterKeys: readonly Buffer[]): Promise<void> {
  await resealKey(database, masterKeys, recoveryPurpose)
  const sealer = createSealer(masterKeys, purpose)
  for (let after: string | null = null; ; ) {
    const secrets: TotpSecrets = await store.listTotpSecrets(database, after, resealedAtOnce)
    for (const { userId, sealedSecret } of secrets) {
      if (sealer.isCurrent(sealedSecret)) continue
      const data = Buffer.from(userId)
      await store.replaceTotpSecret(database, userId, [
        sealedSecret,
        sealer.seal(sealer.open(sealedSecret, data), data),
      ])
    }
    after = secrets.at(-1)?.userId ?? null
    if (secrets.length < resealedAtOnce) return
  }
}
