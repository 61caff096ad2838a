/**
 * Routes with which a person logs in to the portal and logs out. The session has the same kind of token as `POST /auth/login`
 * returns, but the browser keeps it in a cookie that scripts cannot read.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { broken } from '../error-rules.ts'
import { DomainError, InvalidTokenError } from '../errors.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import type { App } from '../http/app.ts'
import { ref, setCookieHeader } from '../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../http/schemas.ts'
import { originOfCaller } from '../outbox/origin.ts'
import { type FactorDeps, type FactorMethod, factorMethods, refreshFactor } from './factors/factors.ts'
import type { Issued } from './log-in.ts'
import { isChallenge, type Logins } from './logins.ts'
import { endToken } from './operations.ts'
import { type AuthenticateDeps, admitToken, callerOf, tokenOf } from './request/authenticate.ts'
import { clientOf } from './request/client.ts'
import { countMalformed } from './request/malformed.ts'
import { originOf } from './request/same-origin.ts'
import { endedSessionCookie, sessionCookie } from './request/session-cookie.ts'
import { traceOf } from './request/trace.ts'
import { LoginBody, tooManyLogins } from './routes.ts'
import { Challenge, Session, VerifyBody } from './session-schemas.ts'
import { sessionView, type ViewDeps } from './session-views.ts'

export type SessionDeps = AuthenticateDeps & ViewDeps & { logins: Logins; factors: FactorDeps }

const tags = ['Portal']
const loggedIn = {
  ...ref(Session),
  description: 'Who is logged in; a login sets the cookie',
  headers: setCookieHeader('The session', 'perkline_session=<token>; Path=/; Max-Age=7200; HttpOnly; SameSite=Strict'),
}
const foreign = 'The request comes from a page of another site'

export const sessionRoutes: FastifyPluginAsyncTypebox<SessionDeps> = async (app, deps) => {
  openSessionRoute(app, deps)
  verifyFactorRoute(app, deps)
  readSessionRoute(app, deps)
  endSessionRoute(app, deps)
}

function openSessionRoute(app: App, deps: SessionDeps): void {
  const { publicUrl } = deps
  app.post(
    '/session',
    {
      ...countMalformed(deps.logins.malformed),
      schema: {
        operationId: 'openSession',
        tags,
        summary: 'Log in to the portal',
        description:
          'As `POST /auth/login`, but the token is set as the cookie `perkline_session`, which scripts cannot read. ' +
          'Requests without an `Authorization` header use the cookie; changes by cookie are accepted from the platform’s ' +
          'own pages only.',
        security: [],
        body: LoginBody,
        response: {
          200: loggedIn,
          202: {
            ...ref(Challenge),
            description:
              'The password is right, and a second factor is needed: answer with `POST /portal/session/verify`. No cookie is set',
          },
          ...cashbackErrors({
            400: 'The body is invalid',
            401: 'The login or the password is wrong, or the user is disabled',
            403: foreign,
            429: tooManyLogins,
          }),
        },
      },
    },
    async (request, reply) => {
      if (originOf(request, publicUrl) === 'other') throw new DomainError('forbidden', foreign)
      const result = await deps.logins.intoPortal(clientOf(request), request.body, disconnectSignal(reply))
      if (isChallenge(result)) return reply.code(202).send({ ...result, expiresAt: result.expiresAt.toISOString() })
      return sendSession(reply, deps, result)
    },
  )
}

function verifyFactorRoute(app: App, deps: SessionDeps): void {
  const { publicUrl } = deps
  app.post(
    '/session/verify',
    {
      ...countMalformed(deps.logins.malformed),
      schema: {
        operationId: 'verifyFactor',
        tags,
        summary: 'Show a second factor',
        description:
          'With `challenge`: the second step of a login. It sets the cookie. Without: proves a factor again in a session, which some ' +
          'operations need (401 `mfa-needed`). People without a second factor send their password.',
        security: [{}, ...secured],
        body: VerifyBody,
        response: {
          200: loggedIn,
          ...cashbackErrors({
            400: 'The body is invalid, or this method does not count for the person',
            401: 'The code or the challenge is wrong, was used, or is over; or nobody is logged in',
            403: foreign,
            429: 'Too many wrong codes, or logins of the person: wait for `Retry-After` seconds',
          }),
        },
      },
    },
    async (request, reply) => {
      if (originOf(request, publicUrl) === 'other') throw new DomainError('forbidden', foreign)
      const { challenge, method, code } = request.body
      if (challenge === undefined)
        return reply.send(await refreshed(deps, request, { method, code, signal: disconnectSignal(reply) }))
      if (method === 'password')
        throw new DomainError('invalid', [broken('method', 'one-of', { values: factorMethods.join(', ') })])
      const issued = await deps.logins.withCode(clientOf(request), { challenge, method, code })
      return sendSession(reply, deps, issued)
    },
  )
}

/** Proves a factor within the session of a request. @returns the session */
async function refreshed(
  deps: SessionDeps,
  request: FastifyRequest,
  { signal, ...input }: { method: 'password' | FactorMethod; code: string; signal: AbortSignal },
) {
  const read = admitToken(request, deps)
  if (read instanceof DomainError) throw read
  const { caller, id: sessionId } = read
  if (caller.userType !== 'portal_user') throw new DomainError('forbidden', 'This operation is for people')
  if (caller.type === 'platform' && !deps.logins.admitsStaff) throw new InvalidTokenError()
  request.shownAs = caller
  const trace = traceOf(request, caller)
  const actor = { caller, trace, userId: caller.subject, sessionId, address: clientOf(request).address }
  const origin = originOfCaller({ ...caller, trace })
  const end = input.method === 'password' ? await deps.logins.hashingPlaces.take(caller.subject, signal) : null
  try {
    await refreshFactor({ ...deps.factors, origin }, actor, input)
  } finally {
    end?.()
  }
  return sessionView(deps, read)
}

