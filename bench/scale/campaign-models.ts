/** Campaigns to copy, one for each status. The platform's own lifecycle code decides each of their steps. */

import { applied } from '../../src/campaigns/lifecycle/decided.ts'
import * as life from '../../src/campaigns/lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../../src/campaigns/lifecycle/locking-store.ts'
import type { CampaignStatus } from '../../src/campaigns/lifecycle/transitions.ts'
import { banksOfCampaign } from './sizes.ts'

/** An instant of a campaign. The time of a step is a number of minutes after such an instant. */
type Instant = 'created' | 'from' | 'to' | 'received' | 'completed'
/**
 * A step in the life of a campaign. `slot` is the number of the bank in the campaign, starting at 1. It is null for a
 * step of the whole campaign.
 */
type Step = {
  n: number
  subject: string
  slot: number | null
  trigger: string
  from: string | null
  to: string | null
  version: number
  instant: Instant
}
type ModelBank = { slot: number; status: string; stage: string | null; version: number }
/** A campaign to copy. `age` says whether the campaign is before its period, in it, or after it. */
export type Model = {
  status: CampaignStatus
  age: 'before' | 'within' | 'after'
  version: number
  steps: Step[]
  banks: ModelBank[]
}

/** How many of a hundred campaigns have each status. */
const shares: [CampaignStatus, Model['age'], number][] = [
  ['awaitingBankApproval', 'before', 10],
  ['awaitingMerchantApproval', 'before', 4],
  ['approved', 'before', 6],
  ['deleted', 'before', 3],
  ['active', 'within', 15],
  ['awaitingCompensationConfirmation', 'after', 6],
  ['awaitingCompensationPayment', 'after', 3],
  ['paymentConfirmed', 'after', 2],
  ['compensationReceived', 'after', 3],
  ['completed', 'after', 43],
  ['expired', 'after', 5],
]

/** The number of the model for each of a hundred campaigns. Each model appears as often as `shares` says. */
export const modelNumbers: number[] = shares.flatMap(([, , share], index) => Array(share).fill(index))

const dayMs = 86_400_000
const before = new Date(0)
const within = new Date(10 * dayMs)
const after = new Date(30 * dayMs)

/** Decides a step; null: nothing is due. */
type Decide = (campaign: LockedCampaign, bank: life.BankState) => life.Decision | null
const slots = Array.from({ length: banksOfCampaign }, (_, index) => String(index + 1).padStart(2, '0'))
const approving = slots.slice(0, -2)
const declining = slots.slice(-2)

const ofBanks = (instant: Instant, bankIds: string[], decide: Decide) =>
  bankIds.map(bankId => ({ instant, bankId, decide }))
const ofCampaign = (instant: Instant, decide: Decide) => [{ instant, bankId: '', decide }]

const clock =
  (now: Date, completeAfterMs = 0): Decide =>
  campaign =>
    life.passTime(campaign, now, completeAfterMs)

const birth = ofCampaign('created', () => life.create(slots))
const approvals = ofBanks('created', approving, (campaign, bank) => life.confirm(campaign, bank, before))
const launched = [
  ...birth,
  ...approvals,
  ...ofBanks('created', declining, (campaign, bank) => life.reject(campaign, bank, before)),
  ...ofCampaign('created', campaign => life.launch(campaign, before)),
]
/**
 * The steps of a campaign that reaches the last status. Most models take the first of these steps only, until they have
 * their own status.
 */
const wholeLife = [
  ...launched,
  ...ofCampaign('from', clock(within)),
  ...ofCampaign('to', clock(after, Number.POSITIVE_INFINITY)),
  ...ofBanks('to', approving, (_, bank) => life.uploadBankReport(bank)),
  ...ofBanks('to', approving, (_, bank) => life.acceptReport(bank)),
  ...ofBanks('to', approving, life.settle),
  ...ofCampaign('to', life.pay),
  ...ofBanks('received', approving, life.acknowledge),
  ...ofCampaign('completed', life.complete),
]
/** The steps to other statuses, and to `awaitingBankApproval` after some banks have approved. */
const lives: Partial<Record<CampaignStatus, typeof wholeLife>> = {
  awaitingBankApproval: [...birth, ...approvals.slice(0, 4)],
  expired: [...birth, ...approvals.slice(0, 4), ...ofCampaign('to', clock(after))],
  deleted: [...launched, ...ofCampaign('created', campaign => life.remove(campaign, before))],
}

/** Takes a campaign through the steps until it has this status. @throws Error when the steps do not end with this status */
function live(status: CampaignStatus, age: Model['age']): Model {
  let campaign = newCampaign()
  const steps: Step[] = []
  const versions = new Map<string, number>()
  for (const { instant, bankId, decide } of lives[status] ?? wholeLife) {
    if (!lives[status] && campaign.status === status) break
    const decision = decide(campaign, campaign.banks.find(bank => bank.bankId === bankId) as life.BankState)
    if (!decision) throw new Error(`The clock moves no campaign that is ${campaign.status}`)
    campaign = applied(campaign, decision.changes, within)
    for (const { subject, bankId: moved, trigger, from, to } of decision.changes) {
      const slot = moved === null ? null : Number(moved)
      steps.push({ n: steps.length + 1, subject, slot, trigger, from, to, version: campaign.version, instant })
      if (moved !== null) versions.set(moved, campaign.version)
    }
  }
  if (campaign.status !== status) throw new Error(`A life that should end as ${status} ends as ${campaign.status}`)
  const banks = campaign.banks.map(bank => ({
    slot: Number(bank.bankId),
    status: bank.status,
    stage: bank.stage,
    version: versions.get(bank.bankId) ?? 0,
  }))
  return { status, age, version: campaign.version, steps, banks }
}

const newCampaign = (): LockedCampaign => ({
  cashbackId: '',
  merchantId: '',
  createdByBankId: null,
  name: '',
  status: 'awaitingBankApproval',
  dateFrom: new Date(5 * dayMs),
  dateTo: new Date(20 * dayMs),
  merchantPays: true,
  banks: [],
  version: 1,
  createdAt: before,
  updatedAt: before,
  compensationReceivedAt: null,
})

/** Makes the models, in the order of their numbers in `modelNumbers`. */
export const makeModels = (): Model[] => shares.map(([status, age]) => live(status, age))
