/** The routes of eSIM sales for a bank's people, below `/portal/esim`. They need the right to read sales. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type AuthenticateDeps, authenticate, bankOf } from '../../access/request/authenticate.ts'
import { requireRight } from '../../access/request/callers.ts'
import { downloadHeaders } from '../../http/answer/download.ts'
import { sendPieces } from '../../http/answer/long-answer.ts'
import type { App } from '../../http/app.ts'
import type { ReadDeps } from '../../http/limits/costly-reads.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import { aboutCsvCells } from '../../text/csv-cell.ts'
import type { Catalogue } from '../catalogue.ts'
import type { Availability } from '../orders/availability.ts'
import { offerView, operatorView } from '../orders/views.ts'
import type { Sealing } from '../stock/sealing.ts'
import { OrdersExportQuery, OrdersQuery, ProfileSearch } from './order-schemas.ts'
import { maxFound, profileSearchOf, searchOf } from './order-search.ts'
import { findOrders } from './order-store.ts'
import { readTimeline } from './order-timeline.ts'
import { orderPage, shownOrderView, timelineOf } from './order-views.ts'
import { type OrdersCsvDeps, ordersCsv, portalOrderColumns } from './portal-order-csv-views.ts'
import { readSales, type SalesDeps } from './sales.ts'
import { OrderPath, OrdersPage, OrderWithTimeline, Sales, SalesQuery, Stock } from './schemas.ts'

export type PortalEsimDeps = AuthenticateDeps &
  ReadDeps &
  SalesDeps &
  OrdersCsvDeps & { catalogue: Catalogue; availability: Availability; sealing: Sealing }

const common = { tags: ['Portal'], security: secured }
const errors = cashbackErrors({ 400: 'The query is invalid', 403: 'The caller is not a bank' })

export const portalEsimRoutes: FastifyPluginAsyncTypebox<PortalEsimDeps> = async (app, deps) => {
  authenticate(app, deps)
  app.addHook('onRequest', async request => {
    requireRight(bankOf(request), 'readSales')
  })
  findOrdersRoute(app, deps)
  searchOrderByProfileRoute(app, deps)
  readPortalOrderRoute(app, deps)
  exportOrdersRoute(app, deps)
  readSalesRoute(app, deps)
  readStockRoute(app, deps)
}

function findOrdersRoute(app: App, deps: PortalEsimDeps): void {
  const { clock, pageReads } = deps
  app.get(
    '/esim/orders',
    {
      schema: {
        ...common,
        operationId: 'findOrders',
        summary: 'Find eSIM orders',
        description:
          'The bank’s own orders, newest first, without installation secrets. Statuses are as of now. Pages follow one another ' +
          'by `nextCursor`: what is sold meanwhile shifts nothing.',
        querystring: OrdersQuery,
        response: { 200: OrdersPage, ...errors },
      },
    },
    async (request, reply) => {
      const { limit, cursor = null, ...search } = request.query
      const page = { after: cursor, limit: limit + 1 }
      const asked = searchOf(search, bankOf(request))
      const orders = await pageReads.read(request, reply, database => findOrders(database, asked, page, clock.now()))
      return orderPage(orders, limit, shownOrderView)
    },
  )
}

function searchOrderByProfileRoute(app: App, deps: PortalEsimDeps): void {
  const { clock, pageReads } = deps
  app.post(
    '/esim/orders/search',
    {
      schema: {
        ...common,
        operationId: 'searchOrderByProfile',
        summary: 'Find an eSIM order by number or ICCID',
        description:
          'The bank’s own order that is reserved or sold with this profile now. Exact only; neither the number nor the ' +
          'ICCID is logged.',
        body: ProfileSearch,
        response: { 200: OrdersPage, ...errors },
      },
    },
    async (request, reply) => {
      const search = profileSearchOf(deps.sealing, request.body, bankOf(request))
      const page = { after: null, limit: maxFound }
      const orders = await pageReads.read(request, reply, database => findOrders(database, search, page, clock.now()))
      return orderPage(orders, maxFound, shownOrderView)
    },
  )
}

function readPortalOrderRoute(app: App, deps: PortalEsimDeps): void {
  const { clock, pageReads } = deps
  app.get(
    '/esim/orders/:orderId',
    {
      schema: {
        ...common,
        operationId: 'readPortalOrder',
        summary: 'One eSIM order with its history',
        description: 'The history names who has read the activation data. Without installation secrets.',
        params: OrderPath,
        response: {
          200: OrderWithTimeline,
          ...cashbackErrors({
            400: 'The orderId is not a UUID',
            403: 'The caller is not a bank',
            404: 'The bank has no such order',
          }),
        },
      },
    },
    async (request, reply) => {
      const search = searchOf({ orderId: request.params.orderId }, bankOf(request))
      const found = await pageReads.read(request, reply, database => readTimeline(database, search, clock.now()))
      return { ...shownOrderView(found.order), timeline: timelineOf(found.order, found.reads, found.logins) }
    },
  )
}

function exportOrdersRoute(app: App, deps: PortalEsimDeps): void {
  const { clock, costlyReads } = deps
  app.get(
    '/esim/orders.csv',
    {
      schema: {
        ...common,
        operationId: 'exportOrders',
        summary: 'eSIM orders as a CSV file',
        description:
          'Everything that the search finds, newest first, in one file: RFC 4180, UTF-8 with a byte order mark, lines end with CRLF, with ' +
          `a header. Columns: ${portalOrderColumns.join(', ')}. They have the values of the search; \`statement\` is only in \`GET ` +
          `/partner/v1/orders.csv\`. It is for people: ${aboutCsvCells}`,
        querystring: OrdersExportQuery,
        response: {
          200: {
            description: 'The file',
            content: { 'text/csv': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
          },
          ...errors,
        },
      },
    },
    async (request, reply) => {
      const search = searchOf(request.query, bankOf(request))
      const file = await costlyReads.beginFile(request, reply)
      const orders = ordersCsv({ database: deps.database, ...file }, search, clock.now())
      return reply.headers(downloadHeaders('esim-orders.csv')).send(orders)
    },
  )
}

function readSalesRoute(app: App, deps: PortalEsimDeps): void {
  const { clock, costlyReads, findSalesDays } = deps
  app.get(
    '/esim/sales',
    {
      schema: {
        ...common,
        operationId: 'readSales',
        summary: 'What was sold, by day and tariff',
        description:
          'Counts orders on the day on which they came to their end: confirmed, cancelled by the bank, or expired unpaid. Days ' +
          'are those of the bank’s statements, also for sales that a later statement tells as late.',
        querystring: SalesQuery,
        response: { 200: Sales, ...errors },
      },
    },
    async (request, reply) => {
      const asked = { bankId: bankOf(request).bankId, ...request.query }
      const texts = await costlyReads.read(request, reply, database =>
        readSales({ database, clock, findSalesDays }, asked),
      )
      return sendPieces(request, reply, texts)
    },
  )
}

function readStockRoute(app: App, deps: PortalEsimDeps): void {
  const { catalogue, availability } = deps
  app.get(
    '/esim/stock',
    {
      schema: {
        ...common,
        operationId: 'readStock',
        summary: 'Mobile operators and tariffs that the bank may sell',
        description: 'As the catalogue shows them: `available` is as of this moment.',
        response: { 200: Stock, ...errors },
      },
    },
    async request =>
      Promise.all(
        catalogue.operatorsFor(bankOf(request).bankId).map(async operator => ({
          ...operatorView(operator),
          tariffs: offerView(await availability(operator)),
        })),
      ),
  )
}