function readSessionRoute(app: App, deps: SessionDeps): void {
  const { tokens, publicUrl } = deps
  app.get(
    '/session',
    {
      // Sets the caller, so that the rate limit counts this request for the account.
      onRequest: (request, _reply, done) => {
        const caller = callerOf(request, deps)
        if (caller instanceof DomainError) return done(caller)
        request.caller = caller
        done()
      },
      schema: {
        operationId: 'readSession',
        tags,
        summary: 'Who is logged in',
        description: 'Reads the session of the cookie, or of the bearer token.',
        security: secured,
        response: {
          200: { ...ref(Session), description: 'Who is logged in' },
          ...cashbackErrors({ 400: 'A query was given', 401: 'Nobody is logged in, or the session is over' }),
        },
      },
    },
    async request => {
      const read = tokens.read(tokenOf(request, publicUrl) ?? '')
      if (!read) throw new DomainError('unauthenticated', 'The session is over')
      return sessionView(deps, read)
    },
  )
}

function endSessionRoute(app: App, deps: SessionDeps): void {
  const { tokens, refusals, publicUrl } = deps
  app.delete(
    '/session',
    {
      // Sets the caller, so that the rate limit counts this request for the account. Without a valid token there is no
      // session to end, and the rate limit counts the request for the address.
      onRequest: (request, _reply, done) => {
        const caller = callerOf(request, deps)
        if (!(caller instanceof DomainError)) request.caller = caller
        done()
      },
      schema: {
        operationId: 'endSession',
        tags,
        summary: 'Log out',
        description:
          'Ends the session of the cookie or bearer token; the token is then refused everywhere. Without a session it ' +
          'changes nothing. A system’s token cannot be ended here.',
        security: [],
        response: {
          204: {
            type: 'null',
            description: 'The session has ended',
            headers: setCookieHeader(
              'Removes the session',
              'perkline_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
            ),
          },
          ...cashbackErrors({
            400: 'A query was given',
            401: 'The cookie carries a system’s token',
            403: `${foreign}, or the bearer token is a system’s`,
          }),
        },
      },
    },
    async (request, reply) => {
      const byCookie = request.headers.authorization === undefined
      const token = tokenOf(request, publicUrl)
      if (byCookie && token !== null && originOf(request, publicUrl) !== 'same')
        throw new DomainError('forbidden', foreign)
      const read = token === null ? null : tokens.read(token)
      if (read && read.caller.userType !== 'portal_user')
        throw byCookie
          ? new InvalidTokenError()
          : new DomainError('forbidden', 'A system’s token can’t be ended: revoke its credential')
      if (read) {
        const caller = { ...read.caller, trace: traceOf(request, read.caller) }
        await endToken({ ...deps, origin: originOfCaller(caller) }, read)
        await refusals.refresh()
      }
      if (byCookie) reply.header('set-cookie', endedSessionCookie(publicUrl))
      return reply.code(204).send(null)
    },
  )
}

/** Answers a login. The cookie contains the token and expires together with it. */
async function sendSession(reply: FastifyReply, deps: SessionDeps, { token, expireSeconds, caller }: Issued) {
  reply.request.shownAs = caller
  const read = deps.tokens.read(token)
  if (!read) throw new Error('A token that was just made is not valid')
  const cookie = sessionCookie(token, { maxAge: expireSeconds, publicUrl: deps.publicUrl })
  return reply.header('set-cookie', cookie).send(await sessionView(deps, read))
}
