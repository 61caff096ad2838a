/** How an attempt to get a token is made, by whichever route: throttled, counted, and for passwords few at once. */
import { DomainError } from '../errors.ts'
import { type AccessDeps, issueGatewayToken, logIn } from './operations.ts'
import type { Throttle } from './throttle.ts'

export type LoginDeps = AccessDeps & {
  gatewayThrottle: Throttle
  loginThrottle: Throttle
  /** Whether the platform's own people get in; where not, they are refused as if their password were wrong. */
  admitsStaff: boolean
  /** Told of each attempt's outcome, for the metrics. */
  observeToken(outcome: 'issued' | 'refused' | 'throttled'): void
}

export type Logins = {
  /**
   * A token for clientId and secret.
   *
   * @param address where the caller is
   * @throws DomainError 'invalid' when they do not fit, 'too-many' when this address has failed too often
   */
  withSecret(address: string, given: { clientId: string; secret: string }): Promise<string>
  /**
   * A token for a portal user.
   *
   * @throws DomainError 'unauthenticated' when anything does not fit, 'too-many' when this address has failed too often,
   *   'unavailable' when too many others log in at this moment
   */
  withPassword(address: string, given: { typeAccount: string; login: string; password: string }): Promise<string>
}

export function createLogins(deps: LoginDeps): Logins {
  /** Runs an attempt under a throttle; null is a failure that counts. */
  const attempt = async (throttle: Throttle, address: string, name: string, run: () => Promise<string | null>) => {
    const throttled = (error: unknown): never => {
      deps.observeToken('throttled')
      throw error
    }
    await throttle.check(address, name).catch(throttled)
    const token = await run()
    if (token === null) await throttle.fail(address, name).catch(throttled)
    deps.observeToken(token === null ? 'refused' : 'issued')
    return token
  }
  // Password hashing is slow on purpose; more than a few at once would only slow down everyone else.
  const hashing = createGate(2, 100)

  // Found out like all others first: neither the answer nor its time shows whether the password was right.
  const admitted = async (given: Parameters<Logins['withPassword']>[1]): Promise<string | null> => {
    const token = await logIn(deps, given)
    return deps.admitsStaff || given.typeAccount !== 'platform' ? token : null
  }

  return {
    async withSecret(address, given) {
      const token = await attempt(deps.gatewayThrottle, address, given.clientId, () => issueGatewayToken(deps, given))
      if (token === null) throw new DomainError('invalid', 'The clientId or the secret is wrong')
      return token
    },

    async withPassword(address, given) {
      const token = await hashing(() => attempt(deps.loginThrottle, address, given.login, () => admitted(given)))
      if (token === null) throw new DomainError('unauthenticated', 'The login or the password is wrong')
      return token
    },
  }
}

/** Lets `places` run at once and `mostWaiting` wait. @throws DomainError 'unavailable' to those for whom there is no place */
function createGate(places: number, mostWaiting: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (running >= places) {
      if (waiting.length >= mostWaiting)
        throw new DomainError('unavailable', 'Too many logins at once; try again', { retryAfterSeconds: 2 })
      await new Promise<void>(resolve => waiting.push(resolve))
    } else running++
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
