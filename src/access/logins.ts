/**
 * Handles every attempt to get a token, from all routes. It slows down an address with too many failures, reports each
 * outcome, and checks only a few passwords at once.
 */

import type { Caller } from '../caller.ts'
import { DomainError } from '../errors.ts'
import { addressPrefixes, addressUnit } from '../text/addresses.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../work/concurrency-limit.ts'
import { retryAfter } from '../work/counting.ts'
import { asksFactor, type FactorMethod } from './factors/factors.ts'
import {
  answerChallenge,
  type Challenge,
  type Client,
  callerOfPerson,
  type Found,
  findPerson,
  type Issued,
  type LogInDeps,
  letIn,
  letIntoPortal,
  type PasswordLogin,
} from './log-in.ts'
import { claimAttempt, findAttempts, noteFailure, noteSuccess } from './login-store.ts'
import { issueGatewayToken, type Source } from './operations.ts'
import type { LoginFailure } from './proofs.ts'
import type { Lacking } from './refusal-store.ts'
import type { AddressLimit, LinkConflicts, Throttle } from './throttle.ts'
import type { User } from './user-store.ts'

export type LoginDeps = LogInDeps & {
  /** Counts request bodies that are not a valid attempt to log in. */
  malformed: AddressLimit
  gatewayThrottle: Throttle
  loginThrottle: Throttle
  /** Called with the outcome of each attempt, for the metrics. */
  observeToken(outcome: 'issued' | 'refused' | 'throttled'): void
  /** Called with each failed attempt, for the log. It never gets the login, password or code that was sent. */
  observeFailure(failure: LoginFailure): void
  queues: LoginQueues
  hashingPlaces: ConcurrencyLimit
  linkConflicts: LinkConflicts
}

export type Logins = {
  /** Whether the platform's own people may log in and use their sessions at this port. */
  admitsStaff: boolean
  /**
   * Issues a token for a clientId and its secret. A right secret is accepted even from an address that has failed too
   * often, because nobody can guess a secret.
   *
   * @param from where the request comes from
   * @throws DomainError 'invalid' for a wrong clientId or secret; 'too-many' in place of 'invalid' when this address
   *   has failed too often
   */
  withSecret(from: Source, input: { clientId: string; secret: string }): Promise<{ token: string; caller: Caller }>
  /**
   * Issues a token for a person who calls the API.
   *
   * @param input.otp a code of the second factor
   * @param signal aborts when the caller stops waiting
   * @throws DomainError 'unauthenticated' when the login, the password or the code is wrong, or the person is not
   *   admitted; 'mfa-needed' when the code is missing, or a required factor is not set up; 'too-many' when too many
   *   attempts from this address or with this login have failed; 'unavailable' when too many people log in at the same
   *   time
   */
  withPassword(client: Client, input: PasswordLogin & { otp?: string }, signal: AbortSignal): Promise<Issued>
  /**
   * Issues a token for a person who logs in to the portal. The portal asks for a second factor in a second step.
   *
   * @throws as `withPassword`, but never 'mfa-needed'
   */
  intoPortal(client: Client, input: PasswordLogin, signal: AbortSignal): Promise<Issued | Challenge>
  /**
   * The second step of a login to the portal: the person sends a code of a second factor.
   * @throws DomainError 'unauthenticated' when anything is wrong, 'too-many' after too many wrong codes
   */
  withCode(client: Client, input: { challenge: string; method: FactorMethod; code: string }): Promise<Issued>
  /**
   * Counts a request body that is malformed.
   * @throws DomainError 'too-many' when this address has sent more than 50 such bodies within a minute
   */
  malformed: AddressLimit
  /** Limits how many passwords of other operations are hashed at once in this process (`hashing-places.ts`). */
  hashingPlaces: ConcurrencyLimit
  /** Limits how many taken logins somebody can find out with the links of invitations. */
  linkConflicts: LinkConflicts
}

/**
 * Limits of the queue of password checks. Hashing is slow on purpose. More than a few hashes at once would only slow
 * down everyone else.
 */
const queue = { atOnce: 2, perPartner: 2, waiting: 1_000, waitMs: 20_000 }
/**
 * A separate queue for people at an address where they have logged in before, so that they do not wait behind
 * strangers.
 */
const knownQueue = { atOnce: 1, perPartner: 1, waiting: 100, waitMs: 20_000 }
const busy = { code: 'unavailable', text: 'Too many logins at once; try again', retryAfterSeconds: 2 } as const

export type LoginQueues = { strangers: ConcurrencyLimit; known: ConcurrencyLimit }

/** Creates the queues of a process. If the process also serves ADMIN_PORT, both ports share the queues. */
export const createLoginQueues = (): LoginQueues => ({
  strangers: createConcurrencyLimit(queue, busy, 'logins'),
  known: createConcurrencyLimit(knownQueue, busy, 'logins'),
})

