/** How an attempt to get a token is made, by whichever route: throttled, counted, and for passwords few at once. */

import { DomainError } from '../errors.ts'
import { addressPrefixes, addressUnit } from '../text/addresses.ts'
import { createConcurrencyLimit } from '../work/concurrency-limit.ts'
import type { Caller } from './caller.ts'
import type { FactorMethod } from './factors/factors.ts'
import {
  answerChallenge,
  type Challenge,
  type Client,
  findPerson,
  type Issued,
  type LogInDeps,
  letIn,
  letIntoPortal,
  type PasswordLogin,
} from './log-in.ts'
import { claimAttempt, findAttempts, noteFailure, noteSuccess } from './login-store.ts'
import { issueGatewayToken, type Source } from './operations.ts'
import type { User } from './store.ts'
import type { AddressLimit, Throttle } from './throttle.ts'

export type LoginDeps = LogInDeps & {
  /** Counts bodies that are no attempt at all. */
  malformed: AddressLimit
  gatewayThrottle: Throttle
  loginThrottle: Throttle
  /** Told of each attempt's outcome, for the metrics. */
  observeToken(outcome: 'issued' | 'refused' | 'throttled'): void
  /** Told of each failed attempt, for the log: never what was typed. */
  observeFailure(failure: LoginFailure): void
}

export type LoginFailure = { by: 'password' | 'secret' | 'code'; outcome: 'refused' | 'throttled'; address: string }

export type Logins = {
  /** Whether the platform's own people get in, and their tokens are sessions. */
  admitsStaff: boolean
  /**
   * A token for clientId and secret. There are too many secrets to guess one, so a right one is always taken.
   *
   * @param from where the caller is
   * @throws DomainError 'invalid' when they do not fit, 'too-many' when they do not and this address has failed too often
   */
  withSecret(from: Source, given: { clientId: string; secret: string }): Promise<string>
  /**
   * A token for a portal user.
   *
   * @param given.otp a code of the second factor
   * @param left aborts when the caller does not wait any more
   * @throws DomainError 'unauthenticated' when anything does not fit, 'mfa-needed' without a code where one is needed, 'too-many' when
   *   this address, or anybody with this login, has failed too often, 'unavailable' when too many others log in at this moment
   */
  withPassword(client: Client, given: PasswordLogin & { otp?: string }, left: AbortSignal): Promise<Issued>
  /**
   * The same for the portal, which asks for a second factor in a second step.
   *
   * @throws as `withPassword`, but never 'mfa-needed'
   */
  intoPortal(client: Client, given: PasswordLogin, left: AbortSignal): Promise<Issued | Challenge>
  /** The second step. @throws DomainError 'unauthenticated' when anything does not fit, 'too-many' after too many wrong codes */
  withCode(client: Client, given: { challenge: string; method: FactorMethod; code: string }): Promise<Issued>
  /** Counts a body that is no attempt at all. @throws DomainError 'too-many' */
  malformed: AddressLimit
}

/** Password hashing is slow on purpose; more than a few at once would only slow down everyone else. */
const queue = { atOnce: 2, perPartner: 2, waiting: 1_000, waitMs: 20_000 }
/** Of those who come from where they got in before: no stranger is before them. */
const knownQueue = { atOnce: 1, perPartner: 1, waiting: 100, waitMs: 20_000 }
const busy = { code: 'unavailable', text: 'Too many logins at once; try again', retryAfterSeconds: 2 } as const

export function createLogins(deps: LoginDeps): Logins {
  const { database, loginThrottle, gatewayThrottle } = deps
  const [strangers, known] = [
    createConcurrencyLimit(queue, busy, 'logins'),
    createConcurrencyLimit(knownQueue, busy, 'logins'),
  ]

  /** Runs an attempt and tells its outcome; a challenge is none yet. */
  const observed = async <Result extends object | string>(
    { by, address }: Pick<LoginFailure, 'by' | 'address'>,
    attempt: () => Promise<Result | null>,
  ): Promise<Result | null> => {
    const failed = (outcome: LoginFailure['outcome']) => {
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

  /** An attempt whose turn it is. @param attempts.holder null for a login that nobody has, which is treated as all others */
  const tryPassword = async <Result extends Issued | Challenge>(
    client: Client,
    given: PasswordLogin,
    { holder, isKnownAddress, enter }: Attempt<Result>,
  ): Promise<Result | null> => {
    const { address } = client
    // What others have tried meanwhile counts.
    await loginThrottle.check(address, given.login)
    if (!isKnownAddress) refuseFor(await claimAttempt(database, given.login))
    const person = await findPerson(deps, client, given)
    const result = person && (await enter(person))
    if (result === null || holder === null) {
      deps.refusalSums.add({ action: 'login.refused', caller: holder, trace: client.trace })
      await noteFailure(database, given.login, holder !== null)
      await loginThrottle.fail(address, given.login)
      return null
    }
    if (!isChallenge(result))
      await noteSuccess(database, { userId: holder.subject, login: given.login, address: addressUnit(address) })
    return result
  }

  /** An attempt from its beginning. @param enter what a right password leads to; null: it was refused all the same */
  const attempt = async <Result extends Issued | Challenge>(
    client: Client,
    given: PasswordLogin,
    { left, enter }: { left: AbortSignal; enter: (person: User) => Promise<Result | null> },
  ): Promise<Result> => {
    const { address } = client
    const result = await observed({ by: 'password', address }, async () => {
      await loginThrottle.check(address, given.login)
      const attempts = await findAttempts(database, given.login, addressUnit(address))
      if (!attempts.isKnownAddress) refuseFor(attempts.waitSeconds)
      const end = attempts.isKnownAddress
        ? await known.take(given.login, left)
        : await strangers.take(addressPrefixes(address), left)
      try {
        return await tryPassword(client, given, { ...attempts, enter })
      } finally {
        end()
      }
    })
    if (result === null) throw new DomainError('unauthenticated', 'The login or the password is wrong')
    return result
  }

  return {
    admitsStaff: deps.admitsStaff,
    malformed: deps.malformed,

    async withSecret(from, given) {
      const { address } = from
      const token = await observed({ by: 'secret', address }, async () => {
        const token = await issueGatewayToken(deps, from, given)
        if (token === null) await gatewayThrottle.fail(address, given.clientId)
        return token
      })
      if (token === null) throw new DomainError('invalid', 'The clientId or the secret is wrong')
      return token
    },

    withPassword: (client, given, left) =>
      attempt(client, given, { left, enter: person => letIn(deps, client, { person, otp: given.otp }) }),

    intoPortal: (client, given, left) =>
      attempt(client, given, { left, enter: person => letIntoPortal(deps, client, person) }),

    async withCode(client, given) {
      const { address } = client
      const answered = await observed({ by: 'code', address }, () => answerChallenge(deps, client, given))
      if (answered === null) throw new DomainError('unauthenticated', 'The code or the challenge is wrong or over')
      const { person, issued } = answered
      await noteSuccess(database, { userId: person.userId, login: person.login, address: addressUnit(address) })
      return issued
    },
  }
}

type Attempt<Result> = {
  holder: Caller | null
  isKnownAddress: boolean
  enter: (person: User) => Promise<Result | null>
}

export const isChallenge = (result: object | string): result is Challenge =>
  typeof result === 'object' && 'challenge' in result

/** @throws DomainError 'too-many' unless there is nothing to wait for */
function refuseFor(waitSeconds: number): void {
  if (waitSeconds > 0)
    throw new DomainError('too-many', 'Too many wrong passwords for this login; wait a moment', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
    })
}
