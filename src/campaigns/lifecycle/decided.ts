/** Finds out what a decision changes. All functions are pure; `transitions-store.ts` writes the result. */
import { laterThan } from '../../clock.ts'
import { isHiddenFromBanks } from './editable-fields.ts'
import type { BankState, CampaignState, Change, Decision } from './lifecycle.ts'
import type { LockedCampaign } from './locking-store.ts'

/** The changes of an edit or a segment: the old and new value of each field, or null to show only that the field has changed. */
export type FieldChanges = Record<string, readonly [old: unknown, present: unknown] | null>
/** How many customers a segment, or a bank's part of it, had before and has now; null: no segment or no part. */
type SegmentChange = { customersCount: readonly [old: number | null, present: number | null] }
/** A change of fields without a transition. The history records it like a transition. */
export type Note =
  | { trigger: 'edit'; subject: 'campaign'; bankId: null; changes: FieldChanges }
  | { trigger: 'segment'; subject: 'bank'; bankId: string; changes: SegmentChange }
  | { trigger: 'segment'; subject: 'campaign'; bankId: null; changes: SegmentChange }

/** Further data for events, besides the old and the new state of each change. */
export type Facts = { reportId?: string; sha256?: string; differences?: number; terminalsAdded?: number }

/**
 * A decision about a campaign. The history has its `notes` before its transitions. `facts` are further data for events.
 */
export type Decided = { campaign: LockedCampaign; decision: Decision; notes?: readonly Note[]; facts?: Facts }

/** A decision and what it changes. */
export type Outcome = Decided & {
  after: LockedCampaign
  steps: readonly Step[]
  /**
   * The banks whose own part does not change. Their rows have a copy of the campaign's status, so they need the new
   * one.
   */
  followers: readonly { cashbackId: string; bankId: string; toStatus: CampaignState['status'] }[]
  /** Whether an edit changes terms that banks see. */
  hasNewTerms: boolean
  /** Whether every bank of the campaign sees the change. */
  isShared: boolean
  /** Whether the order of the merchant's list changes. */
  isRearranged: boolean
}

export function outcomeOf(decided: Decided, now: Date): Outcome {
  const { campaign, decision, notes = [] } = decided
  const after = applied(campaign, decision.changes, now)
  return {
    ...decided,
    after,
    steps: stepsOf(decided, after),
    followers: followersOf(decided, after),
    hasNewTerms: notes.some(hasNewTerms),
    isShared: after.status !== campaign.status || notes.some(hasNewTerms),
    isRearranged: isRearranged(campaign, decision, after),
  }
}

/** The campaign after these changes, with a new version and a later `updatedAt`. */
export function applied(campaign: LockedCampaign, changes: readonly Change[], now: Date): LockedCampaign {
  const isNew = changes.some(({ subject, from }) => subject === 'campaign' && from === null)
  const at = isNew ? now : laterThan(campaign.updatedAt, now)
  let status = campaign.status
  const banks = new Map(campaign.banks.map(bank => [bank.bankId, bank]))
  for (const step of changes) {
    if (step.subject === 'campaign') status = step.to
    else if (step.subject === 'bank' && step.to === null) banks.delete(step.bankId)
    else {
      const bank: BankState = banks.get(step.bankId) ?? { bankId: step.bankId, status: 'pending', stage: null }
      banks.set(
        step.bankId,
        step.subject === 'reporting' ? { ...bank, stage: step.to } : { ...bank, status: step.to ?? bank.status },
      )
    }
  }
  const received =
    status === 'compensationReceived' && campaign.status !== status ? at : campaign.compensationReceivedAt
  return {
    ...campaign,
    status,
    banks: [...banks.values()],
    version: campaign.version + 1,
    updatedAt: at,
    compensationReceivedAt: received,
  }
}

/** One step of a decision, as the history stores it. */
type Step = Pick<Change, 'subject' | 'bankId' | 'from' | 'to'> & {
  cashbackId: string
  /** The campaign's version from this change on. */
  version: number
  /** The campaign's status after the whole decision. */
  toStatus: CampaignState['status']
  at: Date
  trigger: Change['trigger'] | Note['trigger']
  changes: FieldChanges | null
}

/** The steps of a decision, in the order of the history. */
function stepsOf({ campaign, decision, notes = [] }: Decided, after: LockedCampaign): Step[] {
  const of = { cashbackId: campaign.cashbackId, version: after.version, toStatus: after.status, at: after.updatedAt }
  const stateOf = ({ bankId }: Note) =>
    bankId === null ? campaign.status : (campaign.banks.find(bank => bank.bankId === bankId)?.status ?? null)
  return [
    ...notes.map(note => ({ ...note, ...of, from: stateOf(note), to: stateOf(note) })),
    ...decision.changes.map(step => ({ ...step, ...of, changes: null })),
  ]
}

/** The banks whose own part does not change, if the campaign's status changes; otherwise none. */
function followersOf({ campaign, decision, notes = [] }: Decided, { cashbackId, status, banks }: LockedCampaign) {
  if (status === campaign.status) return []
  const stepping = new Set([...notes, ...decision.changes].map(({ bankId }) => bankId))
  return banks
    .filter(({ bankId }) => !stepping.has(bankId))
    .map(({ bankId }) => ({ cashbackId, bankId, toStatus: status }))
}

/** Whether an edit changes terms that banks see. */
const hasNewTerms = ({ trigger, changes }: Note): boolean =>
  trigger === 'edit' && Object.keys(changes).some(field => !isHiddenFromBanks(field))

/**
 * Whether a decision changes the order of the merchant's list: the campaign is new, or its status changes. When an edit
 * changes terms that the list is sorted by, `campaign-store.ts` counts the change.
 */
function isRearranged(before: LockedCampaign, { changes }: Decision, after: LockedCampaign): boolean {
  return before.status !== after.status || changes.some(({ subject, from }) => subject === 'campaign' && from === null)
}
