/** Limits requests by account: all people and systems of an account count together. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addressUnit } from '../../text/addresses.ts'
import { apiOf } from '../errors.ts'
import { limitRequest, type RateLimiter } from './rate-limit.ts'

/** The key by which limits count an authenticated request: its account. Null for a request without a token. */
export function limitKeyOf({ caller, routeOptions }: FastifyRequest): string | null {
  switch (caller?.type) {
    case 'bank':
      return `bank:${caller.bankId}`
    case 'retailer':
      return `merchant:${caller.merchantId}`
    case 'platform':
      return 'platform'
    default:
      // Below /admin, a request without a token has used the operator's key.
      return apiOf(routeOptions.url ?? '') === 'operator' ? 'operator' : null
  }
}

/**
 * The routes whose requests are not counted here: the eSIM API, which has its own limit; health; the portal's files;
 * the documentation; and requests for tokens of systems. Of these token requests, only failed ones are counted
 * (`access/throttle.ts`), because a correct secret is always accepted.
 */
const uncounted = /^\/esim\/v1(\/|$)|^\/health\/|^\/app(\/|$)|\/swagger(\/|$)|^\/getToken\/auth$/

/**
 * Limits the requests of each account to each API, and of each address where no token is needed (contract/limits.md, "Requests").
 * It runs after authentication and permissions, and before the body is read.
 */
export function limitAccounts(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('preParsing', async (request, reply) => {
    const route = request.routeOptions.url ?? ''
    if (uncounted.test(route)) return
    const account = limitKeyOf(request)
    const holder = account === null ? 'address' : 'account'
    await limitRequest(reply, limiter, {
      key: `${apiOf(route)}:${account ?? `address:${addressUnit(request.ip)}`}`,
      holder,
    })
  })
}
