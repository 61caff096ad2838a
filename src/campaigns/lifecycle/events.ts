/**
 * Makes the events of a decision about a campaign: which ones, for whom and in which order (contract/events.md,
 * "Types"). Pure.
 */
import type { EventTypeName } from '../../outbox/event-types.ts'
import type { RecordedEvent } from '../../outbox/event-writing.ts'
import { chunks } from '../../text/chunks.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import type { Decided, Facts, Note } from './decided.ts'
import { isHiddenFromBanks } from './editable-fields.ts'
import type { Change } from './lifecycle.ts'
import type { LockedCampaign } from './locking-store.ts'
import {
  type BankStatus,
  type CampaignStatus,
  decided,
  decisions,
  type ReportingStage,
  type ReportingTrigger,
  type Transition,
} from './transitions.ts'

const ofStatus: Record<CampaignStatus, EventTypeName> = {
  awaitingBankApproval: 'campaign.awaiting_banks',
  awaitingMerchantApproval: 'campaign.awaiting_merchant',
  approved: 'campaign.approved',
  active: 'campaign.started',
  awaitingCompensationConfirmation: 'campaign.ended',
  awaitingCompensationPayment: 'campaign.payment_due',
  paymentConfirmed: 'campaign.paid',
  compensationReceived: 'campaign.compensation_received',
  completed: 'campaign.completed',
  declined: 'campaign.declined',
  expired: 'campaign.expired',
  deleted: 'campaign.deleted',
}
const ofPart: Record<BankStatus, EventTypeName> = {
  pending: 'participation.invited',
  approved: 'participation.approved',
  declined: 'participation.declined',
  expired: 'participation.expired',
}
const ofReporting: Record<ReportingTrigger, EventTypeName> = {
  end: 'reconciliation.started',
  'upload-bank-report': 'reconciliation.bank_report_uploaded',
  'upload-merchant-report': 'reconciliation.merchant_report_uploaded',
  'accept-report': 'reconciliation.accepted',
  settle: 'reconciliation.settled',
  acknowledge: 'reconciliation.acknowledged',
}

/**
 * The events of one decision, in this order: an edit, the campaign's status, the banks' parts in the order of the
 * decision, a segment.
 *
 * @param after the campaign with the decision's changes
 */
export function eventsOf({ decision, notes = [], facts = {} }: Decided, after: LockedCampaign): RecordedEvent[] {
  const { changes } = decision
  return [
    ...notes.flatMap(note => (note.trigger === 'edit' ? editEvents(note, after, facts) : [])),
    ...changes.flatMap(change => (change.subject === 'campaign' ? campaignEvents(change, changes, after) : [])),
    ...changes.flatMap(change => (change.subject === 'campaign' ? [] : [partEvent(change, after, facts)])),
    ...segmentEvents(notes, after),
  ]
}

const campaignData = ({ cashbackId, merchantId, createdByBankId, status, updatedAt }: LockedCampaign) => ({
  cashbackId,
  retailerId: merchantId,
  createdByType: createdByBankId === null ? 'retailer' : 'bank',
  status,
  updatedAt: updatedAt.toISOString(),
})
const merchantOf = ({ merchantId }: LockedCampaign) => ({ merchants: [merchantId] })
const banksOf = ({ banks }: LockedCampaign) => ({ banks: banks.map(({ bankId }) => bankId) })

/** The type of the event that reports a transition. */
export function typeOfTransition(transition: Transition): EventTypeName {
  if (transition.subject === 'reporting') return ofReporting[transition.trigger]
  const { subject, from, to } = transition
  if (subject === 'bank') return to === null ? 'participation.withdrawn' : ofPart[to]
  return from === null ? 'campaign.created' : ofStatus[to]
}

/**
 * The event of a change of the campaign itself. When a bank's decision caused it, all other banks get the event with a
 * trigger that does not tell what was decided.
 */
