/** Sample data of each type of event, for the test operation of an endpoint. Pure. */
import type { TSchema } from 'typebox'
import type { EventType } from './catalogue.ts'

/**
 * Values that replace examples of a schema. Several types of events share one schema, and some of them need other
 * examples.
 */
const settled = { status: 'confirmed', reservedUntil: null, confirmedAt: '2026-11-22T08:05:00.000Z', cancelledAt: null }
const unsettled = { confirmedAt: null, cancelledAt: null, paymentReference: null }
const moved = (previousStatus: string, trigger: string, status: string) => ({ previousStatus, trigger, status })
const part = (previousBankStatus: string | null, bankStatus: string | null) => ({ previousBankStatus, bankStatus })
const ended = { status: 'awaitingCompensationConfirmation' }
const enabled = { reason: null, failingSince: null }
const oneSecret = { previousValidUntil: null }

const facts: Partial<Record<string, Record<string, unknown>>> = {
  'order.confirmed': settled,
  'order.cancelled': {
    ...unsettled,
    status: 'cancelled',
    reservedUntil: null,
    cancelledAt: '2026-11-22T08:05:00.000Z',
  },
  'order.expiring': { ...unsettled, status: 'reserved' },
  'order.expired': { ...unsettled, status: 'expired' },
  'order.email_delivery': settled,
  'catalogue.changed': { truncated: false },
  'campaign.awaiting_merchant': moved('awaitingBankApproval', 'confirm', 'awaitingMerchantApproval'),
  'campaign.awaiting_banks': moved('awaitingMerchantApproval', 'invite', 'awaitingBankApproval'),
  'campaign.approved': moved('awaitingMerchantApproval', 'launch', 'approved'),
  'campaign.declined': { ...moved('awaitingBankApproval', 'reject', 'declined'), createdByType: 'bank' },
  'campaign.started': moved('approved', 'start', 'active'),
  'campaign.ended': moved('active', 'end', ended.status),
  'campaign.expired': moved('awaitingBankApproval', 'end', 'expired'),
  'campaign.deleted': moved('awaitingBankApproval', 'delete', 'deleted'),
  'campaign.payment_due': moved(ended.status, 'settle', 'awaitingCompensationPayment'),
  'campaign.paid': moved('awaitingCompensationPayment', 'pay', 'paymentConfirmed'),
  'campaign.compensation_received': moved('paymentConfirmed', 'acknowledge', 'compensationReceived'),
  'campaign.completed': moved('compensationReceived', 'complete', 'completed'),
  'participation.invited': part(null, 'pending'),
  'participation.approved': part('pending', 'approved'),
  'participation.declined': part('pending', 'declined'),
  'participation.expired': part('pending', 'expired'),
  'participation.withdrawn': part('pending', null),
  'reconciliation.started': { ...ended, stage: 'awaitingBankReconciliation' },
  'reconciliation.bank_report_uploaded': { ...ended, stage: 'awaitingMerchantReconciliationConfirmation' },
  'reconciliation.merchant_report_uploaded': { ...ended, stage: 'awaitingUpdatedBankReconciliation' },
  'reconciliation.accepted': { ...ended, stage: 'awaitingCompensationConfirmation' },
  'reconciliation.settled': { status: 'awaitingCompensationPayment', stage: 'settled' },
  'reconciliation.acknowledged': { status: 'compensationReceived', stage: 'acknowledged' },
  'credential.issued': oneSecret,
  'credential.revoked': oneSecret,
  'endpoint.failing': { reason: null },
  'endpoint.disabled': { reason: 'partner', failingSince: null },
  'endpoint.enabled': enabled,
  'stock.out': { free: 0, daysOfCover: 0 },
  'stock.enough': { free: 1200, daysOfCover: 35 },
}

/**
 * Sample data of a type for a kind of account: the examples of the schema, corrected where they do not fit the type.
 * The sample of `segment.formed` for a bank does not list the segment's banks.
 */
export function sampleOf({ type, schema }: EventType, to: string): unknown {
  const sample = exampleOf(schema)
  if (type === 'segment.formed' && to === 'bank') delete (sample as { banks?: unknown }).banks
  return Object.assign(sample as object, facts[type])
}

function exampleOf(schema: TSchema): unknown {
  const known = schema as {
    type?: string
    examples?: unknown[]
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
  }
  if (known.properties)
    return Object.fromEntries(Object.entries(known.properties).map(([name, property]) => [name, exampleOf(property)]))
  if (known.items) return [exampleOf(known.items)]
  if (known.anyOf) return known.anyOf[0] ? exampleOf(known.anyOf[0]) : null
  return known.examples?.[0] ?? (known.type === 'boolean' ? true : null)
}
