/** Makes the audit log entries for a decision about a campaign (contract/audit-log.md, "Entries"). Pure. */
import type { EntryChange } from '../../outbox/audit-entry.ts'
import type { Fact } from '../../outbox/audit-entry-writing.ts'
import type { Origin } from '../../outbox/origin.ts'
import type { RecordedAccount } from '../../outbox/rows.ts'
import { roundedCustomers } from '../rounded-customers.ts'
import type { Decided, Facts, Note } from './decided.ts'
import type { Change } from './lifecycle.ts'
import type { LockedCampaign } from './locking-store.ts'

/**
 * The entries of one decision. A partner's decision gives one entry, in the partner's own audit log. When the operator
 * or the clock changes something, the merchant gets an entry if the campaign's status changes, and each bank gets one
 * if its part changes.
 */
export function entriesOf(decided: Decided, origin: Origin): Fact[] {
  const { campaign, decision, notes = [], facts = {} } = decided
  const [note] = notes
  if (note) return [{ ...noted(note, notes), object: campaignObject(campaign) }]
  if (origin.account.type !== 'platform') return ownEntry(campaign, decision.changes, facts, origin.account)
  const owners = new Map(decision.changes.map(change => [ownerKey(change), ownerOf(campaign, change)]))
  return [...owners].map(([key, owner]) => {
    const changes = decision.changes.filter(change => ownerKey(change) === key)
    return { ...moved(campaign, changes, owner), owner }
  })
}

const campaignObject = ({ cashbackId }: LockedCampaign) => ({ type: 'campaign', id: cashbackId })

function noted(note: Note, notes: readonly Note[]): Pick<Fact, 'action' | 'change'> {
  if (note.trigger === 'segment') return { action: 'segment.formed', change: { customersCount: roundedSums(notes) } }
  const change = Object.entries(note.changes).map(([field, values]) => [field, values ?? [null, null]] as const)
  return { action: 'campaign.edited', change: Object.fromEntries(change) }
}

/**
 * The sum of all banks' customers. Each bank's number is rounded, because the merchant reads this entry and must not
 * learn a bank's exact number. The old sum is null if there was no segment before.
 */
function roundedSums(notes: readonly Note[]): EntryChange[string] {
  const sum = (place: 0 | 1): number | null => {
    const counts = notes.flatMap(note => (note.trigger === 'segment' ? (note.changes.customersCount[place] ?? []) : []))
    return counts.length === 0 ? null : counts.reduce((total, count) => total + roundedCustomers(count), 0)
  }
  return [sum(0), sum(1) ?? 0]
}

function ownEntry(
  campaign: LockedCampaign,
  changes: readonly Change[],
  facts: Facts,
  account: RecordedAccount,
): Fact[] {
  const { reportId, sha256 } = facts
  if (changes.length === 0) return []
  const entry = moved(campaign, changes, account)
  if (reportId === undefined) return [entry]
  const change = { cashbackId: [null, campaign.cashbackId], sha256: [null, sha256], ...entry.change } as const
  return [{ action: 'report.uploaded', object: { type: 'report', id: reportId }, change }]
}

const moved = (campaign: LockedCampaign, changes: readonly Change[], account: RecordedAccount): Fact => ({
  action: `campaign.${changes[0]?.trigger}`,
  object: campaignObject(campaign),
  change: Object.fromEntries(changes.map(change => [fieldOf(change, account), [change.from, change.to]])),
})

const fields = { campaign: 'status', bank: 'participation', reporting: 'stage' } as const

/** The name of a changed field. When the merchant's entry is about a bank's part, the name ends with the bank's id. */
function fieldOf({ subject, bankId }: Change, account: RecordedAccount): string {
  const isOwn = bankId === null || bankId === account.id
  return isOwn ? fields[subject] : `${fields[subject]}.${bankId}`
}

const ownerKey = ({ bankId }: Change): string => bankId ?? ''
const ownerOf = ({ merchantId }: LockedCampaign, { bankId }: Change): RecordedAccount =>
  bankId === null ? { type: 'merchant', id: merchantId } : { type: 'bank', id: bankId }
