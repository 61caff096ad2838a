/** Routes of `/webhook-deliveries` (contract/webhooks.md, "The log"). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { withOrigin } from '../audit-log/request/origin.ts'
import { testType, typesOf } from '../events/catalogue.ts'
import { requireTypeFilters } from '../events/type-filters.ts'
import { requireForm } from '../form-errors.ts'
import type { App } from '../http/app.ts'
import { idempotent } from '../http/idempotency-key.ts'
import { schemaErrors } from '../http/input/schema-errors.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import { integrationAdmins, integrationReaders } from '../partner/allowed-roles.ts'
import { readCursor, writeCursor } from '../partner/lists.ts'
import { callerAccount } from '../partner/request/authorize.ts'
import { operation, partnerErrors } from '../partner/request/documents.ts'
import { readFromTo } from '../text/span.ts'
import { readDelivery, retryDelivery, skipDelivery } from './deliveries.ts'
import type { WebhookRoutesDeps } from './endpoint-routes.ts'
import { findDeliveries } from './log-store.ts'
import * as schemas from './schemas.ts'
import { deliveryView } from './views.ts'

const notFound = { 404: 'The account has no such delivery' }

type Deps = WebhookRoutesDeps['webhooks']

export const deliveryRoutes: FastifyPluginAsyncTypebox<WebhookRoutesDeps> = async (app, { webhooks: deps }) => {
  listDeliveriesRoute(app, deps)
  readDeliveryRoute(app, deps)
  retryDeliveryRoute(app, deps)
  skipDeliveryRoute(app, deps)
}

function listDeliveriesRoute(app: App, deps: Deps): void {
  app.get(
    '/webhook-deliveries',
    {
      attachValidation: true,
      schema: {
        ...operation('Webhooks', integrationReaders, {
          operationId: 'listDeliveries',
          summary: 'Deliveries and their outcomes',
          description:
            'Newest first. With filters that no index serves, one answer looks at 10,000 deliveries at most: it may be short or empty, ' +
            'and still have a `nextCursor`.',
        }),
        querystring: schemas.DeliveriesQuery,
        response: { 200: schemas.DeliveriesPage, ...partnerErrors() },
      },
    },
    async request => {
      const { limit, cursor, ...filters } = request.query
      requireForm(schemaErrors(request, 'querystring'), [
        [['from', 'to'], () => readFromTo(filters)],
        [['type'], () => readTypes(filters.type)],
      ])
      const { from, until } = readFromTo(filters)
      const account = callerAccount(request)
      const scope = { list: 'webhook-deliveries', account, filters }
      const [before = null] = readCursor(scope, cursor, ['id']) ?? []
      const page = await findDeliveries(
        deps.database,
        account,
        { ...filters, types: readTypes(filters.type), from: from ?? undefined, to: until ?? undefined },
        { before: before === null ? null : String(before), limit },
      )
      return {
        data: page.deliveries.map(deliveryView),
        nextCursor: page.next === null ? null : writeCursor(scope, [page.next]),
      }
    },
  )
}

function readDeliveryRoute(app: App, deps: Deps): void {
  app.get(
    '/webhook-deliveries/:deliveryId',
    {
      schema: {
        ...operation('Webhooks', integrationReaders, {
          operationId: 'readDelivery',
          summary: 'One delivery',
          description: 'With all its attempts.',
        }),
        params: schemas.DeliveryPath,
        response: { 200: schemas.Delivery, ...partnerErrors(notFound) },
      },
    },
    async request => deliveryView(await readDelivery(deps.database, callerAccount(request), request.params.deliveryId)),
  )
}

function retryDeliveryRoute(app: App, deps: Deps): void {
  app.post(
    '/webhook-deliveries/:deliveryId/retry',
    {
      config: { ...idempotent },
      schema: {
        ...operation('Webhooks', integrationAdmins, {
          operationId: 'retryDelivery',
          summary: 'Try a delivery now',
          description:
            'Also a delivery that has failed or was delivered, as long as fewer than 1,000 deliveries of its endpoint are unfinished ' +
            '(else 409, `limit-reached`). The count of attempts continues.',
        }),
        params: schemas.DeliveryPath,
        response: {
          202: schemas.Delivery,
          ...partnerErrors({
            ...notFound,
            409: 'The endpoint is disabled or deleted, the delivery is a test, or it had ended and 1,000 others are unfinished',
          }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 202 }, async own =>
        deliveryView(await retryDelivery(own, callerAccount(request), request.params.deliveryId)),
      ) as never,
  )
}

function skipDeliveryRoute(app: App, deps: Deps): void {
  app.post(
    '/webhook-deliveries/:deliveryId/skip',
    {
      config: { ...idempotent },
      schema: {
        ...operation('Webhooks', integrationAdmins, {
          operationId: 'skipDelivery',
          summary: 'Give a delivery up',
          description: 'At a serial endpoint, the next delivery follows. A repeated call changes nothing.',
        }),
        params: schemas.DeliveryPath,
        response: { 200: schemas.Delivery, ...partnerErrors({ ...notFound, 409: 'It was delivered or has failed' }) },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps: withOrigin(deps, request), status: 200 }, async own =>
        deliveryView(await skipDelivery(own, callerAccount(request), request.params.deliveryId)),
      ) as never,
  )
}

/** @throws DomainError 'invalid' for a text that is neither a type nor a group of types */
function readTypes(filter: string | undefined): string[] | undefined {
  if (filter === undefined) return undefined
  if (filter === testType) return [filter]
  requireTypeFilters([filter], () => 'type')
  return typesOf([filter])
}
