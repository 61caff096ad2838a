/** How a person logs in to the portal: the token of `POST /auth/login`, kept by the browser in a cookie that no script can read. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { DomainError, InvalidTokenError } from '../errors.ts'
import { leaving } from '../http/answer/leaving.ts'
import { ref, setCookieHeader } from '../http/openapi/operations.ts'
import { cashbackErrors, NoQuery, secured } from '../http/schemas.ts'
import { findFailedLogins } from './login-store.ts'
import type { Logins } from './logins.ts'
import { endToken } from './operations.ts'
import { callerOf, tokenOf } from './request/authenticate.ts'
import { countMalformed } from './request/malformed.ts'
import { originOf } from './request/same-origin.ts'
import { endedSessionCookie, sessionCookie } from './request/session-cookie.ts'
import { LoginBody, tooManyAttempts } from './routes.ts'
import { Session } from './session-schemas.ts'
import { findNames } from './session-store.ts'
import type { ReadToken } from './tokens.ts'

export type SessionDeps = CampaignRoutesDeps & { logins: Logins }

const tags = ['Portal']
const foreign = 'The request comes from a page of another site'

export const sessionRoutes: FastifyPluginAsyncTypebox<SessionDeps> = async (app, deps) => {
  const { tokens, refusals, publicUrl, database, clock } = deps

  /** @throws DomainError 'unauthenticated' when the account is gone */
  const sessionOf = async ({ caller, expiresAt }: ReadToken) => {
    const names = await findNames(database, caller)
    const failed = caller.userType === 'portal_user' ? await findFailedLogins(database, caller.subject) : null
    if (!names) throw new DomainError('unauthenticated', 'This account is not there any more')
    return {
      typeAccount: caller.type,
      login: names.login,
      role: caller.role,
      id: caller.type === 'bank' ? caller.bankId : caller.type === 'retailer' ? caller.merchantId : null,
      name: names.name ?? 'Perkline',
      nameEn: names.nameEn,
      expiresAt: expiresAt.toISOString(),
      now: clock.now().toISOString(),
      failedLogins: failed && { count: failed.count, since: failed.since.toISOString() },
    }
  }

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
          200: {
            ...ref(Session),
            description: 'Who is logged in; the cookie is set',
            headers: setCookieHeader(
              'The session',
              'perkline_session=<token>; Path=/; Max-Age=7200; HttpOnly; SameSite=Strict',
            ),
          },
          ...cashbackErrors({
            400: 'The body is invalid',
            401: 'The login or the password is wrong, or the user is disabled',
            403: foreign,
            429: tooManyAttempts,
          }),
        },
      },
    },
    async (request, reply) => {
      if (originOf(request, publicUrl) === 'other') throw new DomainError('forbidden', foreign)
      const token = await deps.logins.withPassword(request.ip, request.body, leaving(reply))
      const read = tokens.read(token)
      if (!read) throw new Error('A token that was just made is not valid')
      return reply.header('set-cookie', sessionCookie(token, publicUrl)).send(await sessionOf(read))
    },
  )

  app.get(
    '/session',
    {
      // Its requests count for the account, as everywhere with a token.
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
        description: 'Of the cookie, or of the bearer token that is sent.',
        security: secured,
        querystring: NoQuery,
        response: {
          200: { ...ref(Session), description: 'Who is logged in' },
          ...cashbackErrors({ 400: 'A query was given', 401: 'Nobody is logged in, or the session is over' }),
        },
      },
    },
    async request => {
      const read = tokens.read(tokenOf(request, publicUrl) ?? '')
      if (!read) throw new DomainError('unauthenticated', 'The session is over')
      if (read.caller.type === 'platform' && !deps.logins.admitsStaff) throw new InvalidTokenError()
      return sessionOf(read)
    },
  )

  app.delete(
    '/session',
    {
      schema: {
        operationId: 'endSession',
        tags,
        summary: 'Log out',
        description:
          'Ends the session of the cookie or bearer token; the token is then refused everywhere. Without a session it ' +
          'changes nothing. A system’s token cannot be ended here.',
        security: [],
        querystring: NoQuery,
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
        await endToken(deps, read)
        await refusals.refresh()
      }
      if (byCookie) reply.header('set-cookie', endedSessionCookie(publicUrl))
      return reply.code(204).send(null)
    },
  )
}
