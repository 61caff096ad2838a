/** The seven operations of the eSIM API, below `/esim/v1`. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type AuthenticateDeps, authenticate, bankOf, isRead } from '../../access/request/authenticate.ts'
import { requireRight } from '../../access/request/callers.ts'
import { callerName } from '../../caller.ts'
import type { Clock } from '../../clock.ts'
import { DomainError } from '../../errors.ts'
import { createSharedText } from '../../http/answer/shared-text.ts'
import { showsBody } from '../../http/answer/shown.ts'
import type { App } from '../../http/app.ts'
import { bodyOptional } from '../../http/input/optional-body.ts'
import { limitRequest, type RateLimiter } from '../../http/limits/rate-limit.ts'
import { document, locationHeader, ref } from '../../http/openapi/operations.ts'
import { mimeType } from '../../text/qr.ts'
import type { Catalogue, MobileOperator } from '../catalogue.ts'
import type { Availability } from './availability.ts'
import { reservationMinutes } from './lifecycle.ts'
import type { Orders } from './operations.ts'
import { outcomeOf, paymentReferenceHeader, readPaymentReference } from './payment-reference.ts'
import * as schemas from './schemas.ts'
import type { Order } from './store.ts'
import { confirmedView, offerView, operatorView, orderView } from './views.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True: the answer contains activation data, so the right to read sales is not enough. */
    showsSecrets?: boolean
  }
}

export type EsimRoutesDeps = AuthenticateDeps & {
  clock: Clock
  catalogue: Catalogue
  orders: Orders
  availability: Availability
  /** null: switched off. */
  rateLimiter: RateLimiter | null
  publicUrl: string
}

const { esimErrors } = schemas
const secured = [{ bearerToken: [] }]

export const esimRoutes: FastifyPluginAsyncTypebox<EsimRoutesDeps> = async (app, deps) => {
  await document(app, {
    title: 'Perkline eSIM sales',
    description:
      `How a bank sells eSIM profiles: show operators and tariffs, reserve a profile for ${reservationMinutes} minutes ` +
      'while the customer pays, confirm, and hand over the activation data. Every request can be retried safely after a lost answer.',
    page: '/swagger',
    tags: [
      { name: 'Catalogue', description: 'Mobile operators and their tariffs' },
      { name: 'Orders', description: 'From the reservation to the activation data' },
    ],
    secured: true,
    components: schemas.esimComponents,
  })

  // This plugin already adds its prefix to all paths, so the inner plugin is registered with an empty prefix.
  await app.register(operations, { ...deps, prefix: '' })
}

/** The operations. They are a separate plugin, because they need a token and the documentation does not. */
const operations: FastifyPluginAsyncTypebox<EsimRoutesDeps> = async (api, deps) => {
  guardRequests(api, deps)
  listOperatorsRoute(api, deps)
  listTariffsRoute(api, deps)
  reserveOrderRoute(api, deps)
  readOrderRoute(api, deps)
  confirmOrderRoute(api, deps)
  readOrderQrRoute(api, deps)
  cancelOrderRoute(api, deps)
}

function listOperatorsRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue } = deps
  const sendOperators = createSharedText((operators: readonly MobileOperator[]) => operators.map(operatorView))
  api.get(
    '/operators',
    {
      schema: {
        operationId: 'listOperators',
        tags: ['Catalogue'],
        summary: 'Mobile operators that the bank may sell',
        description: 'Suspended and withdrawn operators are left out.',
        security: secured,
        response: {
          200: Type.Array(ref(schemas.Operator), { description: 'The operators' }),
          ...esimErrors({ 400: 'The query is invalid' }),
        },
      },
    },
    async (request, reply) => sendOperators(reply, catalogue.operatorsFor(bankOf(request).bankId)),
  )
}

function listTariffsRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue } = deps
  const sendOffer = createSharedText(offerView)
  api.get(
    '/operators/:operatorCode/tariffs',
    {
      schema: {
        operationId: 'listTariffs',
        tags: ['Catalogue'],
        summary: 'Tariffs of one mobile operator',
        description: '`available` holds for this moment: another customer may take the last profile first.',
        security: secured,
        params: schemas.OperatorPath,
        response: {
          200: Type.Array(ref(schemas.Tariff), { description: 'The tariffs' }),
          ...esimErrors({
            400: 'The query is invalid',
            404: 'There is no such operator, or the bank does not sell it',
          }),
        },
      },
    },
    async (request, reply) => {
      const operator = catalogue.operatorFor(bankOf(request).bankId, request.params.operatorCode)
      if (!operator) throw new DomainError('not-found', 'There is no such operator')
      return sendOffer(reply, await deps.availability(operator))
    },
  )
}

function reserveOrderRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue, orders } = deps
  api.post(
    '/orders',
    {
      schema: {
        operationId: 'reserveOrder',
        tags: ['Orders'],
        summary: `Reserve a profile for ${reservationMinutes} minutes`,
        description:
          'A new `externalId` creates an order and reserves one profile. The same `externalId` with the same operator and ' +
          'tariff returns that order as it is now: check its `status`, and use a new `externalId` after `cancelled` or ' +
          '`expired`.',
        security: secured,
        body: schemas.ReserveBody,
        response: {
          200: {
            ...ref(schemas.Order),
            description: 'The order that was created with this `externalId` before, as it is now',
          },
          201: {
            ...ref(schemas.Order),
            description: 'A new order; its profile is reserved until `reservedUntil`',
            headers: locationHeader('/esim/v1/orders/019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'),
          },
          ...esimErrors({
            ...schemas.notForViewers,
            400: 'The body is invalid',
            404: 'There is no such operator or tariff',
            409: 'The externalId was used with another operator or tariff',
            429:
              'Too many requests (`perkline-error-code`: `too-many`): wait `Retry-After` seconds, and twice as long after each ' +
              'further 429. Or the bank has too many open reservations (`too-many-reservations`): confirm or cancel some. ' +
              'Waiting helps only when reservations expire',
            503: 'The tariff cannot be sold now (`perkline-error-code`: `no-stock` or `off-sale`), or the platform is away (`unavailable`)',
          }),
        },
      },
    },
    async (request, reply) => {
      const { order, repeated } = await orders.reserve({
        ...request.body,
        bankId: bankOf(request).bankId,
        caller: callerName(bankOf(request)),
      })
      if (!repeated) reply.header('location', `${api.prefix}/orders/${order.orderId}`)
      return reply.code(repeated ? 200 : 201).send(await viewOf(catalogue, order))
    },
  )
}

function readOrderRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue, orders } = deps
  // The JSON text is cached for each order object. Reading an order returns a new object when the order has changed.
  const sendOrder = createSharedText(orderView)
  api.get(
    '/orders/:orderId',
    {
      schema: {
        operationId: 'readOrder',
        tags: ['Orders'],
        summary: 'An order without its activation secrets',
        description: 'Shows, for example, whether a confirm whose answer was lost was carried out.',
        security: secured,
        params: schemas.OrderPath,
        response: {
          200: { ...ref(schemas.Order), description: 'The order' },
          ...esimErrors({ 400: 'The orderId is not a UUID', 404: 'There is no such order of this bank' }),
        },
      },
    },
    async (request, reply) => {
      const order = await orders.read(keyOf(request))
      return sendOrder(reply, order, await catalogue.tariffOf(order.tariffId))
    },
  )
}

function confirmOrderRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue, orders } = deps
  api.post(
    '/orders/:orderId/confirm',
    {
      config: bodyOptional,
      schema: {
        operationId: 'confirmOrder',
        tags: ['Orders'],
        summary: 'Confirm the payment and get the activation data',
        description:
          'Call it once the customer has paid. A repeated call returns the same data and sends no second e-mail. In ' +
          '`qr_email` mode the header `x-email-delivery` shows what happened to the e-mail: `sent`, `already-sent`, ' +
          '`unknown` (it may have ' +
          'arrived, and is not sent again) or `failed` (repeat the confirm with the address to try again). A confirm never ' +
          'fails because of the e-mail.',
        security: secured,
        params: schemas.OrderPath,
        headers: schemas.ConfirmHeaders,
        body: schemas.ConfirmBody,
        response: {
          200: {
            ...ref(schemas.Confirmation),
            description: 'The activation data',
            headers: {
              'x-email-delivery': schemas.EmailDelivery,
              [paymentReferenceHeader]: schemas.PaymentReferenceOutcome,
            },
          },
          ...esimErrors({
            ...schemas.notForViewers,
            400: 'The body is invalid, or `customerEmail` is missing in `qr_email` mode',
            404: 'There is no such order of this bank',
            409: 'The order is cancelled or expired',
          }),
        },
      },
    },
    async (request, reply) => {
      const { customerEmail } = request.body
      const header = request.headers[paymentReferenceHeader]
      const paymentReference = readPaymentReference(header)
      const confirmed = await orders.confirm({ ...actingOn(request), customerEmail, paymentReference })
      if (header !== undefined) reply.header(paymentReferenceHeader, outcomeOf(paymentReference, confirmed.order))
      const tariff = await catalogue.tariffOf(confirmed.order.tariffId)
      if (confirmed.emailDelivery) reply.header('x-email-delivery', confirmed.emailDelivery)
      return reply.code(200).send(confirmedView(confirmed, tariff, deps.publicUrl))
    },
  )
}

