/**
 * The Partner API below `/partner/v1`: what partners' systems need beyond the cashback and eSIM APIs
 * (contract/partner-api.md).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { AuthenticateDeps } from '../access/request/authenticate.ts'
import { type AuditLogRoutesDeps, auditLogRoutes } from '../audit-log/routes.ts'
import { type PartnerOrderRoutesDeps, partnerOrderRoutes } from '../esim/sold/partner-routes.ts'
import { webhookHeaders, webhooks } from '../events/feed-schemas.ts'
import { type EventRoutesDeps, eventRoutes } from '../events/routes.ts'
import { PartnerError } from '../http/errors.ts'
import { document } from '../http/openapi/operations.ts'
import { authorize } from '../partner/request/authorize.ts'
import { tags } from '../partner/request/documents.ts'
import { type StatementRoutesDeps, statementRoutes } from '../statements/routes.ts'
import { deliveryRoutes } from '../webhooks/delivery-routes.ts'
import { endpointRoutes, type WebhookRoutesDeps } from '../webhooks/endpoint-routes.ts'

export type PartnerRoutesDeps = AuthenticateDeps &
  AuditLogRoutesDeps &
  EventRoutesDeps &
  WebhookRoutesDeps &
  PartnerOrderRoutesDeps &
  StatementRoutesDeps

const groups: readonly FastifyPluginAsyncTypebox<PartnerRoutesDeps>[] = [
  eventRoutes,
  endpointRoutes,
  deliveryRoutes,
  partnerOrderRoutes,
  statementRoutes,
  auditLogRoutes,
]

export const partnerRoutes: FastifyPluginAsyncTypebox<PartnerRoutesDeps> = async (app, deps) => {
  await document(app, {
    title: 'Perkline for partners',
    description:
      'What systems of banks and merchants need beside campaigns and eSIM sales. `x-roles` of an operation tells which roles of which ' +
      'kind of account may call it.\n\n' +
      'Within `v1` this API only grows: new paths, optional parameters, fields of answers, event types, and values of lists that are ' +
      'called open. Ignore what you do not know. A breaking change would get a `v2` beside `v1` for at least 12 months.\n\n' +
      'A webhook is a `POST` of an event to an endpoint of yours. Answer it with 2xx within 15 seconds; anything else is a failure. ' +
      'A failed attempt is repeated after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each 10 % more or less: 10 ' +
      'attempts in all. `Retry-After` of your 429, 502, 503 or 504 makes the wait longer, up to 24 h. The requests follow Standard ' +
      'Webhooks 1.0.0: check `webhook-signature`, and refuse a `webhook-timestamp` that is more than 5 minutes away. The same event ' +
      'may come twice, with the same `webhook-id`.',
    page: '/swagger',
    tags,
    secured: true,
    components: [PartnerError],
    webhooks,
    parameters: webhookHeaders,
  })
  // This plugin already has the prefix; the inner plugin must not add it again.
  await app.register(operations, { ...deps, prefix: '' })
}

/** The operations of the Partner API. They need a token; the documentation at `/swagger` does not. */
const operations: FastifyPluginAsyncTypebox<PartnerRoutesDeps> = async (api, deps) => {
  authorize(api, deps)
  for (const routes of groups) await api.register(routes, { ...deps, prefix: '' })
}
