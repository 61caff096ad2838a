/** A bank's orders for its back office (contract/partner-orders.md). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import type { Clock } from '../../clock.ts'
import { downloadHeaders } from '../../http/answer/download.ts'
import { sendLong } from '../../http/answer/long-answer.ts'
import { createSharedText } from '../../http/answer/shared-text.ts'
import type { App } from '../../http/app.ts'
import { schemaErrors } from '../../http/input/schema-errors.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import { orderReaders } from '../../partner/allowed-roles.ts'
import { finitePage, growingPage, type KeyKind, type Position, readCursor } from '../../partner/lists.ts'
import { callerAccount } from '../../partner/request/authorize.ts'
import { operation, partnerErrors } from '../../partner/request/documents.ts'
import { aboutCsvCells } from '../../text/csv-cell.ts'
import { listSearchOf, requireSpans } from './list-search.ts'
import { isAscending, type OrderPosition, type OrderSort, settledSeconds } from './order-list-sql.ts'
import type { OrderLookUp } from './order-look-up.ts'
import { listOrders } from './order-store.ts'
import { readStoredTimeline } from './order-timeline.ts'
import { type OrderFileDeps, openOrderFile, orderFileColumns } from './partner-order-csv.ts'
import * as schemas from './partner-schemas.ts'
import { partnerOrderView, partnerTimelineOf } from './partner-views.ts'
import { OrderPath } from './schemas.ts'
import type { ShownOrder } from './shown-order.ts'

export type PartnerOrderRoutesDeps = ReadDeps &
  Pick<OrderFileDeps, 'database'> & { clock: Clock; orderLookUp: OrderLookUp }

const createSendOrder = () => createSharedText(partnerOrderView)
type SendOrder = ReturnType<typeof createSendOrder>

const notFound = { 404: 'The bank has no such order' }

const head = (operationId: string, summary: string, description: string) =>
  operation('Orders', orderReaders, { operationId, summary, description })

export const partnerOrderRoutes: FastifyPluginAsyncTypebox<PartnerOrderRoutesDeps> = async (app, deps) => {
  // The routes share one cache of JSON texts, one for each order object. `OrderLookUp` returns a new object when an
  // order has changed.
  const sendOrder = createSendOrder()
  listOrdersRoute(app, deps)
  findOrderByExternalIdRoute(app, deps, sendOrder)
  readPartnerOrderRoute(app, deps, sendOrder)
  readOrderTimelineRoute(app, deps)
  exportPartnerOrdersRoute(app, deps)
}

function listOrdersRoute(app: App, deps: PartnerOrderRoutesDeps): void {
  const { clock, pageReads } = deps
  app.get(
    '/orders',
    {
      schema: {
        ...head(
          'listOrders',
          'Orders of the bank',
          `An ascending list ends ${settledSeconds} seconds ago, so that it does not pass over an order that is still being written. A program that ` +
            'reads upwards by `createdAt`, and continues later from its last cursor, sees each order once.',
        ),
        querystring: schemas.OrderListQuery,
        response: { 200: schemas.OrderList, ...partnerErrors() },
      },
      preValidation: splitStatuses,
      attachValidation: true,
    },
    async (request, reply) => {
      requireSpans(request.query, schemaErrors(request, 'querystring'))
      const { limit, cursor, sort, ...filters } = request.query
      const scope = { list: 'orders', account: callerAccount(request), filters, sort }
      const from = readCursor(scope, cursor, kindsOf(sort))
      const search = listSearchOf(request.query, bankOf(request).bankId, clock.now())
      const isUp = isAscending(sort)
      const page = { after: positionOf(sort, from), limit: isUp ? limit : limit + 1 }
      const orders = await pageReads.read(request, reply, database => listOrders(database, { ...search, ...page }))
      const rows = { scope, limit, positionOf: keyOf(sort) }
      const shown = isUp
        ? growingPage(orders, { ...rows, from: from ?? [] }, partnerOrderView)
        : finitePage(orders, rows, partnerOrderView)
      return { ...shown, asOf: search.asOf.toISOString() }
    },
  )
}

function findOrderByExternalIdRoute(app: App, deps: PartnerOrderRoutesDeps, sendOrder: SendOrder): void {
  const { orderLookUp } = deps
  app.get(
    '/orders/by-external-id',
    {
      schema: {
        ...head(
          'findOrderByExternalId',
          'The order with an externalId',
          'Shows whether an order was made when the answer was lost. Repeating `POST /esim/v1/orders` would make the order if it is missing.',
        ),
        querystring: schemas.ExternalIdQuery,
        response: { 200: schemas.PartnerOrder, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => {
      const name = { bankId: bankOf(request).bankId, name: request.query.externalId }
      return sendOrder(reply, await orderLookUp.byExternalId(name))
    },
  )
}

function readPartnerOrderRoute(app: App, deps: PartnerOrderRoutesDeps, sendOrder: SendOrder): void {
  const { orderLookUp } = deps
  app.get(
    '/orders/:orderId',
    {
      schema: {
        ...head('readPartnerOrder', 'One order', 'As it is now, without installation secrets.'),
        params: OrderPath,
        response: { 200: schemas.PartnerOrder, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => sendOrder(reply, await orderLookUp.byId(nameOf(request))),
  )
}

function readOrderTimelineRoute(app: App, deps: PartnerOrderRoutesDeps): void {
  const { pageReads, orderLookUp } = deps
  app.get(
    '/orders/:orderId/timeline',
    {
      schema: {
        ...head(
          'readOrderTimeline',
          'What happened to an order',
          'Oldest first, with who did it, and who read the activation data again. Never with the customer’s address.',
        ),
        params: OrderPath,
        response: { 200: schemas.OrderTimeline, ...partnerErrors(notFound) },
      },
    },
    async (request, reply) => {
      const name = nameOf(request)
      // The look-up marks an order whose time is over, so that no answer shows it as expired before that.
      await orderLookUp.byId(name)
      const found = await pageReads.read(request, reply, database => readStoredTimeline(database, name))
      return { data: partnerTimelineOf(found.order, found.reads, found.logins) }
    },
  )
}

function exportPartnerOrdersRoute(app: App, deps: PartnerOrderRoutesDeps): void {
  const { clock, costlyReads } = deps
  app.get(
    '/orders.csv',
    {
      schema: {
        ...head(
          'exportPartnerOrders',
          'Orders as a CSV file',
          'All orders that match the filters, newest first, as they are at one moment: RFC 4180, UTF-8, lines end with CRLF, with a ' +
            `header. Columns: ${orderFileColumns.join(', ')}. They have the values of the list; the last three are its ` +
            `\`statement\`. It is for people: ${aboutCsvCells}`,
        ),
        querystring: schemas.OrderFileQuery,
        response: {
          200: {
            description: 'The file',
            content: { 'text/csv': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
            headers: {
              'content-disposition': {
                type: 'string',
                description: 'Name of the file',
                examples: ['attachment; filename="orders.csv"'],
              },
            },
          },
          ...partnerErrors(),
        },
      },
      preValidation: splitStatuses,
      attachValidation: true,
    },
    async (request, reply) => {
      requireSpans(request.query, schemaErrors(request, 'querystring'))
      const search = listSearchOf(request.query, bankOf(request).bankId, clock.now())
      const { aside, signal } = await costlyReads.beginFile(request, reply)
      const writeTo = await openOrderFile({ database: deps.database, aside }, search, signal)
      reply.headers(downloadHeaders('orders.csv'))
      sendLong(request, reply, { encoding: 'identity', writeTo })
      return reply
    },
  )
}

/** Converts the query to the form of the schema: statuses may be repeated, or separated by commas. */
function splitStatuses(request: FastifyRequest, _reply: unknown, done: () => void): void {
  const { status, ...others } = request.query as Record<string, unknown>
  if (status !== undefined)
    request.query = { ...others, status: [status].flat().flatMap(text => String(text).split(',')) }
  done()
}

const nameOf = (request: FastifyRequest) => ({
  bankId: bankOf(request).bankId,
  name: (request.params as { orderId: string }).orderId,
})

const kindsOf = (sort: OrderSort): readonly KeyKind[] => (sort.endsWith('confirmedAt') ? ['time', 'id'] : ['id'])

const keyOf =
  (sort: OrderSort) =>
  ({ orderId, confirmedAt }: ShownOrder): Position =>
    sort.endsWith('confirmedAt') && confirmedAt ? [confirmedAt.toISOString(), orderId] : [orderId]

function positionOf(sort: OrderSort, position: Position | null): OrderPosition | null {
  if (position === null || position.length === 0) return null
  const [first, second] = position.map(String)
  return sort.endsWith('confirmedAt')
    ? { confirmedAt: first ?? null, orderId: second ?? '' }
    : { confirmedAt: null, orderId: first ?? '' }
}