function campaignEvents(
  { from, to, trigger }: Extract<Change, { subject: 'campaign' }>,
  changes: readonly Change[],
  after: LockedCampaign,
): RecordedEvent[] {
  const data = { ...campaignData(after), status: to }
  const { at, banks, merchants } = { at: after.updatedAt, ...banksOf(after), ...merchantOf(after) }
  if (from === null) return [{ type: 'campaign.created', at, banks, merchants, data }]
  const told = (shown: string) => ({ type: ofStatus[to], at, data: { ...data, previousStatus: from, trigger: shown } })
  if (!decisions.some(decision => decision === trigger)) return [{ ...told(trigger), banks, merchants }]
  const isDecider = (id: string) => changes.some(({ subject, bankId }) => subject === 'bank' && bankId === id)
  const others = banks.filter(id => !isDecider(id))
  return [
    { ...told(trigger), banks: banks.filter(isDecider), merchants },
    ...(others.length > 0 ? [{ ...told(decided), banks: others }] : []),
  ]
}

function partEvent(
  change: Exclude<Change, { subject: 'campaign' }>,
  after: LockedCampaign,
  facts: Facts,
): RecordedEvent {
  const { bankId } = change
  const about = { at: after.updatedAt, banks: [bankId], ...merchantOf(after) }
  const data = { ...campaignData(after), bankId }
  if (change.subject === 'reporting')
    return { type: ofReporting[change.trigger], ...about, data: { ...data, ...stageData(change.to, facts) } }
  const { from, to } = change
  const type = to === null ? 'participation.withdrawn' : ofPart[to]
  return { type, ...about, data: { ...data, bankStatus: to, previousBankStatus: from } }
}

const stageData = (stage: ReportingStage, { reportId, differences = 0 }: Facts) =>
  reportId === undefined ? { stage } : { stage, reportId, differences }

/**
 * The events `campaign.updated` of an edit. The event for the merchant names all changed fields. The event for the
 * banks names only the fields that banks may see. If none of these has changed, the banks get no event.
 */
function editEvents(
  { changes }: Extract<Note, { trigger: 'edit' }>,
  after: LockedCampaign,
  { terminalsAdded = 0 }: Facts,
): RecordedEvent[] {
  const names = Object.keys(changes)
  const forBanks = names.filter(name => !isHiddenFromBanks(name))
  const updated = (changedFields: string[]) => ({
    type: 'campaign.updated' as const,
    at: after.updatedAt,
    data: { ...campaignData(after), changedFields, terminalsAdded },
  })
  return [
    { ...updated(names), ...merchantOf(after) },
    ...(forBanks.length > 0 ? [{ ...updated(forBanks), ...banksOf(after) }] : []),
  ]
}

/**
 * Makes the events `segment.formed`. A bank gets the exact number of its customers in the segment, or 0 when it no
 * longer has a part of the segment. The merchant gets rounded numbers of all banks that have a part, in several events
 * if there are more than `maxBanksPerEvent` banks.
 */
function segmentEvents(notes: readonly Note[], after: LockedCampaign): RecordedEvent[] {
  const ofSegment = notes.filter(note => note.trigger === 'segment')
  if (ofSegment.length === 0) return []
  const parts = ofSegment.flatMap(({ bankId, changes }) =>
    bankId === null ? [] : [{ bankId, customersCount: changes.customersCount[1] }],
  )
  const rounded = parts.flatMap(({ bankId, customersCount }) =>
    customersCount === null ? [] : [{ bankId, customersCount: roundedCustomers(customersCount) }],
  )
  const formed = (data: object) =>
    ({ type: 'segment.formed', at: after.updatedAt, data: { ...campaignData(after), ...data } }) as const
  // Without any part of a bank there is still one event, which says so.
  const lists = rounded.length > 0 ? chunks(rounded, maxBanksPerEvent) : [[]]
  return [
    ...lists.map(banks => ({
      ...formed({ customersCount: banks.reduce((sum, bank) => sum + bank.customersCount, 0), banks }),
      ...merchantOf(after),
    })),
    ...parts.map(part => ({ ...formed({ customersCount: part.customersCount ?? 0 }), banks: [part.bankId] })),
  ]
}

/** The maximum number of banks in one event. With more, the data of the event would be larger than 4 KiB. */
const maxBanksPerEvent = 40
