/** How a partner gets a token: clientId and secret (POST /getToken/auth), or login and password (POST /auth/login). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { accountTypes } from '../caller.ts'
import { disconnectSignal } from '../http/answer/disconnect-signal.ts'
import { CashbackError, TokenError } from '../http/errors.ts'
import { errorAnswers, named, ref } from '../http/openapi/operations.ts'
import type { Issued } from './log-in.ts'
import type { Logins } from './logins.ts'
import { maxTypedLength } from './passwords/password-rules.ts'
import { clientOf } from './request/client.ts'
import { countMalformed } from './request/malformed.ts'
import { traceOf } from './request/trace.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

export const Token = Type.Object(
  {
    access_token: Type.String({ description: 'Send it as `Authorization: Bearer <access_token>`' }),
    expire: Type.String({ description: 'Lifetime in seconds, as text', examples: [String(tokenLifetimeSeconds)] }),
  },
  { $id: 'Token', description: 'A new token' },
)

const GatewayBody = named(
  'ClientCredentials',
  Type.Object(
    {
      clientId: Type.String({ minLength: 1, maxLength: 256, description: 'As issued', examples: ['pk_sample_alpha'] }),
      secret: Type.String({ minLength: 1, maxLength: 1024, description: 'As issued', examples: ['keep-it-secret'] }),
    },
    { additionalProperties: false },
  ),
)

export const LoginBody = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], {
      title: 'AccountType',
      description: 'Kind of account: a merchant (`retailer`), a bank or the platform',
    }),
    login: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Login of the portal user',
      examples: ['olena'],
    }),
    password: Type.String({ minLength: 1, maxLength: maxTypedLength, description: 'Password of the portal user' }),
  },
  { additionalProperties: false },
)

export type AccessRoutesDeps = { logins: Logins }

/** The body of a person's login. It contains the code of the second factor, if one is set up. */
const LoginWithCode = Type.Object(
  {
    ...LoginBody.properties,
    otp: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Code of the second factor, where one is set up: of the authenticator app, or a recovery code',
        examples: ['123456'],
      }),
    ),
  },
  { additionalProperties: false },
)

const tags = ['Tokens']
const away = {
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is temporarily unavailable',
}
const tooManyAttempts = 'Too many failed attempts from this address: wait for `Retry-After` seconds'
export const tooManyLogins =
  'Too many failed attempts from this address or for this login, or too many logins of the person: wait for `Retry-After` seconds'
const answer = ({ token, expireSeconds }: Pick<Issued, 'token' | 'expireSeconds'>) => ({
  access_token: token,
  expire: String(expireSeconds),
})

/** Token operations for the systems of banks and merchants. People log in to the portal by `session-routes.ts`. */
export const tokenRoutes: FastifyPluginAsyncTypebox<AccessRoutesDeps> = async (app, deps) => {
  app.post(
    '/getToken/auth',
    {
      ...countMalformed(deps.logins.malformed),
      schema: {
        operationId: 'issueToken',
        tags,
        summary: 'Exchange clientId and secret for a token',
        description: `Each call returns a new token, valid for ${tokenLifetimeSeconds} seconds. Keep it, and get the next one when it has expired.`,
        security: [],
        body: GatewayBody,
        response: {
          200: { ...ref(Token), description: 'A new token' },
          ...errorAnswers(TokenError, {
            400: 'The body is invalid, the clientId or the secret is wrong, or the account’s list does not allow this address',
            429: tooManyAttempts,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const { token, caller } = await deps.logins.withSecret(
        { address: request.ip, trace: { ...traceOf(request, null), via: 'api' } },
        request.body,
      )
      request.shownAs = caller
      return reply.send(answer({ token, expireSeconds: tokenLifetimeSeconds }))
    },
  )
}

/** The token operation for people who call the API. The portal uses `session-routes.ts`. */
export const loginRoutes: FastifyPluginAsyncTypebox<AccessRoutesDeps> = async (app, deps) => {
  app.post(
    '/auth/login',
    {
      ...countMalformed(deps.logins.malformed),
      schema: {
        operationId: 'logIn',
        tags,
        summary: 'Exchange a portal user’s login and password for a token',
        description: 'For people who work in the portal; systems use clientId and secret.',
        security: [],
        body: LoginWithCode,
        response: {
          200: { ...ref(Token), description: 'A new token' },
          ...errorAnswers(CashbackError, {
            400: 'The body is invalid',
            401: 'The login, the password or the code is wrong, or the user is disabled; or a second factor is needed (`perkline-error-code: mfa-needed`)',
            429: tooManyLogins,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const issued = await deps.logins.withPassword(clientOf(request, 'api'), request.body, disconnectSignal(reply))
      request.shownAs = issued.caller
      return reply.send(answer(issued))
    },
  )
}
