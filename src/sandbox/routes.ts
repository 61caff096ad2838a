/** The routes below `/sandbox`: the clock, and the delivery of webhooks. They exist in sandbox mode only. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { bearerToken, callerOf } from '../access/request/authenticate.ts'
import { traceOf } from '../access/request/trace.ts'
import { keyCheck, noteGuess, type OperatorDeps } from '../admin/request/authenticate.ts'
import { mustBe } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import type { App } from '../http/app.ts'
import { CashbackError } from '../http/errors.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import { errorAnswers, named } from '../http/openapi/operations.ts'
import { unknownOrigin } from '../outbox/origin.ts'
import { durationPattern } from '../text/duration.ts'
import { instantPattern, instantRule } from '../text/instant.ts'
import { moveClock, readClock, resetClock, type SandboxDeps } from './operations.ts'

const Reading = named(
  'Clock',
  Type.Object(
    {
      now: Type.String({ format: 'date-time', description: 'The platform’s current time' }),
      offsetSeconds: Type.Number({ description: 'Seconds ahead of real time', examples: [900] }),
    },
    { description: 'The clock' },
  ),
)

const Move = Type.Object(
  {
    advance: Type.Optional(
      Type.String({
        maxLength: 64,
        pattern: '^P',
        'x-documented': { pattern: durationPattern },
        ...mustBe('duration'),
        description: 'How far to move, an ISO 8601 duration',
        examples: ['PT15M'],
      }),
    ),
    now: Type.Optional(
      Type.String({
        maxLength: 64,
        ...mustBe(instantRule.rule, instantRule.params),
        'x-documented': { pattern: instantPattern },
        description:
          'Where to move to, not before the present time of the clock: ISO 8601, a date alone means midnight UTC',
        examples: ['2027-01-01T00:00:00Z'],
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    ...mustBe('advance-or-now'),
  },
)

const tags = ['Sandbox']
/**
 * For this long after its beginning, a request starts new delivery attempts. An attempt takes up to 15 seconds, and the
 * request must be answered within 30 seconds.
 */
const deliverWithinMs = 14_000
const unavailable = {
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'A fault of ours',
  503: 'The platform is temporarily unavailable',
}

const guarded = [{}, { bearerToken: [] }]
const tokenNeeded =
  'The platform can be reached from other machines (`HOST` or `PUBLIC_URL`), so a token of any partner, or the operator’s key, ' +
  'is needed'

export type SandboxRoutesDeps = SandboxDeps & {
  /**
   * Checks who calls. It is needed when other machines can reach the platform. null: the platform listens only on this
   * machine, and everybody may call.
   */
  guard: OperatorDeps | null
}

export const sandboxRoutes: FastifyPluginAsyncTypebox<SandboxRoutesDeps> = async (app, deps) => {
  if (deps.guard) letIn(app, deps.guard)
  readClockRoute(app, deps)
  moveClockRoute(app, deps)
  resetClockRoute(app, deps)
  deliverWebhooksRoute(app, deps)
}

const withOrigin = (deps: SandboxRoutesDeps, request: unknown) => ({
  ...deps,
  origin: unknownOrigin(traceOf(request as FastifyRequest, null)),
})

function readClockRoute(app: App, deps: SandboxRoutesDeps): void {
  app.get(
    '/sandbox/clock',
    {
      schema: {
        operationId: 'readClock',
        tags,
        summary: 'The platform’s current time',
        description: 'In sandbox mode you can move the clock and test an expiry in seconds.',
        security: guarded,
        response: {
          200: Reading,
          ...errorAnswers(CashbackError, { 400: 'A query was given', 401: tokenNeeded, ...unavailable }),
        },
      },
    },
    async () => readClock(deps.clock),
  )
}

function moveClockRoute(app: App, deps: SandboxRoutesDeps): void {
  app.post(
    '/sandbox/clock',
    {
      schema: {
        operationId: 'moveClock',
        tags,
        summary: 'Move the clock forwards',
        description:
          'Answers when everything that is due by then has been carried out. The clock continues from there. Tokens are not ' +
          'affected: they expire in real time.',
        security: guarded,
        body: Move,
        response: {
          200: Reading,
          ...errorAnswers(CashbackError, {
            400: 'Neither or both are given, or the clock would go back',
            401: tokenNeeded,
            ...unavailable,
          }),
        },
      },
    },
    async request => {
      const { advance, now = '' } = request.body
      return moveClock(withOrigin(deps, request), advance === undefined ? { now } : { advance })
    },
  )
}

function resetClockRoute(app: App, deps: SandboxRoutesDeps): void {
  app.delete(
    '/sandbox/clock',
    {
      schema: {
        operationId: 'resetClock',
        tags,
        summary: 'Return to real time',
        description: 'What was carried out is not undone.',
        security: guarded,
        response: {
          200: Reading,
          ...errorAnswers(CashbackError, { 400: 'A query was given', 401: tokenNeeded, ...unavailable }),
        },
      },
    },
    async request => resetClock(withOrigin(deps, request)),
  )
}

function deliverWebhooksRoute(app: App, deps: SandboxRoutesDeps): void {
  app.post(
    '/sandbox/webhooks/deliver',
    {
      config: bodyOptional,
      schema: {
        operationId: 'deliverWebhooks',
        tags,
        summary: 'Deliver what waits',
        description:
          'Numbers the recorded events, and makes one attempt for each delivery that waits at an enabled endpoint, even if it is not due. At a ' +
          'serial or probed endpoint it tries only the oldest one. Attempts that are under way are not repeated. If an endpoint has ten of ' +
          'them, the others wait for a place. Answers after 30 seconds at most: what had no place within 14 seconds is not tried.',
        security: guarded,
        body: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Object(
            {
              attempted: Type.Integer({
                description: 'How many deliveries this call tried; without those under way',
                examples: [3],
              }),
            },
            { title: 'DeliveredWebhooks', description: 'The result' },
          ),
          ...errorAnswers(CashbackError, { 400: 'The body is not empty', 401: tokenNeeded, ...unavailable }),
        },
      },
    },
    async () => ({ attempted: await deps.deliverWebhooks(performance.now() + deliverWithinMs) }),
  )
}

/**
 * Lets in partners and platform users with a token, and callers with the operator's key.
 *
 * @throws DomainError 'unauthenticated' for all other callers
 */
function letIn(app: FastifyInstance, guard: OperatorDeps): void {
  const isKey = keyCheck(guard.operatorKeys)
  app.addHook('onRequest', async request => {
    if (isKey(bearerToken(request))) return request.keepConnection()
    const caller = callerOf(request, guard)
    if (!(caller instanceof DomainError)) return
    await noteGuess(request, caller, guard)
    throw caller
  })
}
