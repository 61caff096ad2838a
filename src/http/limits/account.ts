/** Whose requests count together: the account of the token, whichever of its people or systems calls. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addressUnit } from '../../text/addresses.ts'
import { apiOf } from '../errors.ts'
import { limitRequest, type RateLimiter } from './rate-limit.ts'

/** The account that a request acts for, once it is known who calls; null for a request without a token. */
export function accountOf({ caller, routeOptions }: FastifyRequest): string | null {
  switch (caller?.type) {
    case 'bank':
      return `bank:${caller.bankId}`
    case 'retailer':
      return `merchant:${caller.merchantId}`
    case 'platform':
      return 'platform'
    default:
      // Below /admin a caller without a token has shown the operator's key.
      return apiOf(routeOptions.url ?? '') === 'operator' ? 'operator' : null
  }
}

/**
 * Not counted: the eSIM API, which has a limit of its own; health, the portal's files and the documentation; tokens of systems, of
 * which wrong secrets are counted instead, so that nobody locks the rightful client out.
 */
const uncounted = /^\/esim\/v1(\/|$)|^\/health\/|^\/app(\/|$)|\/swagger(\/|$)|^\/getToken\/auth$/

/**
 * Limits the requests of each account to each API, and of each address where no token is needed (contract/limits.md, "Requests"). Who calls and
 * whether it may is known by then; nothing of the body is read.
 */
export function limitAccounts(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('preParsing', async (request, reply) => {
    const route = request.routeOptions.url ?? ''
    if (uncounted.test(route)) return
    const account = accountOf(request)
    const holder = account === null ? 'address' : 'account'
    await limitRequest(reply, limiter, {
      key: `${apiOf(route)}:${account ?? `address:${addressUnit(request.ip)}`}`,
      holder,
    })
  })
}
