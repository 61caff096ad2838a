/** How a partner gets a token: clientId and secret (POST /getToken/auth), or login and password (POST /auth/login). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { DomainError } from '../errors.ts'
import { CashbackError, TokenError } from '../http/errors.ts'
import { errorAnswers, ref } from '../http/openapi.ts'
import { accountTypes } from './caller.ts'
import { type AccessDeps, issueGatewayToken, logIn } from './operations.ts'
import type { Throttle } from './throttle.ts'
import { tokenLifetimeSeconds } from './tokens.ts'

export const Token = Type.Object(
  {
    access_token: Type.String({ description: 'To be sent as `Authorization: Bearer <access_token>`' }),
    expire: Type.String({ description: 'Lifetime in seconds, as text', examples: [String(tokenLifetimeSeconds)] }),
  },
  { $id: 'Token', description: 'A fresh token' },
)

const GatewayBody = Type.Object(
  {
    clientId: Type.String({ minLength: 1, maxLength: 256, description: 'As issued', examples: ['pk_sample_alpha'] }),
    secret: Type.String({ minLength: 1, maxLength: 1024, description: 'As issued', examples: ['keep-it-secret'] }),
  },
  { additionalProperties: false },
)

const LoginBody = Type.Object(
  {
    typeAccount: Type.Enum([...accountTypes], {
      description: 'Whose user it is: a merchant’s (retailer), a bank’s, the platform’s',
    }),
    login: Type.String({ minLength: 1, maxLength: 128, description: 'Login of the portal user', examples: ['olena'] }),
    password: Type.String({ minLength: 1, maxLength: 256, description: 'Password of the portal user' }),
  },
  { additionalProperties: false },
)

export type AccessRoutesDeps = AccessDeps & {
  gatewayThrottle: Throttle
  loginThrottle: Throttle
  /** Told of each attempt's outcome, for the metrics. */
  observeToken(outcome: 'issued' | 'refused' | 'throttled'): void
}

const tags = ['Tokens']
const away = { 500: 'A fault of ours; tell us the request id', 503: 'The platform is away for a moment' }
const tooMany = 'Too many failed attempts from this address: wait for `Retry-After` seconds'
const answer = (token: string) => ({ access_token: token, expire: String(tokenLifetimeSeconds) })
const noStore = { 'cache-control': 'no-store' }

export const accessRoutes: FastifyPluginAsyncTypebox<AccessRoutesDeps> = async (app, deps) => {
  /** Runs an attempt under a throttle; null is a failure that counts. */
  const attempt = async (throttle: Throttle, address: string, name: string, run: () => Promise<string | null>) => {
    const throttled = (error: unknown): never => {
      deps.observeToken('throttled')
      throw error
    }
    await throttle.check(address, name).catch(throttled)
    const token = await run()
    if (token === null) await throttle.fail(address, name).catch(throttled)
    deps.observeToken(token === null ? 'refused' : 'issued')
    return token
  }

  app.post(
    '/getToken/auth',
    {
      schema: {
        operationId: 'issueToken',
        tags,
        summary: 'Exchange clientId and secret for a token',
        description: 'Each call gives a fresh token, valid for 7200 seconds; get the next one when it has expired.',
        security: [],
        body: GatewayBody,
        response: {
          200: { ...ref(Token), description: 'A fresh token' },
          ...errorAnswers(TokenError, {
            400: 'The body is not as described, or the clientId and secret do not fit',
            429: tooMany,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const { body, ip } = request
      const token = await attempt(deps.gatewayThrottle, ip, body.clientId, () => issueGatewayToken(deps, body))
      if (token === null) throw new DomainError('invalid', 'The clientId or the secret is wrong')
      return reply.headers(noStore).send(answer(token))
    },
  )

  // Password hashing is slow on purpose; more than a few at once would only slow down everyone else.
  const hashing = createGate(2, 100)
  app.post(
    '/auth/login',
    {
      schema: {
        operationId: 'logIn',
        tags,
        summary: 'Exchange a portal user’s login and password for a token',
        description: 'For people who work in the portal; systems use clientId and secret.',
        security: [],
        body: LoginBody,
        response: {
          200: { ...ref(Token), description: 'A fresh token' },
          ...errorAnswers(CashbackError, {
            400: 'The body is not as described',
            401: 'The login and password do not fit, or the user may not log in any more',
            429: tooMany,
            ...away,
          }),
        },
      },
    },
    async (request, reply) => {
      const { body, ip } = request
      const token = await hashing(() => attempt(deps.loginThrottle, ip, body.login, () => logIn(deps, body)))
      if (token === null) throw new DomainError('unauthenticated', 'The login or the password is wrong')
      return reply.headers(noStore).send(answer(token))
    },
  )
}

/** Lets `places` run at once and `mostWaiting` wait. @throws DomainError 'unavailable' to those for whom there is no place */
function createGate(places: number, mostWaiting: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (running >= places) {
      if (waiting.length >= mostWaiting)
        throw new DomainError('unavailable', 'Too many logins at once; try again', { retryAfterSeconds: 2 })
      await new Promise<void>(resolve => waiting.push(resolve))
    } else running++
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
