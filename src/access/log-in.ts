/**
 * Logs a person in: password, second factor, session (contract/access.md, "Tokens", and contract/people.md, "Second
 * factors").
 */
import { randomUUID } from 'node:crypto'
import type { Caller, Trace } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { originOfCaller } from '../outbox/origin.ts'
import * as factorStore from './factors/factor-store.ts'
import {
  asksFactor,
  type FactorDeps,
  type FactorMethod,
  methodsOf,
  mfaRuleOf,
  prove,
  takeCode,
} from './factors/factors.ts'
import { isTotpCode } from './factors/totp.ts'
import { ownerOfAccount } from './owners.ts'
import { readPolicy } from './policy/policies.ts'
import { holdPolicies } from './policy/policy-store.ts'
import { noteRefused } from './proofs.ts'
import type { Lacking } from './refusal-store.ts'
import type { RefusalSums } from './refusal-sums.ts'
import type { Refusals } from './refusals.ts'
import { hashSecret, makeSecret, passwordMatches } from './secrets.ts'
import { insertSession, type SessionMethod } from './sessions/session-store.ts'
import type { LoginLimit } from './throttle.ts'
import { defaultSessionMinutes } from './token-keys.ts'
import type { Tokens } from './tokens.ts'
import { findUser, lockUser, type User } from './user-store.ts'

export type LogInDeps = FactorDeps & {
  database: Database
  tokens: Tokens
  refusals: Pick<Refusals, 'admitsAddress' | 'refresh'>
  refusalSums: Pick<RefusalSums, 'add'>
  loginLimit: LoginLimit
  /** Whether the platform's own people may log in at this port. If not, they get the same error as for a wrong password. */
  admitsStaff: boolean
}

/** Where a person logs in from: the network address, the program, and the interface. */
export type Client = {
  address: string
  userAgent: string
  trace: Trace
  /** Called with the person once the password was right, for the log line of the request. */
  namePerson(person: Caller): void
}
export type PasswordLogin = { typeAccount: string; login: string; password: string }
export type Issued = { token: string; expireSeconds: number; caller: Caller }
export type Challenge = { challenge: string; methods: FactorMethod[]; expiresAt: Date }

const challengeMinutes = 5
const challengeTries = 5
const maxUserAgentLength = 300

export type Found = { person: User } | { person: null; lacking: Lacking }

/**
 * Finds the person with this login and password.
 *
 * @returns the person, or null with the reason in `lacking`, which is only for the audit log. Both results take the
 *   same time. Otherwise callers could find out which logins exist
 */
export async function findPerson(deps: LogInDeps, client: Client, input: PasswordLogin): Promise<Found> {
  const user = await findUser(deps.database, { login: input.login })
  const matches = await passwordMatches(input.password, user?.passwordHash ?? null)
  if (!user || !matches) return { person: null, lacking: 'password' }
  const hasAccess = !user.disabled && !user.suspended && user.account.type === input.typeAccount
  return hasAccess && isAdmitted(deps, client, user) ? { person: user } : { person: null, lacking: 'access' }
}

/** Whether the person may log in at this port (`admitsStaff`) and, by the account's policy, from this address. */
function isAdmitted(deps: LogInDeps, client: Client, person: User): boolean {
  if (person.account.type === 'platform' && !deps.admitsStaff) return false
  const caller = callerOfPerson(person, client)
  const isAdmitted = deps.refusals.admitsAddress(caller, client.address)
  if (!isAdmitted) deps.refusalSums.add({ action: 'address.refused', caller, trace: client.trace })
  return isAdmitted
}

/** The caller that a person is, for records about the person's login. */
export const callerOfPerson = (
  { account, userId }: Pick<User, 'account' | 'userId'>,
  { trace }: Pick<Client, 'trace'>,
): Caller => ({
  ...account,
  userType: 'portal_user',
  subject: userId,
  trace,
})

/** Whether the account requires a second factor and the person has none. */
const lacksFactor = (deps: LogInDeps, person: User): boolean =>
  !person.hasFactor && mfaRuleOf(deps, person) === 'required'

/**
 * Logs in a person whose password was right, with the code of a second factor if one is set up.
 *
 * @returns null for a wrong code, or when the person was changed meanwhile
 * @throws DomainError 'mfa-needed' when the code is missing, or the account requires a factor and none is set up;
 *   'too-many' after too many wrong codes
 */
export async function letIn(
  deps: LogInDeps,
  client: Client,
  { person, otp }: { person: User; otp: string | undefined },
): Promise<Issued | null> {
  const isWithout = lacksFactor(deps, person)
  if (!isWithout && !asksFactor(deps, person)) return openByPassword(deps, client, person)
  if (isWithout || otp === undefined) {
    // The client never gets this challenge. If nobody uses it up, the audit log records a login without a code.
    if (!(await makeChallenge(deps, client, person))) return null
    const text = isWithout
      ? 'Set up a second factor in the portal first'
      : 'A code of the second factor is needed (otp)'
    throw new DomainError('mfa-needed', text)
  }
  const method = isTotpCode(otp) ? 'totp' : 'recovery-code'
  return withCode(deps, client, { person, method, code: otp })
}

/**
 * Opens a session in the portal, or returns a challenge when a code of the second factor is needed first. If a required
 * factor is missing, the person can only set up a factor in this session.
 */
