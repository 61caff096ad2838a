/**
 * Every type of event: who receives it and what it contains (contract/events.md, "Types"). Pure. The answer of
 * `GET /event-types`, the `webhooks` of the OpenAPI document and the checks in tests are made from this list.
 */
import type { TSchema } from 'typebox'
import { type EventTypeName, eventTypeNames } from '../outbox/event-types.ts'
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

const described = (recipients: readonly RecipientKind[], schema: TSchema, description: string) => ({
  description,
  recipients,
  schema,
})

const describedTypes: Record<EventTypeName, Omit<EventType, 'type'>> = {
  'order.confirmed': described(B, shapes.order, 'The bank confirmed the order'),
  'order.cancelled': described(B, shapes.order, 'The bank cancelled the order'),
  'order.expiring': described(B, shapes.order, 'The reservation ends in 5 minutes'),
  'order.expired': described(B, shapes.order, 'The reservation ended without a confirm'),
  'order.email_delivery': described(B, shapes.emailDelivery, 'The outcome of the QR e-mail is known'),
  'tariff.availability_changed': described(B, shapes.availability, 'A tariff can be sold again, or cannot any more'),
  'catalogue.changed': described(B, shapes.catalogue, 'Mobile operators or tariffs that the bank sees have changed'),
  'campaign.created': described(BM, shapes.campaign, 'A campaign was made'),
  'campaign.awaiting_merchant': described(
    BM,
    shapes.campaignMoved,
    'All banks have decided; it is the merchant’s turn',
  ),
  'campaign.awaiting_banks': described(BM, shapes.campaignMoved, 'Banks were invited again'),
  'campaign.approved': described(BM, shapes.campaignMoved, 'The campaign was approved'),
  'campaign.declined': described(BM, shapes.campaignMoved, 'The campaign was declined'),
  'campaign.started': described(BM, shapes.campaignMoved, 'The period has begun'),
  'campaign.ended': described(BM, shapes.campaignMoved, 'The period has ended; reconciliation begins'),
  'campaign.expired': described(BM, shapes.campaignMoved, 'The period has ended before the campaign was approved'),
  'campaign.deleted': described(BM, shapes.campaignMoved, 'The author took the campaign back'),
  'campaign.payment_due': described(BM, shapes.campaignMoved, 'Every bank has settled; the merchant is to pay'),
  'campaign.paid': described(BM, shapes.campaignMoved, 'The merchant has paid'),
  'campaign.compensation_received': described(BM, shapes.campaignMoved, 'Every bank has received its compensation'),
  'campaign.completed': described(BM, shapes.campaignMoved, 'The campaign is complete'),
  'campaign.updated': described(BM, shapes.campaignUpdated, 'An edit changed fields of the campaign'),
  'participation.invited': described(BM, shapes.participation, 'A bank was invited'),
  'participation.approved': described(BM, shapes.participation, 'A bank takes part'),
  'participation.declined': described(BM, shapes.participation, 'A bank does not take part'),
  'participation.expired': described(BM, shapes.participation, 'A bank’s part ended before it began'),
  'participation.withdrawn': described(BM, shapes.participation, 'A bank is not invited any more'),
  'reconciliation.started': described(BM, shapes.reporting, 'The bank’s report is awaited'),
  'reconciliation.bank_report_uploaded': described(BM, shapes.upload, 'The bank has uploaded a report'),
  'reconciliation.merchant_report_uploaded': described(BM, shapes.upload, 'The merchant has uploaded a report'),
  'reconciliation.accepted': described(BM, shapes.reporting, 'The merchant has accepted the bank’s report'),
  'reconciliation.settled': described(BM, shapes.reporting, 'The merchant has confirmed the settlement with the bank'),
  'reconciliation.acknowledged': described(BM, shapes.reporting, 'The bank has received its compensation'),
  'segment.formed': described(BM, shapes.segment, 'A segment was formed or replaced'),
  'merchant.terminals_changed': described(BM, shapes.terminals, 'The merchant’s terminals in the directory changed'),
  'credential.issued': described(all, shapes.credential, 'A credential was issued'),
  'credential.rotated': described(all, shapes.credential, 'A credential got a new secret'),
  'credential.revoked': described(all, shapes.credential, 'A credential was revoked'),
  'credential.overlap_ending': described(all, shapes.credential, 'The previous secret ends an hour after `timestamp`'),
  'endpoint.failing': described(all, shapes.endpoint, 'Every attempt at an endpoint has failed for an hour'),
  'endpoint.disabled': described(all, shapes.endpoint, 'An endpoint was disabled'),
  'endpoint.enabled': described(all, shapes.endpoint, 'A disabled endpoint was enabled'),
  'statement.closed': described(BP, shapes.statement, 'The statement of a day was closed'),
  'audit.checkpoint': described(all, shapes.checkpoint, 'The first checkpoint of the audit log after 00:00 UTC'),
  'stock.low': described(P, shapes.stock, 'The stock of a tariff lasts for a few days'),
  'stock.out': described(P, shapes.stock, 'A tariff has no profile left'),
  'stock.enough': described(P, shapes.stock, 'A tariff has enough profiles again'),
}

export const eventTypes: readonly (EventType & { type: EventTypeName })[] = eventTypeNames.map(type => ({
  type,
  ...describedTypes[type],
}))

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
