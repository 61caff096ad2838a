/**
 * Schemas of the `data` of each type of event. Types, the answer of `GET /event-types` and the OpenAPI document are
 * made from them.
 */
import Type, { type TProperties, type TSchema } from 'typebox'
import { bankStatuses, campaignStatuses, reportingStages } from '../campaigns/lifecycle/transitions.ts'
import { orderStatuses } from '../esim/orders/lifecycle.ts'
import { shownMailStates } from '../esim/orders/mail-state.ts'

const closed = { additionalProperties: false }
const text = (description: string, example: string) => Type.String({ description, examples: [example] })
const id = (description: string, example = '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11') =>
  Type.String({ format: 'uuid', description, examples: [example] })
const instant = (description: string, example = '2026-11-22T08:15:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })
const count = (description: string, example = 1) => Type.Integer({ minimum: 0, description, examples: [example] })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const word = (words: readonly string[], description: string) =>
  Type.String({ enum: [...words], description, examples: [words[0] ?? ''] })
const shape = (description: string, properties: TProperties) => Type.Object(properties, { ...closed, description })

const operatorCode = text('Code of the mobile operator', 'kyivstar')
const tariffCode = text('Code of the tariff', 'eu-10gb')

const order = {
  orderId: id('The order'),
  externalId: text('The bank’s own identifier of the order', 'payment-42'),
  operatorCode,
  tariffCode,
  status: word(orderStatuses, 'The status after the change'),
  price: text('Decimal text with 2 places, as shown at the reservation', '399.00'),
  currency: text('ISO 4217 code', 'UAH'),
  createdAt: instant('When the order was made', '2026-11-22T08:00:00.000Z'),
  reservedUntil: orNull(instant('End of the reservation; null once confirmed or cancelled')),
  confirmedAt: orNull(instant('When it was confirmed')),
  cancelledAt: orNull(instant('When it was cancelled')),
  paymentReference: orNull(text('The bank’s reference of the payment, as sent with the confirm', 'PR-9')),
}
const campaign = {
  cashbackId: id('The campaign'),
  retailerId: id('The merchant'),
  createdByType: word(['retailer', 'bank'], 'Who made it'),
  status: word(campaignStatuses, 'The status after the change'),
  updatedAt: instant('When the campaign changed'),
}
const bankId = id('The bank whose part it is')
const reporting = { ...campaign, bankId, stage: word(reportingStages, 'Where the bank’s reconciliation stands') }
const upload = {
  ...reporting,
  reportId: id('The report'),
  differences: count('All differences: between the reports, and from the terms', 3),
}
const endpoint = {
  endpointId: id('The endpoint'),
  reason: orNull(word(['partner', 'operator', 'gone', 'failing'], 'Why it is disabled; null: it is enabled')),
  failingSince: orNull(instant('Since when every attempt has failed, by the clock of the rules')),
}
const totals = shape('The sums of one currency', {
  currency: text('ISO 4217 code', 'UAH'),
  sales: count('Number of sales'),
  salesAmount: text('Decimal text', '399.00'),
  credits: count('Number of credits', 0),
  creditsAmount: text('Decimal text', '0.00'),
  gross: text('Decimal text', '399.00'),
  commission: text('Decimal text', '0.00'),
  net: text('Decimal text', '399.00'),
})
const stock = {
  operatorCode,
  tariffCode,
  free: count('Profiles that can be sold', 12),
  daysOfCover: orNull(
    Type.Number({ description: 'How many days the profiles last at the pace of the last days', examples: [3.5] }),
  ),
}
const hash = (description: string) =>
  text(description, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08')

export const shapes = {
  order: shape('The order as of the change', order),
  emailDelivery: shape('The order, and the outcome of the QR e-mail', {
    ...order,
    emailDelivery: word(shownMailStates, 'Outcome of the e-mail'),
  }),
  availability: shape('Whether a tariff can be sold', {
    operatorCode,
    tariffCode,
    available: Type.Boolean({ description: 'A profile is free, and the tariff is on sale' }),
  }),
  catalogue: shape('What the bank should read again', {
    operatorCodes: Type.Array(operatorCode, { description: 'Mobile operators that changed' }),
    tariffs: Type.Array(shape('A tariff', { operatorCode, tariffCode }), {
      description: 'Tariffs that changed, the first 100',
    }),
    truncated: Type.Boolean({ description: 'There are more changes than are listed' }),
  }),
  campaign: shape('The campaign as of the change', campaign),
  campaignMoved: shape('The campaign as of the change', {
    ...campaign,
    previousStatus: word(campaignStatuses, 'The status before'),
    trigger: text(
      'The cause, as in the history; `decide` when another bank’s decision was the cause. An open list',
      'confirm',
    ),
  }),
  campaignUpdated: shape('The campaign, and which of its fields an edit changed', {
    ...campaign,
    changedFields: Type.Array(text('Name of a field', 'dateTo'), { description: 'Fields that have another value now' }),
    terminalsAdded: count('Terminals that the edit added', 0),
  }),
  participation: shape('The campaign, and the part of one bank', {
    ...campaign,
    bankId,
    bankStatus: orNull(word(bankStatuses, 'The bank’s part now; null: it is not invited any more')),
    previousBankStatus: orNull(word(bankStatuses, 'The bank’s part before; null: it had none')),
  }),
  reporting: shape('The campaign, and the reconciliation with one bank', reporting),
  upload: shape('The campaign, and a report that was uploaded', upload),
  segment: shape('The campaign, and the size of its segment', {
    ...campaign,
    customersCount: count(
      'Customers in the segment; 0 for a bank that has no part of it any more; for a merchant, the sum of `banks`',
      120,
    ),
    banks: Type.Optional(
      Type.Array(
        shape('A bank’s part', { bankId, customersCount: count('Customers, rounded down to tens; 0 below 20', 120) }),
        {
          description:
            'To a merchant only. Of more than 40 banks, several events of the same `updatedAt` tell, each of its part',
        },
      ),
    ),
  }),
  terminals: shape('How a merchant’s terminals changed', {
    retailerId: id('The merchant'),
    added: count('Terminals that are new'),
    removed: count('Terminals that are gone', 0),
    total: count('Terminals now', 12),
  }),
  credential: shape('A credential, without its secret', {
    clientId: text('The credential', 'pk_alpha_1'),
    label: text('Its name', 'production backend'),
    role: text('Its role', 'ADMIN'),
    previousValidUntil: orNull(instant('Until when the previous secret also works, in real time')),
  }),
  endpoint: shape('A webhook endpoint', endpoint),
  statement: shape('A closed statement', {
    statementId: id('The statement'),
    number: count('Its number'),
    day: Type.String({ format: 'date', description: 'Its day', examples: ['2026-11-22'] }),
    totals: Type.Array(totals, { description: 'By currency' }),
  }),
  checkpoint: shape('The head of the audit log', {
    at: instant('When it was made'),
    hash: hash('Hash of the whole log, hexadecimal'),
    accountSeq: count('Number of the account’s last entry', 41),
    accountHash: hash('Hash of the account’s own entries, hexadecimal'),
  }),
  stock: shape('The stock of a tariff', stock),
  ping: shape('No data: the event only shows that events arrive', {}),
} as const satisfies Record<string, TSchema>
