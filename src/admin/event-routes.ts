/** Events and endpoints of all accounts, for the operator (contract/webhooks.md, "The operator"). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { withOrigin } from '../audit-log/request/origin.ts'
import { type Account, platformAccountId } from '../caller.ts'
import { Event } from '../events/feed-schemas.ts'
import type { App } from '../http/app.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import { schemaErrors } from '../http/input/schema-errors.ts'
import { nullable } from '../http/openapi/operations.ts'
import { count, instant, text } from '../http/schemas.ts'
import { readOverlap } from '../webhooks/endpoint-routes.ts'
import { type Endpoint, findAllEndpoints } from '../webhooks/endpoint-store.ts'
import * as endpoints from '../webhooks/endpoints.ts'
import { beginFeedsAnew } from '../webhooks/operator.ts'
import { findCodes, namedAccount, readEventsStatus, readTail } from '../webhooks/operator-store.ts'
import { readReplay, replayEvents } from '../webhooks/replay.ts'
import * as schemas from '../webhooks/schemas.ts'
import { endpointView } from '../webhooks/views.ts'
import { closed, fresh, mfaNeeded, operation, operatorErrors } from './request/documents.ts'

type Deps = endpoints.EndpointDeps
export type EventAdminDeps = { webhooks: Deps }

const code = (of: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: `Code of the ${of}`, examples: [example] }))
const asked = {
  bank: code('bank', 'alpha'),
  merchant: code('merchant', 'grocer'),
  platform: Type.Optional(Type.Boolean({ description: 'The platform itself' })),
}
const OfAccount = Type.Object(
  { ...schemas.Endpoint.properties, account: text('Whose it is: bank CODE, merchant CODE or platform', 'bank alpha') },
  { title: 'AccountEndpoint', description: 'An endpoint' },
)
const notFound = { 404: 'There is no such endpoint' }
/** Returns endpoints with the names of their accounts. */
async function viewsOf({ database }: Deps, found: readonly Endpoint[]) {
  const codes = await findCodes(
    database,
    found.map(({ accountId }) => accountId),
  )
  return found.map(endpoint => ({ ...endpointView(endpoint), account: accountName(endpoint, codes) }))
}

async function viewOf(deps: Deps, endpoint: Endpoint) {
  return (await viewsOf(deps, [endpoint]))[0] as Awaited<ReturnType<typeof viewsOf>>[number]
}

export const eventAdminRoutes: FastifyPluginAsyncTypebox<EventAdminDeps> = async (app, { webhooks }) => {
  listAllEndpointsRoute(app, webhooks)
  switchEndpointRoute(app, webhooks, 'enable')
  switchEndpointRoute(app, webhooks, 'disable')
  rotateAnyEndpointSecretRoute(app, webhooks)
  replayAnyEventsRoute(app, webhooks)
  readNewestEventsRoute(app, webhooks)
  readEventsStatusRoute(app, webhooks)
  restartFeedsRoute(app, webhooks)
}

function listAllEndpointsRoute(app: App, webhooks: Deps): void {
  const { database } = webhooks
  app.get(
    '/webhook-endpoints',
    {
      schema: {
        ...operation('Events', 'listAllEndpoints', 'Endpoints', 'Of all accounts or of one, disabled ones first.'),
        querystring: Type.Object(asked, closed),
        response: {
          200: Type.Object({ data: Type.Array(OfAccount, { description: 'Endpoints' }) }, { description: 'Endpoints' }),
          ...operatorErrors({ 404: 'There is no such bank or merchant' }),
        },
      },
    },
    async request => ({
      data: await viewsOf(webhooks, await findAllEndpoints(database, await namedAccount(database, request.query))),
    }),
  )
}

function switchEndpointRoute(app: App, webhooks: Deps, action: 'enable' | 'disable'): void {
  const [title, description] = {
    enable: ['Enable an endpoint', 'Also one that its partner has disabled. It goes on where it was.'] as const,
    disable: ['Disable an endpoint', 'Only the operator enables it again.'] as const,
  }[action]
  app.post(
    `/webhook-endpoints/:endpointId/${action}`,
    {
      schema: {
        ...operation('Events', `${action}AnyEndpoint`, title, description),
        params: schemas.EndpointPath,
        response: {
          200: OfAccount,
          ...operatorErrors({
            ...notFound,
            ...(action === 'enable' && { 410: 'Its events are over their retention' }),
          }),
        },
      },
    },
    async request => {
      const { endpointId } = request.params as { endpointId: string }
      const input = { endpointId, by: 'operator', resume: 'position' } as const
      const deps = withOrigin(webhooks, request)
      return viewOf(
        webhooks,
        await (action === 'enable'
          ? endpoints.enableEndpoint(deps, null, input)
          : endpoints.disableEndpoint(deps, null, input)),
      )
    },
  )
}

