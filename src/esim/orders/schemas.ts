/** The schemas of the eSIM API. Validation, types, answers and the OpenAPI document all use them. */

import Type, { type TSchema } from 'typebox'
import { mustBe } from '../../error-rules.ts'
import { EsimError } from '../../http/errors.ts'
import { errorAnswers, named, nullable } from '../../http/openapi/operations.ts'
import { deliveryModes } from '../../partners/delivery-modes.ts'
import { orderStatuses } from './lifecycle.ts'
import { emailDeliveries } from './operations.ts'
import { paymentReferenceHeader, paymentReferenceOutcomes, paymentReferencePattern } from './payment-reference.ts'

const closed = { additionalProperties: false }
const text = (description: string, example: string) => Type.String({ description, examples: [example] })
const instant = (description: string, example = '2026-11-21T08:15:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })

const orderId = Type.String({
  format: 'uuid',
  description: 'Identifier that the platform gave the order',
  examples: ['019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'],
})
const externalId = text('The bank’s own identifier of the order', 'payment-20261121-000042')
const operatorCode = text('Code of the mobile operator', 'kyivstar')
const tariffCode = text('Code of the tariff', 'eu-10gb')
const msisdn = text('Subscriber number; empty after the time for which numbers are kept', '+380671234567')

export const Operator = Type.Object(
  {
    code: text('Permanent code, used in later requests', 'kyivstar'),
    nameUk: text('Name in Ukrainian', 'Київстар'),
    nameEn: text('Name in English; the Ukrainian name if there is none, so never empty', 'Kyivstar'),
    logoUrl: nullable(Type.String({ description: 'Logo; null: show a placeholder', examples: [null] })),
    country: text('ISO 3166-1 alpha-2 code, or `global`', 'UA'),
  },
  { $id: 'Operator', description: 'A mobile operator whose profiles the bank may sell' },
)

export const Tariff = Type.Object(
  {
    code: tariffCode,
    name: text('Name of the tariff', 'Europe 10 GB'),
    description: text('What is in the package, for the customer', '10 GB in 30 countries of Europe'),
    price: Type.Number({ description: 'Price to show the customer, at most 2 decimals', examples: [399] }),
    currency: text('ISO 4217 code', 'UAH'),
    dataVolumeMb: Type.Integer({ description: 'Data volume in megabytes', examples: [10240] }),
    dataUnlimited: Type.Boolean({ description: 'Data without limit' }),
    voiceMinutes: Type.Integer({ description: 'Minutes of voice' }),
    voiceUnlimited: Type.Boolean({ description: 'Voice without limit' }),
    smsCount: Type.Integer({ description: 'Number of text messages' }),
    smsUnlimited: Type.Boolean({ description: 'Text messages without limit' }),
    validityDays: Type.Integer({ description: 'Days of validity', examples: [30] }),
    available: Type.Boolean({
      description: 'false: switched off, or no profile is free at the moment; show it as inactive',
    }),
  },
  { $id: 'Tariff', description: 'What a customer buys' },
)

export const Order = Type.Object(
  {
    orderId,
    externalId,
    operatorCode,
    tariffCode,
    status: Type.Enum([...orderStatuses], {
      title: 'EsimOrderStatus',
      description:
        'reserved: waiting for payment; confirmed: paid, final; cancelled: by the bank; expired: not confirmed in time',
    }),
    msisdn: nullable({ ...msisdn, description: 'Subscriber number; null once cancelled or expired' }),
    reservedUntil: nullable(instant('End of the reservation; null once confirmed or cancelled')),
    createdAt: instant('When the order was made', '2026-11-21T08:00:00.000Z'),
    confirmedAt: nullable(instant('When it was confirmed; null before', '2026-11-21T08:05:00.000Z')),
  },
  { $id: 'Order', description: 'An order without its installation secrets' },
)

export const Confirmation = Type.Object(
  {
    orderId,
    externalId,
    status: Type.Literal('confirmed', { description: 'Always confirmed' }),
    operatorCode,
    tariffCode,
    msisdn,
    confirmedAt: instant('When the order was confirmed for the first time'),
    deliveryMode: Type.Enum([...deliveryModes], {
      title: 'EsimDeliveryMode',
      description:
        'local: the bank shows the activation data itself; qr_email: the QR code also went to the customer by e-mail',
    }),
    esim: Type.Object(
      {
        iccid: text('Identifier of the SIM', '8938003992000012345'),
        msisdn,
        pin1: text('PIN of the SIM', '1111'),
        activationCode: text('LPA string for direct installation; keep it secret', 'LPA:1$smdp.example.com$A1B2-C3D4'),
        qrCodeUrl: text('Where the QR picture is', 'http://127.0.0.1:8080/esim/v1/orders/019aa5a2/qr'),
      },
      { description: 'What installs the eSIM' },
    ),
  },
  { $id: 'Confirmation', description: 'A confirmed order with its activation data' },
)

/**
 * The pattern of the payment reference is for the documentation only. The code ignores a malformed reference instead of
 * refusing the request.
 */
export const ConfirmHeaders = Type.Object({
  [paymentReferenceHeader]: Type.Optional(
    Type.String({
      'x-documented': { pattern: paymentReferencePattern },
      description:
        'Your own reference of the payment: 1 to 64 visible ASCII characters. It is kept with the first confirm, and shown in ' +
        'the Partner API and on statements. A confirm never fails because of it',
      examples: ['PR-20261121-42'],
    }),
  ),
})

export const PaymentReferenceOutcome = Type.Enum([...paymentReferenceOutcomes], {
  title: 'PaymentReferenceOutcome',
  description:
    'Only when `Perkline-Payment-Reference` was given. kept: the order has this reference; ignored: it is malformed, or the order was ' +
    'confirmed with another one or without',
})

export const EmailDelivery = Type.Enum([...emailDeliveries], {
  title: 'EmailDelivery',
  type: 'string',
  description: 'What happened to the e-mail; absent unless the bank’s delivery mode is `qr_email`',
})

export const QrBase64 = Type.Object(
  {
    mimeType: Type.Literal('image/png', { description: 'Media type of the picture' }),
    base64: Type.String({ description: 'The picture, 512x512, in base64' }),
  },
  { $id: 'QrBase64', description: 'The QR picture as text' },
)

const code = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: what,
    examples: [what.includes('tariff') ? 'eu-10gb' : 'kyivstar'],
  })

