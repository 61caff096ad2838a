/** Routes below `/portal` for the person who calls: password, sessions, second factors, language. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import {
  type Actor,
  beginTotp,
  confirmTotp,
  type FactorDeps,
  readFactors,
  removeTotp,
  renewRecoveryCodes,
} from '../access/factors/factors.ts'
import { personOf } from '../access/request/authenticate.ts'
import { onlyPeople } from '../access/request/callers.ts'
import { clientOf } from '../access/request/client.ts'
import { traceOf } from '../access/request/trace.ts'
import { listSessions } from '../access/sessions/session-store.ts'
import { endOneSession, endOtherSessions } from '../access/sessions/sessions.ts'
import type { CountLanguageChange } from '../access/settings-limit.ts'
import { findNames } from '../access/shown-names-store.ts'
import { withOrigin } from '../audit-log/request/origin.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import type { App } from '../http/app.ts'
import { idempotentForOwn } from '../http/idempotency-key.ts'
import { secured } from '../http/schemas.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import type { ConcurrencyLimit } from '../work/concurrency-limit.ts'
import { chooseLanguage } from './language.ts'
import { changePassword } from './passwords.ts'
import type { PeopleRoutesDeps } from './people-routes.ts'
import { fresh, mfaNeeded, portalErrors, tags } from './request/documents.ts'
import * as schemas from './schemas.ts'
import { factorsView, sessionListView, totpView } from './views.ts'

export type SelfRoutesDeps = PeopleRoutesDeps &
  FactorDeps & { hashingPlaces: ConcurrencyLimit; countLanguageChange: CountLanguageChange }

const tooMany = { 429: 'Too many requests, or wrong codes: wait for `Retry-After` seconds' }
const done = (description: string) => ({ type: 'null', description }) as const

const actorOf = (request: FastifyRequest): Actor => {
  const { caller, userId, sessionId } = personOf(request)
  return { caller, trace: traceOf(request, caller), userId, sessionId, address: clientOf(request).address }
}

export const selfRoutes: FastifyPluginAsyncTypebox<SelfRoutesDeps> = async (app, deps) => {
  onlyPeople(app, deps)
  await app.register(passwordRoutes, { ...deps, prefix: '' })
  await app.register(sessionListRoutes, { ...deps, prefix: '' })
  await app.register(factorRoutes, { ...deps, prefix: '' })
}

const passwordRoutes: FastifyPluginAsyncTypebox<SelfRoutesDeps> = async (app, deps) => {
  app.post(
    '/password',
    {
      config: idempotentForOwn,
      schema: {
        tags,
        security: secured,
        operationId: 'changePassword',
        summary: 'Change your password',
        description: 'Ends your other sessions.',
        body: schemas.PasswordBody,
        response: {
          204: done('The password is changed'),
          ...portalErrors({
            ...tooMany,
            400: 'The present password is wrong, or the new one is refused',
            409: 'It was changed at this moment',
          }),
        },
      },
    },
    async (request, reply) => {
      // Wait for the limit of concurrent password hashes before the transaction of an Idempotency-Key begins, so that a waiting
      // request holds no connection to the database.
      const end = await deps.hashingPlaces.take(personOf(request).userId, disconnectSignal(reply))
      const once = { deps: withOrigin(deps, request), status: 204, committed: () => deps.refusals.refresh() } as const
      try {
        return await answerOnce(request, reply, once, async on => {
          await changePassword(on, actorOf(request), request.body)
          return null
        })
      } finally {
        end()
      }
    },
  )

  app.put(
    '/language',
    {
      config: idempotentForOwn,
      schema: {
        tags,
        security: secured,
        operationId: 'setLanguage',
        summary: 'Choose the language of mails',
        description: 'Also the language of invitations that you make.',
        body: schemas.LanguageBody,
        response: {
          204: done('It is kept'),
          ...portalErrors({ 429: 'Too many requests or changes: wait for `Retry-After` seconds' }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 204 }, async on => {
        await chooseLanguage(on, personOf(request).userId, request.body.language)
        return null
      }) as never,
  )
}

const sessionListRoutes: FastifyPluginAsyncTypebox<SelfRoutesDeps> = async (app, deps) => {
  const { database, refusals, activity } = deps

  app.get(
    '/sessions',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'listSessions',
        summary: 'Your sessions',
        description:
          'Each login makes a session, including a login by `POST /auth/login`. The newest 200, and always this one.',
        response: { 200: schemas.Sessions, ...portalErrors() },
      },
    },
    async request => {
      const { userId, sessionId } = personOf(request)
      await activity.write()
      return sessionListView(await listSessions(database, userId, sessionId), sessionId)
    },
  )

  app.delete(
    '/sessions/:sessionId',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'endOneSession',
        summary: 'End one of your sessions',
        description: 'Its token is refused everywhere within 10 seconds.',
        params: schemas.SessionPath,
        response: { 204: done('It has ended'), ...portalErrors({ 404: 'You have no such live session' }) },
      },
    },
    async (request, reply) => {
      await endOneSession(withOrigin({ database }, request), personOf(request).userId, request.params.sessionId)
      await refusals.refresh()
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/sessions',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'endOtherSessions',
        summary: 'End all your other sessions',
        description: 'Their tokens are refused everywhere within 10 seconds.',
        response: { 204: done('They have ended'), ...portalErrors() },
      },
    },
    async (request, reply) => {
      const { userId, sessionId } = personOf(request)
      await endOtherSessions(withOrigin({ database }, request), userId, sessionId)
      await refusals.refresh()
      return reply.code(204).send(null)
    },
  )
}

const factorRoutes: FastifyPluginAsyncTypebox<SelfRoutesDeps> = async (app, deps) => {
  readFactorsRoute(app, deps)
  beginTotpRoute(app, deps)
  confirmTotpRoute(app, deps)
  removeTotpRoute(app, deps)
  renewRecoveryCodesRoute(app, deps)
}

function readFactorsRoute(app: App, deps: SelfRoutesDeps): void {
  const { database } = deps
  app.get(
    '/mfa',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'readFactors',
        summary: 'Your second factors',
        description: 'What is set up, never a secret.',
        response: { 200: schemas.Factors, ...portalErrors() },
      },
    },
    async request => factorsView(await readFactors(database, personOf(request).userId)),
  )
}

function beginTotpRoute(app: App, deps: SelfRoutesDeps): void {
  const { database } = deps
  app.post(
    '/mfa/totp',
    {
      config: fresh,
      schema: {
        tags,
        security: secured,
        operationId: 'beginTotp',
        summary: 'Begin to set up an authenticator app',
        description: 'Logins need its code only after `confirm` has accepted one.',
        response: {
          200: schemas.NewTotp,
          ...portalErrors({ ...mfaNeeded, 409: 'One is set up already, or second factors are off for the account' }),
        },
      },
    },
    async request => {
      const { caller, userId } = personOf(request)
      const names = await findNames(database, caller)
      return totpView(await beginTotp(deps, { userId, login: names?.login ?? userId }))
    },
  )
}

function confirmTotpRoute(app: App, deps: SelfRoutesDeps): void {
  app.post(
    '/mfa/totp/confirm',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'confirmTotp',
        summary: 'Set up the authenticator app with a code of it',
        description: 'From now on a login needs a code. The recovery codes are shown only this once.',
        body: schemas.CodeBody,
        response: {
          200: schemas.RecoveryCodes,
          ...portalErrors({
            ...mfaNeeded,
            ...tooMany,
            400: 'The code is wrong',
            409: 'No app waits for its first code',
          }),
        },
      },
    },
    (request, reply) =>
      answerOnce(
        request,
        reply,
        { deps: withOrigin(deps, request), status: 200, committed: () => deps.refusals.refresh() },
        on => confirmTotp(on, actorOf(request), request.body.code),
      ) as never,
  )
}

function removeTotpRoute(app: App, deps: SelfRoutesDeps): void {
  app.delete(
    '/mfa/totp',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'removeTotp',
        summary: 'Remove the authenticator app',
        description: 'Also removes the recovery codes.',
        response: { 204: done('It is asked for no more'), ...portalErrors(mfaNeeded) },
      },
    },
    (request, reply) =>
      answerOnce(
        request,
        reply,
        { deps: withOrigin(deps, request), status: 204, committed: () => deps.refusals.refresh() },
        async on => {
          await removeTotp(on, personOf(request).userId)
          return null
        },
      ) as never,
  )
}

function renewRecoveryCodesRoute(app: App, deps: SelfRoutesDeps): void {
  app.post(
    '/mfa/recovery-codes',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'renewRecoveryCodes',
        summary: 'Make new recovery codes',
        description: 'The previous codes stop working.',
        response: {
          201: schemas.RecoveryCodes,
          ...portalErrors({ ...mfaNeeded, 409: 'No authenticator app is set up' }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 201 }, on =>
        renewRecoveryCodes(on, personOf(request).userId),
      ) as never,
  )
}