function readOrderQrRoute(api: App, deps: EsimRoutesDeps): void {
  const { orders } = deps
  api.get(
    '/orders/:orderId/qr',
    {
      config: { showsSecrets: true },
      schema: {
        operationId: 'readOrderQr',
        tags: ['Orders'],
        summary: 'The activation code as a QR code',
        description:
          'A PNG of 512x512 pixels with a quiet zone, or the same picture as base64 in JSON. By default the answer is the PNG: read it ' +
          'as binary data. A generated client may expect JSON from every answer; then ask for `format=base64`.',
        security: secured,
        params: schemas.OrderPath,
        querystring: schemas.QrQuery,
        response: {
          200: {
            description: 'The picture',
            content: {
              'image/png': {
                schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary', contentMediaType: 'image/png' }),
              },
              'application/json': { schema: ref(schemas.QrBase64) },
            },
          },
          ...esimErrors({
            ...schemas.notForViewers,
            400: 'The orderId is not a UUID, or the format is unknown',
            404: 'There is no such order of this bank',
            409: 'The order is not confirmed',
          }),
        },
      },
    },
    async (request, reply) => {
      const png = await orders.qr({ ...actingOn(request), isShown: showsBody(request) })
      if (request.query.format === 'base64') {
        reply.type('application/json; charset=utf-8')
        return reply.send({ mimeType, base64: png.toString('base64') })
      }
      return reply.type(mimeType).send(png)
    },
  )
}

function cancelOrderRoute(api: App, deps: EsimRoutesDeps): void {
  const { catalogue, orders } = deps
  api.post(
    '/orders/:orderId/cancel',
    {
      schema: {
        operationId: 'cancelOrder',
        tags: ['Orders'],
        summary: 'Cancel an unpaid order',
        description: 'Its profile is free again at once. A repeated call returns the same answer.',
        security: secured,
        params: schemas.OrderPath,
        response: {
          200: { ...ref(schemas.Order), description: 'The cancelled order' },
          ...esimErrors({
            ...schemas.notForViewers,
            400: 'The orderId is not a UUID, or the body is not empty',
            404: 'There is no such order of this bank',
            409: 'The order is confirmed or expired',
          }),
        },
      },
    },
    async request => viewOf(catalogue, await orders.cancel(actingOn(request))),
  )
}

const viewOf = async (catalogue: Catalogue, order: Order) => orderView(order, await catalogue.tariffOf(order.tariffId))

/**
 * Adds hooks that run before every operation. They authenticate the caller, refuse what the caller's role does not
 * allow, and count the request against the bank's rate limit.
 */
function guardRequests(api: FastifyInstance, deps: EsimRoutesDeps): void {
  const { rateLimiter } = deps
  authenticate(api, deps)
  api.addHook('onRequest', (request, _, done) => {
    const bank = bankOf(request)
    const isPlainRead = isRead(request) && !request.routeOptions.config.showsSecrets
    requireRight(bank, isPlainRead ? 'readSales' : bank.userType === 'gateway_user' ? 'sellAsSystem' : 'sell')
    done()
  })
  if (!rateLimiter) return
  api.addHook('onRequest', (request, reply) =>
    limitRequest(reply, rateLimiter, { key: bankOf(request).bankId, holder: 'bank' }),
  )
}

const keyOf = (request: Parameters<typeof bankOf>[0]) => ({
  bankId: bankOf(request).bankId,
  orderId: (request.params as { orderId: string }).orderId,
})

const actingOn = (request: Parameters<typeof bankOf>[0]) => ({
  ...keyOf(request),
  caller: callerName(bankOf(request)),
})
