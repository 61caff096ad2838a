/** How a partner gets a token: clientId and secret (POST /getToken/auth), or login and password (POST /auth/login). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { CashbackError, TokenError } from '../http/errors.ts'
import { leaving } from '../http/leaving.ts'
import { countMalformed } from '../http/malformed.ts'
import { errorAnswers, named, ref } from '../http/openapi.ts'
import { accountTypes } from './caller.ts'
import type { Logins } from './logins.ts'
import { tokenLifetimeSeconds } from './token-keys.ts'

export const Token = Type.Object(
  {
    access_token: Type.String({ description: 'To be sent as `Authorization: Bearer <access_token>`' }),
    expire: Type.String({ description: 'Lifetime in seconds, as text', examples: [String(tokenLifetimeSeconds)] }),
  },
  { $id: 'Token', description: 'A fresh token' },
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

export const LoginBody = named(
  'Login',
  Type.Object(
    {
      typeAccount: Type.Enum([...accountTypes], {
        title: 'AccountType',
        description: 'Whose user it is: a merchant’s (retailer), a bank’s, the platform’s',
      }),
      login: Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Login of the portal user',
        examples: ['olena'],
      }),
      password: Type.String({ minLength: 1, maxLength: 256, description: 'Password of the portal user' }),
    },
    { additionalProperties: false },
  ),
)

export type AccessRoutesDeps = { logins: Logins }

const NoQuery = Type.Object({}, { additionalProperties: false })
const tags = ['Tokens']
const away = { 500: 'A fault of ours; tell us the request id', 503: 'The platform is away for a moment' }
export const tooManyAttempts = 'Too many failed attempts from this address: wait for `Retry-After` seconds'
const answer = (token: string) => ({ access_token: token, expire: String(tokenLifetimeSeconds) })

/** For systems. */
export const tokenRoutes: FastifyPluginAsyncTypebox<AccessRoutesDeps> = async (app, deps) => {
  app.post(
    '/getToken/auth',
    {
      ...countMalformed(deps.logins.malformed),
      schema: {
        operationId: 'issueToken',
        tags,
        summary: 'Exchange clientId and secret for a token',
        description: 'Each call gives a fresh token, valid for 7200 seconds; get the next one when it has expired.',
        security: [],
        querystring: NoQuery,
        body: GatewayBody,
        response: {
          200: { ...ref(Token), description: 'A fresh token' },
          ...errorAnswers(TokenError, {
            400: 'The body is not as described, or the clientId and secret do not fit',
            429: tooManyAttempts,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const token = await deps.logins.withSecret(request.ip, request.body)
      return reply.send(answer(token))
    },
  )
}

/** For people. */
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
        querystring: NoQuery,
        body: LoginBody,
        response: {
          200: { ...ref(Token), description: 'A fresh token' },
          ...errorAnswers(CashbackError, {
            400: 'The body is not as described',
            401: 'The login and password do not fit, or the user may not log in any more',
            429: tooManyAttempts,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const token = await deps.logins.withPassword(request.ip, request.body, leaving(reply))
      return reply.send(answer(token))
    },
  )
}
