/** Authentication: the token of a request becomes a Caller before anything else of the request is read. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BankCaller, Caller, MerchantCaller } from '../../caller.ts'
import { databaseAway } from '../../db/errors.ts'
import { DomainError, InvalidTokenError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import type { RefusalSums } from '../refusal-sums.ts'
import type { Refusals } from '../refusals.ts'
import type { Activity } from '../sessions/activity.ts'
import type { ReadToken, Tokens } from '../tokens.ts'
import { originOf } from './same-origin.ts'
import { cookieToken } from './session-cookie.ts'
import { traceOf } from './trace.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    /**
     * The person or system that got a token by this request or proved a factor again. Only the log uses it; it gives
     * no rights.
     */
    shownAs: Caller | null
  }
}

export type AuthenticateDeps = {
  tokens: Tokens
  refusals: Refusals
  refusalSums: Pick<RefusalSums, 'add'>
  activity: Activity
  publicUrl: string
}

/**
 * Makes the routes of this plugin require a token (contract/access.md, "Tokens"), as bearer token or in the portal's session cookie.
 *
 * @throws DomainError 'unauthenticated' without a valid token; 'unavailable' when revocations could not be read for 10 seconds;
 *   'forbidden' for a change by cookie that does not come from the platform's own pages; 'address-not-allowed' and 'mfa-needed' when
 *   the policy of the caller's account forbids the request
 */
export function authenticate(app: FastifyInstance, deps: AuthenticateDeps): void {
  app.addHook('onRequest', (request, _, done) => {
    const read = admitToken(request, deps)
    if (read instanceof DomainError) return done(read)
    request.caller = { ...read.caller, trace: traceOf(request, read.caller) }
    checkAccessAfterBody(request, read, deps)
    done()
  })
}

/**
 * Lets the code that reads a body check access again at the end of the body. A long body may take minutes, and the
 * caller may lose access meanwhile.
 */
export function checkAccessAfterBody(request: FastifyRequest, read: ReadToken, deps: AuthenticateDeps): void {
  request.requireAccess = () => {
    if (deps.refusals.refused(read)) throw new InvalidTokenError()
    const refusal = policyRefusal(request, read.caller, deps)
    if (refusal) throw refusal
  }
}

const sessions = new WeakMap<FastifyRequest, string>()

/** The person who calls and the session of the token. @throws DomainError 'forbidden' for a system */
export function personOf(request: FastifyRequest): { caller: Caller; userId: string; sessionId: string } {
  const { caller } = request
  const sessionId = sessions.get(request)
  if (caller?.userType !== 'portal_user' || sessionId === undefined)
    throw new DomainError('forbidden', 'This operation is for people, not for systems')
  // Tokens that an earlier version of the program issued have no session. They stay valid for two hours after an upgrade, but
  // routes that need the session refuse them.
  if (!isUuid(sessionId) || !isUuid(caller.subject)) throw new InvalidTokenError()
  return { caller, userId: caller.subject, sessionId }
}

/** The caller of a request, by `admitToken` with all its effects; or the error. */
export function callerOf(request: FastifyRequest, deps: AuthenticateDeps): Caller | DomainError {
  const read = admitToken(request, deps)
  return read instanceof DomainError ? read : read.caller
}

/**
 * Reads and checks the token of a request. An admitted token counts as used now (`activity`), keeps the connection open
 * longer, and for a person its session is what `personOf` returns. A refusal by the account's address list is counted
 * for the audit log.
 *
 * @returns the content of the token, or the error when the token is not accepted
 */
export function admitToken(request: FastifyRequest, deps: AuthenticateDeps): ReadToken | DomainError {
  const token = tokenOf(request, deps.publicUrl)
  const read = token === null ? null : deps.tokens.read(token)
  if (token === null) return new DomainError('unauthenticated', 'A bearer token is needed')
  if (!read || deps.refusals.refused(read)) return new InvalidTokenError()
  if (deps.refusals.stale()) return databaseAway()
  const byCookie = request.headers.authorization === undefined
  // The cookie is for people; a system's token in it is not accepted.
  if (byCookie && read.caller.userType !== 'portal_user') return new InvalidTokenError()
  if (byCookie && !isRead(request) && originOf(request, deps.publicUrl) !== 'same')
    return new DomainError('forbidden', 'With the session cookie, changes are taken from the platform’s own pages only')
  const refusal = policyRefusal(request, read.caller, deps)
  if (refusal) return refusal
  deps.activity.seen(read)
  request.keepConnection()
  if (read.caller.userType === 'portal_user') sessions.set(request, read.id)
  return read
}

/** The error if the policy of the caller's account forbids the request; otherwise null. */
function policyRefusal(
  request: FastifyRequest,
  caller: Caller,
  { refusals, refusalSums }: AuthenticateDeps,
): DomainError | null {
  if (!refusals.admitsAddress(caller, request.ip)) {
    refusalSums.add({ action: 'address.refused', caller, trace: traceOf(request, caller) })
    return new DomainError('address-not-allowed', 'Your account lets nobody in from this address')
  }
  const { url = '' } = request.routeOptions
  if (refusals.lacksFactor(caller) && !/^\/portal\/(?:mfa|session)/.test(url))
    return new DomainError('mfa-needed', 'Set up a second factor first: your account asks for one')
  return null
}

/** The bearer token of a request, or the token in its cookie when there is no header `Authorization`. */
export function tokenOf(request: FastifyRequest, publicUrl: string): string | null {
  return request.headers.authorization === undefined ? cookieToken(request, publicUrl) : bearerToken(request)
}

export const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

/** Returns the token of the header `Authorization`. The word `Bearer` may have any case (RFC 9110). */
export function bearerToken(request: FastifyRequest): string | null {
  const header = request.headers.authorization
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return null
  return header.slice(7).trimStart()
}

/** Returns the calling bank. @throws DomainError 'forbidden' when the caller is not a bank */
export function bankOf(request: FastifyRequest): BankCaller {
  if (request.caller?.type === 'bank') return request.caller
  throw new DomainError('forbidden', 'This operation is for banks')
}

/** Returns the calling merchant. @throws DomainError 'forbidden' when the caller is not a merchant */
export function merchantOf(request: FastifyRequest): MerchantCaller {
  if (request.caller?.type === 'retailer') return request.caller
  throw new DomainError('forbidden', 'This operation is for merchants')
}
