/** Routes of `/webhook-endpoints` (contract/webhooks.md, "Endpoints"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { withOrigin } from '../audit-log/request/origin.ts'
import { realNow } from '../clock.ts'
import { DomainError, StaleError } from '../errors.ts'
import type { NumberAllEvents } from '../events/feed.ts'
import { matches } from '../http/answer/etag.ts'
import type { App } from '../http/app.ts'
import { idempotent } from '../http/idempotency-key.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import { schemaErrors } from '../http/input/schema-errors.ts'
import { etagHeader, locationHeader, staleVersion } from '../http/openapi/operations.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import { integrationAdmins, integrationReaders } from '../partner/allowed-roles.ts'
import { finitePage, type Position, readCursor } from '../partner/lists.ts'
import { callerAccount } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { addDuration } from '../text/duration.ts'
import { attemptTest, type DeliveringDeps, testEndpoint } from './delivering.ts'
import { type Endpoint, findEndpoints } from './endpoint-store.ts'
import * as endpoints from './endpoints.ts'
import { readReplay, replayEvents } from './replay.ts'
import * as schemas from './schemas.ts'
import { endpointTag, endpointView } from './views.ts'

type EndpointRoutesDeps = endpoints.EndpointDeps &
  DeliveringDeps & { onError(error: unknown): void; numberAllEvents: NumberAllEvents }
export type WebhookRoutesDeps = { webhooks: EndpointRoutesDeps }

/** The endpoint with the ETag for `If-Match`. */
const Tagged = { ...schemas.Endpoint, headers: { etag: etagHeader } }

/** Sets the ETag of an endpoint. @returns the body of the answer */
function tagged(reply: FastifyReply, endpoint: Endpoint) {
  reply.header('etag', endpointTag(endpoint))
  return endpointView(endpoint)
}

const notFound = { 404: 'The account has no such endpoint' }
const change = 'The endpoint as it is then'

const reads = (operationId: string, summary: string, description: string) =>
  operation('Webhooks', integrationReaders, { operationId, summary, description })
const changes = (operationId: string, summary: string, description: string) =>
  operation('Webhooks', integrationAdmins, { operationId, summary, description })

export const endpointRoutes: FastifyPluginAsyncTypebox<WebhookRoutesDeps> = async (app, { webhooks: deps }) => {
  createEndpointRoute(app, deps)
  listEndpointsRoute(app, deps)
  readEndpointRoute(app, deps)
  changeEndpointRoute(app, deps)
  enableEndpointRoute(app, deps)
  disableEndpointRoute(app, deps)
  rotateEndpointSecretRoute(app, deps)
  testEndpointRoute(app, deps)
  replayEventsRoute(app, deps)
  deleteEndpointRoute(app, deps)
}

function createEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints',
    {
      config: { ...idempotent, needsFreshFactor: true },
      attachValidation: true,
      schema: {
        ...changes(
          'createEndpoint',
          'Have events sent to an address',
          'The secret is shown only in this answer. At most 10 endpoints for an account.',
        ),
        body: schemas.CreateBody,
        response: {
          201: {
            ...schemas.NewEndpoint,
            headers: {
              ...locationHeader('/partner/v1/webhook-endpoints/7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'),
              etag: etagHeader,
            },
          },
          ...partnerErrors({
            409: 'The account has 10 endpoints',
            410: 'Events behind `startAfter` are over their retention',
          }),
        },
      },
    },
    async (request, reply) => {
      const form = { body: request.body, schemaErrors: schemaErrors(request) }
      await endpoints.requireNewFields(deps, callerAccount(request), form)
      const { startAfter = 'now', ...fields } = request.body
      // All events are numbered before the transaction begins, because numbering needs a connection of its own.
      if (startAfter === 'now') await deps.numberAllEvents()
      return answerOnce(request, reply, { deps: withOrigin(deps, request), status: 201 }, async own => {
        const made = await endpoints.createEndpoint(own, callerAccount(request), { ...fields, startAfter })
        reply.headers({ location: `${app.prefix}/webhook-endpoints/${made.endpointId}`, etag: endpointTag(made) })
        return { ...endpointView(made), secret: made.secret }
      })
    },
  )
}

