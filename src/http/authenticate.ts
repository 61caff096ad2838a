/** Who is calling: the bearer token of a request becomes a Caller, before anything else of the request is read. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BankCaller, Caller, MerchantCaller, PlatformCaller } from '../access/caller.ts'
import type { Refusals } from '../access/refusals.ts'
import type { Tokens } from '../access/tokens.ts'
import { DomainError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
}

export type AuthenticateDeps = { tokens: Tokens; refusals: Refusals }

/**
 * Every route of this plugin needs a token of ours (behaviour.md, section 2).
 *
 * @throws DomainError 'unauthenticated'; 'unavailable' when revocations could not be read for 10 seconds
 */
export function authenticate(app: FastifyInstance, deps: AuthenticateDeps): void {
  app.addHook('onRequest', (request, _, done) => {
    const token = bearerToken(request)
    const caller = token === null ? null : deps.tokens.verify(token)
    if (!caller || deps.refusals.refused(caller))
      return done(new DomainError('unauthenticated', 'A valid bearer token is needed'))
    if (deps.refusals.stale())
      return done(
        new DomainError('unavailable', 'The database is away for a moment; try again', { retryAfterSeconds: 2 }),
      )
    request.caller = caller
    done()
  })
}

/** The scheme's name is read in any case (RFC 9110). */
export function bearerToken(request: FastifyRequest): string | null {
  const header = request.headers.authorization
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return null
  return header.slice(7).trimStart()
}

/** @throws DomainError 'forbidden' unless a bank calls */
export function bankOf(request: FastifyRequest): BankCaller {
  if (request.caller?.type === 'bank') return request.caller
  throw new DomainError('forbidden', 'This operation is for banks')
}

/** @throws DomainError 'forbidden' unless a merchant calls */
export function merchantOf(request: FastifyRequest): MerchantCaller {
  if (request.caller?.type === 'retailer') return request.caller
  throw new DomainError('forbidden', 'This operation is for merchants')
}

/** @throws DomainError 'forbidden' unless the platform's staff call */
export function platformOf(request: FastifyRequest): PlatformCaller {
  if (request.caller?.type === 'platform') return request.caller
  throw new DomainError('forbidden', 'This operation is for the platform’s operator')
}