export const ReserveBody = named(
  'NewOrder',
  Type.Object(
    {
      operatorCode: code('Code of the mobile operator'),
      tariffCode: code('Code of the tariff'),
      externalId: Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'The bank’s own identifier of this order, compared byte by byte; it makes a retry safe',
        examples: ['payment-20261121-000042'],
      }),
    },
    closed,
  ),
)

export const ConfirmBody = Type.Object(
  {
    customerEmail: Type.Optional(
      Type.String({
        maxLength: 254,
        ...mustBe('email'),
        'x-documented': { format: 'email' },
        description:
          'Where the QR code goes in `qr_email` mode, required there for the first confirm; never stored. ASCII only, so an ' +
          'international domain is written as `xn--80aikifvh.xn--j1amh`',
        examples: ['customer@example.com'],
      }),
    ),
  },
  closed,
)

export const OrderPath = Type.Object({
  orderId: Type.String({
    format: 'uuid',
    description: 'Identifier of the order',
    examples: ['019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'],
  }),
})
export const OperatorPath = Type.Object({
  operatorCode: Type.String({ description: 'Code of the mobile operator', examples: ['kyivstar'] }),
})
export const QrQuery = Type.Object(
  {
    format: Type.Optional(
      Type.Enum(['png', 'base64'], { description: 'png: the picture itself; base64: JSON', default: 'png' }),
    ),
  },
  closed,
)

const always = {
  401: 'The token is missing, expired or invalid',
  403: 'The token does not belong to a bank',
  429: 'Too many requests: wait `Retry-After` seconds, and twice as long after each further 429',
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is temporarily unavailable; try again after `Retry-After` seconds',
}

/**
 * The error of operations that sell or return activation data. Of a bank's callers, only people with the role VIEWER
 * are refused: systems may have any role (contract/access.md, "Roles").
 */
export const notForViewers = {
  403: 'The token does not belong to a bank, or belongs to a person with the role `VIEWER`. A system may have any role',
}

/** The errors of one operation: the common ones and its own. */
export const esimErrors = (causes: Record<number, string>) => errorAnswers(EsimError, { ...always, ...causes })

export const esimComponents: TSchema[] = [EsimError, Operator, Tariff, Order, Confirmation, QrBase64]
