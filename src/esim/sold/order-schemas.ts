/** Schemas of orders as people see them. They never include the secrets that install a profile. */

import Type from 'typebox'
import { mustBe } from '../../error-rules.ts'
import { nullable } from '../../http/openapi/operations.ts'
import { closed, count, instant, money, text, uuid } from '../../http/schemas.ts'
import { deliveryModes } from '../../partners/delivery-modes.ts'
import { spanParameters } from '../../text/span.ts'
import { orderStatuses } from '../orders/lifecycle.ts'
import { shownMailStates } from '../orders/mail-state.ts'
import { orderEvents } from './order-views.ts'

/** The description of an `externalId` in a query, which may have any characters. */
export const inQuery = (description: string): string => `${description}. Percent-encode it: a \`+\` is read as a space`

const code = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })

/** The parameters of an order search. */
export const orderSearchParameters = {
  externalId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: inQuery('The bank’s own order identifier, or its first characters; case-sensitive'),
      examples: ['payment-20261121-'],
    }),
  ),
  orderId: Type.Optional(uuid('The order', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11')),
  ...spanParameters,
  status: Type.Optional(
    Type.Enum([...orderStatuses], {
      title: 'OrderStatus',
      description: 'As of now: a reservation that is over is expired at once',
    }),
  ),
  operatorCode: Type.Optional(code('Mobile operator', 'kyivstar')),
  tariffCode: Type.Optional(code('Tariff', 'eu-10gb')),
}

/** The parameter that says how `externalId` is compared. */
export const exactParameter = {
  exact: Type.Boolean({ default: false, description: 'true: `externalId` is the whole identifier' }),
}

export const pageParameters = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of orders to return' }),
  cursor: Type.Optional(
    Type.String({
      format: 'uuid',
      description: '`nextCursor` of the previous page',
      examples: ['019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'],
    }),
  ),
}

export const OrdersQuery = Type.Object({ ...orderSearchParameters, ...exactParameter, ...pageParameters }, closed)
export const OrdersExportQuery = Type.Object({ ...orderSearchParameters, ...exactParameter }, closed)

/** The search for a profile. It is sent as a body, because proxies would log a query. */
export const ProfileSearch = Type.Object(
  {
    msisdn: Type.Optional(
      Type.String({
        pattern: '^\\+?[1-9]\\d{0,14}$',
        ...mustBe('msisdn'),
        description: 'The whole number',
        examples: ['+380671234567'],
      }),
    ),
    iccid: Type.Optional(
      Type.String({
        pattern: '^\\d{18,20}$',
        ...mustBe('iccid'),
        description: 'The whole ICCID',
        examples: ['8938003991234567890'],
      }),
    ),
  },
  { ...closed, description: 'Either `msisdn` or `iccid`' },
)

export const nextCursor = nullable(
  Type.String({ format: 'uuid', description: 'Cursor of the next page; null on the last page' }),
)

export const shownOrder = {
  orderId: uuid('The order', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'),
  externalId: text('The bank’s own identifier of the order', 'payment-20261121-000042'),
  operatorCode: text('Mobile operator', 'kyivstar'),
  tariffCode: text('Tariff', 'eu-10gb'),
  tariffName: text('Name of the tariff as it is now', 'Europe 10 GB'),
  status: Type.Enum([...orderStatuses], {
    title: 'OrderStatus',
    description:
      'reserved: waiting for payment; confirmed: paid, final; cancelled: by the bank; expired: not confirmed in time',
  }),
  msisdn: nullable(text('Subscriber number; null once cancelled or expired', '+380671234567')),
  price: money('Price at the reservation', 399),
  currency: text('ISO 4217', 'UAH'),
  createdAt: instant('When it was made', '2026-11-21T08:00:00.000Z'),
  reservedUntil: instant('End of the reservation, also once it is confirmed or cancelled', '2026-11-21T08:15:00.000Z'),
  confirmedAt: nullable(instant('When it was confirmed', '2026-11-21T08:05:00.000Z')),
  cancelledAt: nullable(instant('When it was cancelled')),
  deliveryMode: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    title: 'DeliveryMode',
    enum: [...deliveryModes, null],
    description: 'How the activation data was delivered; null unless confirmed',
  }),
  emailDelivery: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    title: 'EmailOutcome',
    enum: [...shownMailStates, null],
    description: 'Delivery of the e-mail of the confirm. unknown: it may have arrived; null: no e-mail',
  }),
}

/** Further fields of an order in the Partner API and the portal. */
export const stated = {
  paymentReference: nullable(text('The bank’s own reference of the payment, as the first confirm gave it', 'PR-9')),
  statement: Type.Union(
    [
      Type.Object(
        {
          statementId: uuid('The statement', '5d0f8c1e-2a74-4f0b-9a15-6c3e7d9b8f20'),
          number: Type.Integer({ minimum: 1, description: 'Its number', examples: [417] }),
          day: Type.String({ format: 'date', description: 'Its day', examples: ['2026-11-22'] }),
        },
        { title: 'OrderStatement' },
      ),
      Type.Null(),
    ],
    { description: 'The closed statement that it is on; null: none yet' },
  ),
}

export const PortalOrder = Type.Object(
  { ...shownOrder, ...stated },
  { description: 'An eSIM order without its installation secrets' },
)

/** The history of an order, as returned by `timelineOf`. */
export const timeline = Type.Array(
  Type.Object({
    at: instant('When', '2026-11-21T08:00:00.000Z'),
    event: Type.Enum([...orderEvents], { title: 'OrderEvent', description: 'What' }),
    by: nullable(
      Type.Object(
        {
          type: Type.Enum(['system', 'person'], { description: 'Whether a program or a person acted' }),
          id: nullable(text('The clientId of a system, the login of a person', 'pk_sample_alpha')),
        },
        { description: 'Who; null: the platform, or not known' },
      ),
    ),
    count: nullable(count('How often this caller has read the activation data again', 2)),
    lastAt: nullable(instant('When this caller last did so', '2026-11-21T08:05:00.000Z')),
  }),
  { description: 'What happened to the order and its profile, oldest first' },
)
