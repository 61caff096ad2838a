/** eSIM orders of all banks, for the operator who helps one of them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { EntryDeps } from '../audit-log/batched-entries.ts'
import { originOf } from '../audit-log/request/origin.ts'
import {
  exactParameter,
  nextCursor,
  orderSearchParameters,
  ProfileSearch,
  pageParameters,
  shownOrder,
  stated,
  timeline,
} from '../esim/sold/order-schemas.ts'
import { maxFound, profileSearchOf, searchOf } from '../esim/sold/order-search.ts'
import { findOrders } from '../esim/sold/order-store.ts'
import { readTimeline } from '../esim/sold/order-timeline.ts'
import { operatorOrderView, orderPage, timelineOf } from '../esim/sold/order-views.ts'
import type { ShownOrder } from '../esim/sold/shown-order.ts'
import type { StockDeps } from '../esim/stock/operations.ts'
import { showsBody } from '../http/answer/shown.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { text, uuid } from '../http/schemas.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

const OrdersQuery = Type.Object(
  {
    bank: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Code of the bank', examples: ['alpha'] }),
    ),
    ...orderSearchParameters,
    ...exactParameter,
    ...pageParameters,
  },
  closed,
)

const BankReference = Type.Object(
  { id: uuid('The bank'), code: text('Its code', 'alpha'), name: text('Its name', 'Alpha Bank') },
  { title: 'BankReference', description: 'The bank' },
)

const order = {
  bank: BankReference,
  ...shownOrder,
  ...stated,
}
const OrdersPage = Type.Object(
  { data: Type.Array(Type.Object(order), { description: 'Newest first' }), nextCursor },
  { description: 'The orders' },
)
const OrderWithTimeline = Type.Object(
  {
    ...order,
    timeline,
  },
  { description: 'The order' },
)
const OrderPath = Type.Object({ orderId: uuid('The order', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11') })

export const orderAdminRoutes: FastifyPluginAsyncTypebox<StockDeps & ReadDeps & EntryDeps> = async (
  app,
  { pageReads, clock, sealing, batchedEntries },
) => {
  /** Records that the operator has read an order. */
  const recordRead = (request: FastifyRequest, { orderId, bankId }: ShownOrder) =>
    batchedEntries.write(originOf(request), {
      action: 'order.read',
      object: { type: 'order', id: orderId },
      owner: { type: 'bank', id: bankId },
    })

  app.get(
    '/orders',
    {
      schema: {
        ...operation(
          'Orders',
          'findAllOrders',
          'Find eSIM orders of all banks',
          'Newest first, without installation secrets; statuses are as of now.',
        ),
        querystring: OrdersQuery,
        response: { 200: OrdersPage, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const { limit, cursor = null, ...asked } = request.query
      const [search, page] = [searchOf(asked), { after: cursor, limit: limit + 1 }]
      const orders = await pageReads.read(request, reply, database => findOrders(database, search, page, clock.now()))
      if (showsBody(request)) {
        const named = orders.slice(0, limit).filter(order => isNamed(order, asked))
        await Promise.all(named.map(order => recordRead(request, order)))
      }
      return orderPage(orders, limit, operatorOrderView)
    },
  )

  app.post(
    '/orders/search',
    {
      config: { isSearch: true },
      schema: {
        ...operation(
          'Orders',
          'searchAnyOrderByProfile',
          'Find an eSIM order by number or ICCID',
          'The order, of any bank, that is reserved or sold with this profile now. Exact only; neither the number nor the ' +
            'ICCID is logged.',
        ),
        body: ProfileSearch,
        response: { 200: OrdersPage, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const [search, page] = [profileSearchOf(sealing, request.body), { after: null, limit: maxFound }]
      const orders = await pageReads.read(request, reply, database => findOrders(database, search, page, clock.now()))
      await Promise.all(orders.map(order => recordRead(request, order)))
      return orderPage(orders, maxFound, operatorOrderView)
    },
  )

  app.get(
    '/orders/:orderId',
    {
      schema: {
        ...operation('Orders', 'readAnyOrder', 'One eSIM order with its history', 'Without installation secrets.'),
        params: OrderPath,
        response: { 200: OrderWithTimeline, ...operatorErrors({ 404: 'There is no such order' }) },
      },
    },
    async (request, reply) => {
      const search = searchOf({ orderId: request.params.orderId })
      const found = await pageReads.read(request, reply, database => readTimeline(database, search, clock.now()))
      if (showsBody(request)) await recordRead(request, found.order)
      return { ...operatorOrderView(found.order), timeline: timelineOf(found.order, found.reads, found.logins) }
    },
  )
}

/** Whether a search asks for this order by its whole id. Then its answer is a read of one order, and not of a list. */
const isNamed = (order: ShownOrder, asked: { orderId?: string; externalId?: string }): boolean =>
  asked.orderId !== undefined || asked.externalId === order.externalId
