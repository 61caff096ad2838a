/**
 * Authenticates callers of the operator's interface: the holder of the operator's key, and the platform's own users
 * with a token, as bearer token or in the portal's cookie. Which of them may only read: `roles.ts`.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type AuthenticateDeps,
  admitToken,
  bearerToken,
  checkAccessAfterBody,
  isRead,
} from '../../access/request/authenticate.ts'
import { traceOf } from '../../access/request/trace.ts'
import type { AddressLimit } from '../../access/throttle.ts'
import { originOf } from '../../audit-log/request/origin.ts'
import { type Actor, actorOf, operatorActor } from '../../campaigns/lifecycle/actor.ts'
import { DomainError, InvalidTokenError } from '../../errors.ts'
import { hasRight, needsRole, rolesWith } from '../../roles.ts'

export type OperatorDeps = AuthenticateDeps & {
  /** The operator's keys. All of them are accepted, so that a key can be replaced without downtime. */
  operatorKeys: readonly string[]
  keyGuesses: AddressLimit
}

/**
 * Every route of this plugin is for the platform's operator. `request.caller` stays null when the operator's key is
 * used.
 *
 * @throws DomainError 'unauthenticated' without the operator's key or a valid token; 'forbidden' for a partner's token,
 *   for a role that does not allow the operation, and for a change by cookie that does not come from the platform's own
 *   pages; 'too-many' after too many wrong keys; 'unavailable' when revocations could not be read for 10 seconds;
 *   'address-not-allowed' and 'mfa-needed' when the policy of the platform's account forbids the request
 */
export function authenticateOperator(app: FastifyInstance, deps: OperatorDeps): void {
  const isKey = keyCheck(deps.operatorKeys)
  app.addHook('onRequest', async request => {
    if (isKey(bearerToken(request))) return request.keepConnection()
    const refusal = refusalOf(request, deps)
    if (!refusal) return
    await noteGuess(request, refusal, deps)
    throw refusal
  })
}

/**
 * Logs a wrong key with its sender's address, and counts it. The right key is always accepted, so nobody is locked out.
 *
 * @throws DomainError 'too-many' when the address has sent too many wrong keys
 */
export async function noteGuess(request: FastifyRequest, refusal: DomainError, deps: OperatorDeps): Promise<void> {
  if (refusal.code !== 'unauthenticated' || bearerToken(request) === null) return
  request.log.warn({ address: request.ip }, 'a wrong operator key was refused')
  await deps.keyGuesses(request.ip)
}

/** Returns a function that compares a key with each operator key in constant time, for any length of the key. */
export function keyCheck(operatorKeys: readonly string[]): (input: string | null) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = operatorKeys.map(digest)
  return input => input !== null && expected.filter(key => timingSafeEqual(digest(input), key)).length > 0
}

/**
 * Sets the caller of a request.
 * @returns why the request is refused
 */
function refusalOf(request: FastifyRequest, deps: OperatorDeps): DomainError | undefined {
  const read = admitToken(request, deps)
  if (read instanceof DomainError) return withOwnText(read)
  const { caller } = read
  if (caller.type !== 'platform') return new DomainError('forbidden', 'This operation is for the platform’s operator')
  const right = isForReaders(request) ? 'readPlatform' : 'changePlatform'
  if (!hasRight(caller, right)) return new DomainError('forbidden', needsRole(rolesWith('platform', right)))
  request.caller = { ...caller, trace: traceOf(request, caller) }
  checkAccessAfterBody(request, read, deps)
  return undefined
}

/** Changes the error's text, because this interface accepts the operator's key as well. */
function withOwnText(refusal: DomainError): DomainError {
  if (refusal instanceof InvalidTokenError)
    return new InvalidTokenError('This is not the operator’s key, and no valid token of a platform user')
  return refusal.code === 'unauthenticated'
    ? new DomainError('unauthenticated', 'The operator’s key is needed, or the token of a platform user')
    : refusal
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** This operation only reads. It has a body, because the searched values must not be in a URL. */
    isSearch?: boolean
    /** This operation only reads, but needs the right to make changes. */
    needsAdmin?: boolean
  }
}

/** Whether the right to read is enough for a request. */
function isForReaders(request: FastifyRequest): boolean {
  const { isSearch, needsAdmin } = request.routeOptions.config
  return (isRead(request) || isSearch === true) && needsAdmin !== true
}

/** Returns who makes a change, for the history: the platform's user, or for the operator's key only "the operator". */
export const operatorOf = (request: FastifyRequest): Actor =>
  request.caller ? actorOf(request.caller) : operatorActor(originOf(request))
