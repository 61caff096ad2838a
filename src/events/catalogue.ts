/**
 * Every type of event: who receives it and what it contains (contract/events.md, "Types"). Pure. The answer of
 * `GET /event-types`, the `webhooks` of the OpenAPI document and the checks in tests are made from this list.
 */
import type { TSchema } from 'typebox'
import { shapes } from './schemas.ts'

type RecipientKind = 'bank' | 'merchant' | 'platform'
export type EventType = {
  type: string
  description: string
  recipients: readonly RecipientKind[]
  schema: TSchema
}

const B = ['bank'] as const
const P = ['platform'] as const
const BM = ['bank', 'merchant'] as const
const BP = ['bank', 'platform'] as const
const all = ['bank', 'merchant', 'platform'] as const

const row = <const Name extends string>(
  type: Name,
  recipients: readonly RecipientKind[],
  schema: TSchema,
  description: string,
) => ({ type, description, recipients, schema })

const rows = [
  row('order.confirmed', B, shapes.order, 'The bank confirmed the order'),
  row('order.cancelled', B, shapes.order, 'The bank cancelled the order'),
  row('order.expiring', B, shapes.order, 'The reservation ends in 5 minutes'),
  row('order.expired', B, shapes.order, 'The reservation ended without a confirm'),
  row('order.email_delivery', B, shapes.emailDelivery, 'The outcome of the QR e-mail is known'),
  row('tariff.availability_changed', B, shapes.availability, 'A tariff can be sold again, or cannot any more'),
  row('catalogue.changed', B, shapes.catalogue, 'Mobile operators or tariffs that the bank sees have changed'),
  row('campaign.created', BM, shapes.campaign, 'A campaign was made'),
  row('campaign.awaiting_merchant', BM, shapes.campaignMoved, 'All banks have decided; it is the merchant’s turn'),
  row('campaign.awaiting_banks', BM, shapes.campaignMoved, 'Banks were invited again'),
  row('campaign.approved', BM, shapes.campaignMoved, 'The campaign was approved'),
  row('campaign.declined', BM, shapes.campaignMoved, 'The campaign was declined'),
  row('campaign.started', BM, shapes.campaignMoved, 'The period has begun'),
  row('campaign.ended', BM, shapes.campaignMoved, 'The period has ended; reconciliation begins'),
  row('campaign.expired', BM, shapes.campaignMoved, 'The period has ended before the campaign was approved'),
  row('campaign.deleted', BM, shapes.campaignMoved, 'The author took the campaign back'),
  row('campaign.payment_due', BM, shapes.campaignMoved, 'Every bank has settled; the merchant is to pay'),
  row('campaign.paid', BM, shapes.campaignMoved, 'The merchant has paid'),
  row('campaign.compensation_received', BM, shapes.campaignMoved, 'Every bank has received its compensation'),
  row('campaign.completed', BM, shapes.campaignMoved, 'The campaign is complete'),
  row('campaign.updated', BM, shapes.campaignUpdated, 'An edit changed fields of the campaign'),
  row('participation.invited', BM, shapes.participation, 'A bank was invited'),
  row('participation.approved', BM, shapes.participation, 'A bank takes part'),
  row('participation.declined', BM, shapes.participation, 'A bank does not take part'),
  row('participation.expired', BM, shapes.participation, 'A bank’s part ended before it began'),
  row('participation.withdrawn', BM, shapes.participation, 'A bank is not invited any more'),
  row('reconciliation.started', BM, shapes.reporting, 'The bank’s report is awaited'),
  row('reconciliation.bank_report_uploaded', BM, shapes.upload, 'The bank has uploaded a report'),
  row('reconciliation.merchant_report_uploaded', BM, shapes.upload, 'The merchant has uploaded a report'),
  row('reconciliation.accepted', BM, shapes.reporting, 'The merchant has accepted the bank’s report'),
  row('reconciliation.settled', BM, shapes.reporting, 'The merchant has confirmed the settlement with the bank'),
  row('reconciliation.acknowledged', BM, shapes.reporting, 'The bank has received its compensation'),
  row('segment.formed', BM, shapes.segment, 'A segment was formed or replaced'),
  row('merchant.terminals_changed', BM, shapes.terminals, 'The merchant’s terminals in the directory changed'),
  row('credential.issued', all, shapes.credential, 'A credential was issued'),
  row('credential.rotated', all, shapes.credential, 'A credential got a new secret'),
  row('credential.revoked', all, shapes.credential, 'A credential was revoked'),
  row('credential.overlap_ending', all, shapes.credential, 'The previous secret ends an hour after `timestamp`'),
  row('endpoint.failing', all, shapes.endpoint, 'Every attempt at an endpoint has failed for an hour'),
  row('endpoint.disabled', all, shapes.endpoint, 'An endpoint was disabled'),
  row('endpoint.enabled', all, shapes.endpoint, 'A disabled endpoint was enabled'),
  row('statement.closed', BP, shapes.statement, 'The statement of a day was closed'),
  row('audit.checkpoint', all, shapes.checkpoint, 'The first checkpoint of the audit log after 00:00 UTC'),
  row('stock.low', P, shapes.stock, 'The stock of a tariff lasts for a few days'),
  row('stock.out', P, shapes.stock, 'A tariff has no profile left'),
  row('stock.enough', P, shapes.stock, 'A tariff has enough profiles again'),
] as const

export type EventTypeName = (typeof rows)[number]['type']
export const eventTypes: readonly (EventType & { type: EventTypeName })[] = rows

/** The type of event that the test operation sends by default. It never appears in a feed. */
export const testType = 'test.ping'
export const testTypes: readonly EventType[] = [
  ...eventTypes,
  { type: testType, description: 'A sign of life', recipients: all, schema: shapes.ping },
]

const names: ReadonlySet<string> = new Set(eventTypes.map(({ type }) => type))
const groups: ReadonlySet<string> = new Set(eventTypes.map(({ type }) => `${type.slice(0, type.indexOf('.'))}.*`))

/** Whether the filter names a type, or with `group.*` a group of types. */
export const isTypeFilter = (filter: string): boolean => names.has(filter) || groups.has(filter)

/** Whether a type matches the filters. @param filters null: all types, including future ones */
const isWanted = (type: string, filters: readonly string[] | null): boolean =>
  filters === null ||
  filters.some(filter => filter === type || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1))))

/** The types that the filters match. */
export const typesOf = (filters: readonly string[]): string[] =>
  eventTypes.filter(({ type }) => isWanted(type, filters)).map(({ type }) => type)