export function createLogins(deps: LoginDeps): Logins {
  const { database, gatewayThrottle } = deps
  const attempt = createAttempt(deps)

  return {
    admitsStaff: deps.admitsStaff,
    malformed: deps.malformed,
    hashingPlaces: deps.hashingPlaces,
    linkConflicts: deps.linkConflicts,

    async withSecret(from, input) {
      const { address } = from
      const issued = await observed(deps, { by: 'secret', address }, async () => {
        const issued = await issueGatewayToken(deps, from, input)
        if (issued === null) await gatewayThrottle.fail(address, input.clientId)
        return issued
      })
      if (issued === null) throw new DomainError('invalid', 'The clientId or the secret is wrong')
      return issued
    },

    withPassword: (client, input, signal) =>
      attempt(client, input, { signal, enter: person => letIn(deps, client, { person, otp: input.otp }) }),

    intoPortal: (client, input, signal) =>
      attempt(client, input, { signal, enter: person => letIntoPortal(deps, client, person) }),

    async withCode(client, input) {
      const { address } = client
      const answered = await observed(deps, { by: 'code', address }, () => answerChallenge(deps, client, input))
      const isNoted =
        answered !== null &&
        (await noteSuccess(database, {
          userId: answered.person.userId,
          login: answered.person.login,
          address: addressUnit(address),
        }))
      if (!isNoted) throw new DomainError('unauthenticated', 'The code or the challenge is wrong or over')
      return answered.issued
    },
  }
}

/** Runs an attempt and reports its outcome. A login that still waits for its second factor has no outcome yet. */
async function observed<Result extends object | string>(
  deps: LoginDeps,
  { by, address }: Pick<LoginFailure, 'by' | 'address'>,
  attempt: () => Promise<Result | null>,
): Promise<Result | null> {
  const failed = (outcome: 'refused' | 'throttled') => {
    deps.observeToken(outcome)
    deps.observeFailure({ by, outcome, address })
  }
  try {
    const result = await attempt()
    if (result === null) failed('refused')
    else if (!isChallenge(result)) deps.observeToken('issued')
    return result
  } catch (error) {
    if (error instanceof DomainError && error.code === 'too-many') failed('throttled')
    throw error
  }
}

/**
 * Checks the password of an attempt that has waited in the queue.
 * @param attempts.holder null for a login that nobody has. The attempt then takes the same steps and always fails
 */
async function tryPassword<Result extends Issued | Challenge>(
  deps: LoginDeps,
  client: Client,
  input: PasswordLogin,
  { holder, isKnownAddress, enter }: Attempt<Result>,
): Promise<Result | null> {
  const { database, loginThrottle } = deps
  const { address } = client
  // Check again, because more failures may have been counted while this attempt waited.
  await loginThrottle.check(address, input.login)
  if (!isKnownAddress) refuseFor(await claimAttempt(database, input.login))
  const found = await findPerson(deps, client, input)
  if (found.person) client.namePerson(callerOfPerson(found.person, client))
  const result = found.person && (await enter(found.person))
  if (result === null || holder === null) {
    const lacking = lackingOf(deps, found)
    deps.refusalSums.add({ action: 'login.refused', caller: holder, trace: client.trace, lacking })
    await noteFailure(database, input.login, holder !== null)
    await loginThrottle.fail(address, input.login)
    return null
  }
  if (isChallenge(result)) return result
  const isNoted = await noteSuccess(database, {
    userId: holder.subject,
    login: input.login,
    address: addressUnit(address),
  })
  return isNoted ? result : null
}

/**
 * Says why an attempt was refused, for the audit log. If the password was right, the reason is `code` when a second
 * factor was missing or wrong, and `access` when the person was disabled or changed during the attempt.
 */
function lackingOf(deps: LoginDeps, found: Found): Lacking {
  if (found.person === null) return found.lacking
  return asksFactor(deps, found.person) ? 'code' : 'access'
}

/** @returns a function that waits in one of the two queues and then makes the attempt */
function createAttempt(deps: LoginDeps) {
  const { database, loginThrottle, queues } = deps
  const { strangers, known } = queues

  /** @param enter called when the password was right. If it returns null, the attempt is refused, too */
  return async <Result extends Issued | Challenge>(
    client: Client,
    input: PasswordLogin,
    { signal, enter }: { signal: AbortSignal; enter: (person: User) => Promise<Result | null> },
  ): Promise<Result> => {
    const { address } = client
    const result = await observed(deps, { by: 'password', address }, async () => {
      await loginThrottle.check(address, input.login)
      const attempts = await findAttempts(database, input.login, addressUnit(address))
      if (!attempts.isKnownAddress) refuseFor(attempts.waitSeconds)
      const end = attempts.isKnownAddress
        ? await known.take(input.login, signal)
        : await strangers.take(addressPrefixes(address), signal)
      try {
        return await tryPassword(deps, client, input, { ...attempts, enter })
      } finally {
        end()
      }
    })
    if (result === null) throw new DomainError('unauthenticated', 'The login or the password is wrong')
    return result
  }
}

type Attempt<Result> = {
  holder: Caller | null
  isKnownAddress: boolean
  enter: (person: User) => Promise<Result | null>
}

export const isChallenge = (result: object | string): result is Challenge =>
  typeof result === 'object' && 'challenge' in result

/** Refuses an attempt that has to wait. @throws DomainError 'too-many' when `waitSeconds` is above 0 */
function refuseFor(waitSeconds: number): void {
  const text = 'Too many wrong passwords for this login; wait a moment'
  if (waitSeconds > 0) throw new DomainError('too-many', text, retryAfter(waitSeconds))
}
