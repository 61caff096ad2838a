/** How an attempt to get a token is made, by whichever route: throttled, counted, and for passwords few at once. */

import { DomainError } from '../errors.ts'
import { addressPrefixes, addressUnit } from '../text/addresses.ts'
import { createTurns } from '../work/turns.ts'
import { claimAttempt, findAttempts, noteFailure, noteSuccess } from './login-store.ts'
import { type AccessDeps, issueGatewayToken, logIn } from './operations.ts'
import type { AddressLimit, Throttle } from './throttle.ts'

export type LoginDeps = AccessDeps & {
  /** Counts bodies that are no attempt at all. */
  malformed: AddressLimit
  gatewayThrottle: Throttle
  loginThrottle: Throttle
  /** Whether the platform's own people get in; where not, they are refused as if their password were wrong. */
  admitsStaff: boolean
  /** Told of each attempt's outcome, for the metrics. */
  observeToken(outcome: 'issued' | 'refused' | 'throttled'): void
  /** Told of each failed attempt, for the log: never what was typed. */
  observeFailure(failure: LoginFailure): void
}

export type LoginFailure = { by: 'password' | 'secret'; outcome: 'refused' | 'throttled'; address: string }

export type Logins = {
  /** Whether the platform's own people get in, and their tokens are sessions. */
  admitsStaff: boolean
  /**
   * A token for clientId and secret. There are too many secrets to guess one, so a right one is always taken.
   *
   * @param address where the caller is
   * @throws DomainError 'invalid' when they do not fit, 'too-many' when they do not and this address has failed too often
   */
  withSecret(address: string, given: { clientId: string; secret: string }): Promise<string>
  /**
   * A token for a portal user.
   *
   * @param left aborts when the caller does not wait any more
   * @throws DomainError 'unauthenticated' when anything does not fit, 'too-many' when this address, or anybody with this login, has
   *   failed too often, 'unavailable' when too many others log in at this moment
   */
  withPassword(address: string, given: PasswordLogin, left: AbortSignal): Promise<string>
  /** Counts a body that is no attempt at all. @throws DomainError 'too-many' */
  malformed: AddressLimit
}

export type PasswordLogin = { typeAccount: string; login: string; password: string }

/** Password hashing is slow on purpose; more than a few at once would only slow down everyone else. */
const queue = { atOnce: 2, perPartner: 2, waiting: 1_000, waitMs: 20_000 }
/** Of those who come from where they got in before: no stranger is before them. */
const knownQueue = { atOnce: 1, perPartner: 1, waiting: 100, waitMs: 20_000 }
const busy = { code: 'unavailable', text: 'Too many logins at once; try again', retryAfterSeconds: 2 } as const

export function createLogins(deps: LoginDeps): Logins {
  const { database, loginThrottle, gatewayThrottle } = deps
  const [strangers, known] = [createTurns(queue, busy, 'logins'), createTurns(knownQueue, busy, 'logins')]

  /** Runs an attempt and tells its outcome. */
  const observed = async (
    { by, address }: Pick<LoginFailure, 'by' | 'address'>,
    attempt: () => Promise<string | null>,
  ): Promise<string | null> => {
    const failed = (outcome: LoginFailure['outcome']) => {
      deps.observeToken(outcome)
      deps.observeFailure({ by, outcome, address })
    }
    try {
      const token = await attempt()
      if (token === null) failed('refused')
      else deps.observeToken('issued')
      return token
    } catch (error) {
      if (error instanceof DomainError && error.code === 'too-many') failed('throttled')
      throw error
    }
  }

  // Found out like all others first: neither the answer nor its time shows whether the password was right.
  const admitted = async (given: PasswordLogin): Promise<string | null> => {
    const token = await logIn(deps, given)
    return deps.admitsStaff || given.typeAccount !== 'platform' ? token : null
  }

  /** An attempt whose turn it is. @param userId null for a login that nobody has, which is treated as all others */
  const tryPassword = async (
    address: string,
    given: PasswordLogin,
    { userId, isKnownAddress }: { userId: string | null; isKnownAddress: boolean },
  ) => {
    // What others have tried meanwhile counts.
    await loginThrottle.check(address, given.login)
    if (!isKnownAddress) refuseFor(await claimAttempt(database, given.login))
    const token = await admitted(given)
    if (token === null || userId === null) {
      await noteFailure(database, given.login, userId !== null)
      await loginThrottle.fail(address, given.login)
      return null
    }
    await noteSuccess(database, { userId, login: given.login, address: addressUnit(address) })
    return token
  }

  return {
    admitsStaff: deps.admitsStaff,
    malformed: deps.malformed,

    async withSecret(address, given) {
      const token = await observed({ by: 'secret', address }, async () => {
        const token = await issueGatewayToken(deps, given)
        if (token === null) await gatewayThrottle.fail(address, given.clientId)
        return token
      })
      if (token === null) throw new DomainError('invalid', 'The clientId or the secret is wrong')
      return token
    },

    async withPassword(address, given, left) {
      const token = await observed({ by: 'password', address }, async () => {
        await loginThrottle.check(address, given.login)
        const attempts = await findAttempts(database, given.login, addressUnit(address))
        if (!attempts.isKnownAddress) refuseFor(attempts.waitSeconds)
        const end = attempts.isKnownAddress
          ? await known.take(given.login, left)
          : await strangers.take(addressPrefixes(address), left)
        try {
          return await tryPassword(address, given, attempts)
        } finally {
          end()
        }
      })
      if (token === null) throw new DomainError('unauthenticated', 'The login or the password is wrong')
      return token
    },
  }
}

/** @throws DomainError 'too-many' unless there is nothing to wait for */
function refuseFor(waitSeconds: number): void {
  if (waitSeconds > 0)
    throw new DomainError('too-many', 'Too many wrong passwords for this login; wait a moment', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
    })
}
