/** Schemas of orders in the Partner API. */
import Type from 'typebox'
import { nullable } from '../../http/openapi/operations.ts'
import { closed, count, instant, text, uuid } from '../../http/schemas.ts'
import { listParameters } from '../../partner/lists.ts'
import { betweenParameters } from '../../text/span.ts'
import { orderStatuses } from '../orders/lifecycle.ts'
import { orderSorts, settledSeconds } from './order-list-sql.ts'
import { inQuery, shownOrder, stated } from './order-schemas.ts'
import { type TimelineEntry, timelineActors, timelineEvents } from './partner-views.ts'

const code = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })
const externalId = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 128,
    description: inQuery(description),
    examples: ['payment-20261121-000042'],
  })

const filters = {
  externalId: Type.Optional(externalId('Exactly this identifier, byte by byte')),
  status: Type.Optional(
    Type.Array(Type.Enum([...orderStatuses], { title: 'OrderStatus' }), {
      minItems: 1,
      maxItems: 100,
      description: 'Orders with one of these statuses, as of now; repeated, or with commas',
      examples: [['confirmed']],
    }),
  ),
  operatorCode: Type.Optional(code('Mobile operator, exactly', 'kyivstar')),
  tariffCode: Type.Optional(code('Tariff, exactly', 'eu-10gb')),
  ...betweenParameters('created', 'made'),
  ...betweenParameters('confirmed', 'confirmed'),
  ...betweenParameters('ended', 'confirmed, cancelled, or expired'),
}

export const OrderListQuery = Type.Object(
  {
    ...filters,
    sort: Type.Enum([...orderSorts], {
      title: 'OrderSort',
      default: '-createdAt',
      description:
        '`-`: newest first. By `confirmedAt` only confirmed orders are listed. Orders of the same instant are sorted by orderId',
    }),
    ...listParameters,
  },
  closed,
)
export const OrderFileQuery = Type.Object(filters, closed)
export const ExternalIdQuery = Type.Object(
  { externalId: externalId('The bank’s own identifier, byte by byte') },
  closed,
)

const decimal = (description: string, example: string) => text(`${description}: a decimal with 2 places`, example)

const Order = Type.Object(
  {
    orderId: shownOrder.orderId,
    externalId: shownOrder.externalId,
    operatorCode: shownOrder.operatorCode,
    tariffCode: shownOrder.tariffCode,
    status: shownOrder.status,
    msisdn: shownOrder.msisdn,
    reservedUntil: nullable(instant('End of the reservation; null once confirmed or cancelled')),
    createdAt: shownOrder.createdAt,
    confirmedAt: shownOrder.confirmedAt,
    price: decimal('Price at the reservation', '399.00'),
    currency: shownOrder.currency,
    endedAt: nullable(instant('When it was confirmed or cancelled, or expired', '2026-11-21T08:05:00.000Z')),
    cancelledAt: shownOrder.cancelledAt,
    deliveryMode: shownOrder.deliveryMode,
    emailDelivery: shownOrder.emailDelivery,
    ...stated,
  },
  { title: 'PartnerOrder', description: 'An order without its installation secrets' },
)
export const PartnerOrder = Order

export const OrderList = Type.Object(
  {
    data: Type.Array(Order, { description: 'The orders, in the order of `sort`' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description:
        'Send it as `cursor` to get the next page. Newest first, null means the last page. In an ascending list it is never null: ' +
        'fewer orders than `limit` mean the end at this moment, and you continue later from this cursor',
      examples: ['WyIwMTlhYTVhMiJd.Vf8mRz1xq0kQy1aJ'],
    }),
    asOf: instant(
      `The instant of the list: now, or ${settledSeconds} seconds ago for an ascending list`,
      '2026-11-21T08:05:00.000Z',
    ),
  },
  { description: 'Orders of the bank' },
)

export const OrderTimeline = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          at: instant('When', '2026-11-21T08:00:00.000Z'),
          event: Type.Enum([...timelineEvents], {
            title: 'TimelineEvent',
            description:
              'email_…: the present state of the QR e-mail; confirm_repeated, qr_read: the first time that this caller read the ' +
              'activation data again; stated: the closing of its statement. New values may be added',
          }),
          by: Type.Union(
            [
              Type.Object(
                {
                  type: Type.Enum([...timelineActors], { title: 'TimelineActorKind', description: 'Kind of actor' }),
                  id: nullable(text('The clientId of a system, the login of a person; null: none', 'pk_sample_alpha')),
                },
                { title: 'TimelineActor' },
              ),
              Type.Null(),
            ],
            { description: 'Who; null: unknown, because callers were not recorded yet' },
          ),
          detail: Type.Unsafe<TimelineEntry['detail']>(
            Type.Object(
              {
                count: Type.Optional(count('How often this caller did so', 2)),
                lastAt: Type.Optional(instant('The last time', '2026-11-21T08:05:00.000Z')),
                statementId: Type.Optional(uuid('The statement', '5d0f8c1e-2a74-4f0b-9a15-6c3e7d9b8f20')),
                number: Type.Optional(
                  Type.Integer({ minimum: 1, description: 'Number of the statement', examples: [417] }),
                ),
              },
              {
                description: 'For repeats and reads: `count` and `lastAt`; for stated: the statement; otherwise empty',
              },
            ),
          ),
        },
        { title: 'TimelineEntry' },
      ),
      { description: 'Oldest first' },
    ),
  },
  { description: 'The history of an order' },
)