export async function letIntoPortal(deps: LogInDeps, client: Client, person: User): Promise<Issued | Challenge | null> {
  if (asksFactor(deps, person)) return challengeOf(deps, client, person)
  const issued = await openByPassword(deps, client, person)
  // Refresh this process's list of people who must set up a factor, so that it applies from the session's first request
  // on. Other processes were notified when the person or the policy changed.
  if (lacksFactor(deps, person)) await deps.refusals.refresh()
  return issued
}

const openByPassword = (deps: LogInDeps, client: Client, person: User): Promise<Issued | null> =>
  deps.loginLimit.guard(person.userId, () =>
    deps.database.transaction(transaction => openSession(deps, transaction, { client, person, method: 'password' })),
  )

/** @returns null when the person was changed while the password was checked */
async function challengeOf(deps: LogInDeps, client: Client, person: User): Promise<Challenge | null> {
  const methods = await methodsOf(deps.database, person.userId)
  const made = await makeChallenge(deps, client, person)
  return made && { ...made, methods }
}

/**
 * Stores a challenge: this login waits for a code. If nobody sends the code in time, `unfinished-logins.ts` records
 * that.
 */
async function makeChallenge(
  { database }: LogInDeps,
  { trace }: Client,
  { userId, passwordHash, account }: User,
): Promise<Pick<Challenge, 'challenge' | 'expiresAt'> | null> {
  const challenge = makeSecret()
  const made = { hash: hashSecret(challenge), minutes: challengeMinutes, from: trace }
  const expiresAt = await factorStore.insertChallenge(database, made, { userId, passwordHash, role: account.role })
  return expiresAt && { challenge, expiresAt }
}

/**
 * Completes a login with the code of a second factor.
 *
 * @returns the person with the new token; null for a wrong code, for a challenge that is unknown, expired, used or tried
 *   too often, and when the person may not log in now
 * @throws DomainError 'too-many' after too many wrong codes
 */
export async function answerChallenge(
  deps: LogInDeps,
  client: Client,
  input: { challenge: string; method: FactorMethod; code: string },
): Promise<{ person: User; issued: Issued } | null> {
  const hash = hashSecret(input.challenge)
  const userId = await factorStore.tryChallenge(deps.database, hash, challengeTries)
  const person = userId === null ? null : await findUser(deps.database, { userId })
  const mayEnter = person && !person.disabled && !person.suspended && isAdmitted(deps, client, person)
  const issued = mayEnter ? await withCode(deps, client, { person, ...input, challengeHash: hash }) : null
  if (person && issued) return { person, issued }
  const caller = person && callerOfPerson(person, client)
  const lacking = person && !mayEnter ? 'access' : 'code'
  await noteRefused(deps, { caller, login: person?.login ?? null, trace: client.trace, lacking })
  return null
}

/** Uses the code and opens the session, or does neither. */
async function withCode(
  deps: LogInDeps,
  client: Client,
  input: { person: User; method: FactorMethod; code: string; challengeHash?: Buffer },
): Promise<Issued | null> {
  const { person, method, code, challengeHash } = input
  const { userId } = person
  const origin = originOfCaller(callerOfPerson(person, client))
  const attempt = () =>
    prove(deps.database, async transaction => {
      await lockUser(transaction, userId)
      if (challengeHash && !(await factorStore.takeChallenge(transaction, challengeHash))) return null
      if (!(await takeCode({ ...deps, origin }, transaction, { userId, method, code }))) return null
      await factorStore.takeEarlierTry(transaction, userId, client.trace)
      return openSession(deps, transaction, { client, person, method })
    })
  return deps.loginLimit.guard(userId, () => deps.wrongCodes.guard(client.address, userId, attempt))
}

/**
 * Opens a session for a person.
 *
 * @param transaction the transaction that stores both the session and its audit entry, or neither
 * @returns null when the person was disabled, or got another role, password or second factor meanwhile
 */
async function openSession(
  deps: LogInDeps,
  transaction: Queryable,
  { client, person, method }: { client: Client; person: User; method: SessionMethod },
): Promise<Issued | null> {
  if (method === 'password' && person.hasFactor && !(await areFactorsOff(deps, transaction, person))) return null
  const { tokens } = deps
  const sessionId = randomUUID()
  const minutes = person.sessionMinutes ?? defaultSessionMinutes
  const caller = callerOfPerson(person, client)
  const { token, expiresAt } = tokens.issue(caller, { sessionId, minutes })
  const { address } = client
  const userAgent = client.userAgent.slice(0, maxUserAgentLength)
  const isOpen = await insertSession(
    transaction,
    { sessionId, userId: person.userId, expiresAt, address, userAgent, method },
    { role: person.account.role, passwordHash: person.passwordHash, hasFactor: person.hasFactor },
  )
  if (!isOpen) return null
  const object = { type: 'session', id: sessionId }
  await recordEntries(transaction, originOfCaller(caller), [
    { action: 'login.done', object, change: { method: [null, method] } },
  ])
  return { token, expireSeconds: minutes * 60, caller }
}

/**
 * Whether the policy of the person's account still switches second factors off, so that the password alone is enough.
 * The policies are locked until this transaction ends. So a simultaneous change of a policy waits for this transaction,
 * and then ends the session that this transaction has opened.
 */
async function areFactorsOff(deps: LogInDeps, transaction: Queryable, person: User): Promise<boolean> {
  await holdPolicies(transaction)
  return (await readPolicy(transaction, ownerOfAccount(person.account), deps.platformMfa)).mfa === 'off'
}