function rotateAnyEndpointSecretRoute(app: App, webhooks: Deps): void {
  app.post(
    '/webhook-endpoints/:endpointId/rotate-secret',
    {
      config: { ...bodyOptional, ...fresh },
      schema: {
        ...operation(
          'Events',
          'rotateAnyEndpointSecret',
          'Give an endpoint a new secret',
          'Both sign until the overlap ends.',
        ),
        params: schemas.EndpointPath,
        body: schemas.RotateBody,
        response: { 200: schemas.RotatedSecret, ...operatorErrors({ ...mfaNeeded, ...notFound }) },
      },
    },
    async request => {
      const { endpointId } = request.params
      const { rotated } = await endpoints.rotateSecret(withOrigin(webhooks, request), null, {
        endpointId,
        overlapMs: readOverlap(request.body.overlap),
      })
      return rotated
    },
  )
}

function replayAnyEventsRoute(app: App, webhooks: Deps): void {
  app.post(
    '/webhook-endpoints/:endpointId/replay',
    {
      attachValidation: true,
      schema: {
        ...operation('Events', 'replayAnyEvents', 'Send events again', 'Each is a new delivery.'),
        params: schemas.EndpointPath,
        body: schemas.ReplayBody,
        response: {
          202: schemas.ReplayAnswer,
          ...operatorErrors({
            ...notFound,
            409: 'The endpoint is disabled or deleted, or 10 of its replays are unfinished',
          }),
        },
      },
    },
    async (request, reply) => {
      const input = { endpointId: request.params.endpointId, ...readReplay(request.body, schemaErrors(request)) }
      return reply.code(202).send(await replayEvents(withOrigin(webhooks, request), null, input))
    },
  )
}

function readNewestEventsRoute(app: App, webhooks: Deps): void {
  const { database } = webhooks
  app.get(
    '/events',
    {
      schema: {
        ...operation(
          'Events',
          'readNewestEvents',
          'The newest events of a feed',
          'The oldest first. Without an account: the platform’s.',
        ),
        querystring: Type.Object(
          { ...asked, limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'How many' }) },
          closed,
        ),
        response: {
          200: Type.Object({ data: Type.Array(Event, { description: 'Events' }) }, { description: 'Events' }),
          ...operatorErrors({ 404: 'There is no such bank or merchant' }),
        },
      },
    },
    async request => {
      const { limit, ...named } = request.query
      const account: Account = (await namedAccount(database, named)) ?? { type: 'platform', id: platformAccountId }
      return { data: JSON.parse(`[${await readTail(database, account, limit)}]`) }
    },
  )
}

function readEventsStatusRoute(app: App, webhooks: Deps): void {
  const { database } = webhooks
  app.get(
    '/events/status',
    {
      schema: {
        ...operation(
          'Events',
          'readEventsStatus',
          'How far the events have come',
          'What waits for its number, and for its delivery.',
        ),
        response: { 200: Status, ...operatorErrors() },
      },
    },
    () => readEventsStatus(database),
  )
}

function restartFeedsRoute(app: App, webhooks: Deps): void {
  app.post(
    '/events/restart-feeds',
    {
      schema: {
        ...operation(
          'Events',
          'restartFeeds',
          'Begin all feeds anew',
          'After a restore to an earlier time: readers then know.',
        ),
        response: {
          200: Type.Object(
            { feeds: count('How many feeds have begun anew', 12) },
            { title: 'RestartedFeeds', description: 'Feeds' },
          ),
          ...operatorErrors(),
        },
      },
    },
    async request => ({ feeds: await beginFeedsAnew(withOrigin(webhooks, request)) }),
  )
}

const Status = Type.Object(
  {
    lastTickAt: nullable(instant('When events were numbered last; null: never')),
    waiting: count('Statements whose events have no number yet, counted up to 10,000', 0),
    lagSeconds: Type.Number({ description: 'Age of the oldest of them', examples: [0] }),
    endpoints: Type.Object(
      {
        enabled: count('Enabled, and answering', 3),
        failing: count('Enabled, and every attempt fails', 0),
        disabled: count('Disabled', 1),
      },
      { title: 'EndpointCounts', description: 'Endpoints by state' },
    ),
    pending: count('Deliveries that are not finished', 0),
  },
  { title: 'EventsStatus', description: 'How far the events have come' },
)

function accountName({ accountType, accountId }: Endpoint, codes: ReadonlyMap<string, string>): string {
  if (accountType === 'platform') return 'platform'
  return `${accountType === 'bank' ? 'bank' : 'merchant'} ${codes.get(accountId) ?? accountId}`
}