function listEndpointsRoute(app: App, deps: EndpointRoutesDeps): void {
  app.get(
    '/webhook-endpoints',
    {
      schema: {
        ...reads('listEndpoints', 'All endpoints', 'Without their secrets.'),
        querystring: schemas.EndpointsQuery,
        response: { 200: schemas.Endpoints, ...partnerErrors() },
      },
    },
    async request => {
      const { limit, cursor } = request.query
      const account = callerAccount(request)
      const scope = { list: 'webhook-endpoints', account, filters: {} }
      const after = readCursor(scope, cursor, ['number', 'id'])
      const all = await findEndpoints(deps.database, account)
      const rest = after === null ? all : all.filter(endpoint => isBehind(positionOf(endpoint), after))
      return finitePage(rest, { scope, limit, positionOf }, endpointView)
    },
  )
}

function readEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.get(
    '/webhook-endpoints/:endpointId',
    {
      schema: {
        ...reads('readEndpoint', 'One endpoint', 'Its `ETag` is for `If-Match` of a change.'),
        params: schemas.EndpointPath,
        response: { 200: Tagged, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => {
      const endpoint = await endpoints.readEndpoint(deps.database, callerAccount(request), request.params.endpointId)
      return reply.header('etag', endpointTag(endpoint)).send(endpointView(endpoint))
    },
  )
}

function changeEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.patch(
    '/webhook-endpoints/:endpointId',
    {
      config: { ...idempotent, needsFreshFactor: true },
      attachValidation: true,
      schema: {
        ...changes(
          'changeEndpoint',
          'Change an endpoint',
          'Fields that the body leaves out stay. `If-Match` is checked.',
        ),
        params: schemas.EndpointPath,
        headers: Type.Object({
          'if-match': Type.Optional(
            Type.String({
              maxLength: 4096,
              description: 'The `ETag` that the change was made from',
              examples: ['"3f0c9a52-1"'],
            }),
          ),
        }),
        body: schemas.ChangeBody,
        response: { 200: Tagged, ...partnerErrors({ ...notFound, 412: staleVersion('endpoint') }) },
      },
    },
    (request, reply) => {
      endpoints.requireFields(deps.urls, { body: request.body, schemaErrors: schemaErrors(request) })
      return answerOnce(request, reply, { deps: withOrigin(deps, request), status: 200 }, async own => {
        const changed = await endpoints.changeEndpoint(own, callerAccount(request), {
          endpointId: request.params.endpointId,
          change: request.body,
          requireExpected(endpoint) {
            if (!matches(request.headers['if-match'], endpointTag(endpoint))) throw new StaleError('endpoint')
          },
        })
        return tagged(reply, changed)
      }) as never
    },
  )
}

function enableEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints/:endpointId/enable',
    {
      config: { ...idempotent, ...bodyOptional },
      schema: {
        ...changes('enableEndpoint', 'Enable an endpoint again', `${change}. A repeated call changes nothing.`),
        params: schemas.EndpointPath,
        body: schemas.EnableBody,
        response: {
          200: Tagged,
          ...partnerErrors({
            ...notFound,
            409: 'The operator has disabled it, and only the operator enables it',
            410: 'Events since it was disabled are over their retention: use `resume` `now`',
          }),
        },
      },
    },
    async (request, reply) => {
      const { endpointId } = request.params
      const { resume = 'position' } = request.body
      // All events are numbered before the transaction begins, because numbering needs a connection of its own.
      if (resume === 'now') await deps.numberAllEvents()
      return answerOnce(request, reply, { deps: withOrigin(deps, request), status: 200 }, async own => {
        const input = { endpointId, by: 'partner', resume } as const
        const enabled = await endpoints.enableEndpoint(own, callerAccount(request), input)
        return tagged(reply, enabled)
      })
    },
  )
}

function disableEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints/:endpointId/disable',
    {
      config: { ...idempotent },
      schema: {
        ...changes(
          'disableEndpoint',
          'Disable an endpoint',
          `${change}. It keeps its position. A repeated call changes nothing.`,
        ),
        params: schemas.EndpointPath,
        response: { 200: Tagged, ...partnerErrors(notFound) },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 200 }, async own => {
        const { endpointId } = request.params
        const disabled = await endpoints.disableEndpoint(own, callerAccount(request), { endpointId, by: 'partner' })
        return tagged(reply, disabled)
      }) as never,
  )
}

function rotateEndpointSecretRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints/:endpointId/rotate-secret',
    {
      config: { ...idempotent, ...bodyOptional, needsFreshFactor: true },
      schema: {
        ...changes(
          'rotateEndpointSecret',
          'Give an endpoint a new secret',
          'Both sign until the overlap ends. At most two are valid.',
        ),
        params: schemas.EndpointPath,
        body: schemas.RotateBody,
        response: {
          200: { ...schemas.RotatedSecret, headers: { etag: etagHeader } },
          ...partnerErrors(notFound),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 200 }, async own => {
        const { endpoint, rotated } = await endpoints.rotateSecret(own, callerAccount(request), {
          endpointId: request.params.endpointId,
          overlapMs: readOverlap(request.body.overlap),
        })
        reply.header('etag', endpointTag(endpoint))
        return rotated
      }) as never,
  )
}

function testEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints/:endpointId/test',
    {
      config: bodyOptional,
      schema: {
        ...changes('testEndpoint', 'Send a sample', 'One attempt at once, also at a disabled endpoint. 10 a minute.'),
        params: schemas.EndpointPath,
        body: schemas.TestBody,
        response: { 202: schemas.TestAnswer, ...partnerErrors(notFound) },
      },
    },
    (request, reply) => test(deps, request as never, reply as never) as never,
  )
}

function replayEventsRoute(app: App, deps: EndpointRoutesDeps): void {
  app.post(
    '/webhook-endpoints/:endpointId/replay',
    {
      config: idempotent,
      attachValidation: true,
      schema: {
        ...changes(
          'replayEvents',
          'Send events again',
          'Each is a new delivery, handed over as there is room, at most 50 a second. At most 10 replays of an endpoint are unfinished.',
        ),
        params: schemas.EndpointPath,
        body: schemas.ReplayBody,
        response: {
          202: schemas.ReplayAnswer,
          ...partnerErrors({
            ...notFound,
            409: 'The endpoint is disabled or deleted, or 10 of its replays are unfinished',
          }),
        },
      },
    },
    (request, reply) => {
      const asked = readReplay(request.body, schemaErrors(request))
      return answerOnce(request, reply, { deps: withOrigin(deps, request), status: 202 }, own =>
        replayEvents(own, callerAccount(request), { endpointId: request.params.endpointId, ...asked }),
      ) as never
    },
  )
}

function deleteEndpointRoute(app: App, deps: EndpointRoutesDeps): void {
  app.delete(
    '/webhook-endpoints/:endpointId',
    {
      config: { ...idempotent },
      schema: {
        ...changes(
          'deleteEndpoint',
          'Delete an endpoint',
          'No attempt begins 2 seconds later. The log stays until its retention.',
        ),
        params: schemas.EndpointPath,
        response: { 204: Type.Null({ description: 'The endpoint is deleted' }), ...partnerErrors(notFound) },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 204 }, async own => {
        await endpoints.removeEndpoint(own, callerAccount(request), request.params.endpointId)
        return null
      }) as never,
  )
}

/** The position of an endpoint in the list, which is ordered by creation. */
const positionOf = ({ createdAt, endpointId }: Endpoint): Position => [createdAt.getTime(), endpointId]

const isBehind = ([at = 0, id = '']: Position, [atBefore = 0, idBefore = '']: Position): boolean =>
  at === atBefore ? id > idBefore : at > atBefore

const maxOverlapMs = 7 * 86_400_000

/** Reads a duration, in milliseconds. @throws DomainError 'invalid' for a text that is no duration, or longer than 7 days */
export function readOverlap(text = 'PT24H'): number {
  const now = realNow()
  const ms = (addDuration(now, text)?.getTime() ?? Number.NaN) - now.getTime()
  if (!(ms <= maxOverlapMs)) throw new DomainError('invalid', ['overlap must be an ISO 8601 duration of at most P7D'])
  return ms
}

type TestRequest = FastifyRequest<{ Params: { endpointId: string }; Body: { type?: string } }>

async function test(deps: EndpointRoutesDeps, request: TestRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { type = 'test.ping' } = request.body
  const { endpointId } = request.params
  const { claimed } = await testEndpoint(deps, callerAccount(request), { endpointId, type })
  // The attempt continues after the answer; the log shows its outcome.
  attemptTest(deps, claimed).catch(deps.onError)
  return reply.code(202).send({ deliveryId: claimed.deliveryId })
}
