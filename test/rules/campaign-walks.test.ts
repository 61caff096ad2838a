/**
 * For any sequence of triggers by partners, operator and clock, a campaign makes only transitions of the table, and the
 * contract's promises about its banks hold after each.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as life from '../../src/campaigns/lifecycle/lifecycle.ts'
import { type BankStatus, campaignStatuses, transitions } from '../../src/campaigns/lifecycle/transitions.ts'
import { DomainError } from '../../src/errors.ts'
import { after, campaign, dateFrom, type LivingCampaign } from '../support/campaign-life.ts'
import fc from '../support/properties.ts'

const dayMs = 86_400_000
const waitMs = 30 * dayMs
const bankIds = ['a', 'b', 'c'] as const
const stateCodes: readonly string[] = ['campaign-state', 'no-bank-approved']

type Walk = { campaign: LivingCampaign; now: Date; seen: Set<string> }
type Request = { what: keyof typeof requests; bank: string; others: string[] }
type Step = Request & { days: number; choice: number }

type Ask = (campaign: LivingCampaign, bank: life.BankState, given: { now: Date; others: string[] }) => life.Decision

/** The triggers of partners and the operator. */
const requests = {
  confirm: (campaign, bank, { now }) => life.confirm(campaign, bank, now),
  reject: (campaign, bank, { now }) => life.reject(campaign, bank, now),
  launch: (campaign, _, { now }) => life.launch(campaign, now),
  delete: (campaign, _, { now }) => life.remove(campaign, now),
  changeBanks: (campaign, _, { others }) => life.changeBanks(campaign, others),
  uploadBankReport: (_, bank) => life.uploadBankReport(bank),
  uploadMerchantReport: (_, bank) => life.uploadMerchantReport(bank),
  acceptReport: (_, bank) => life.acceptReport(bank),
  settle: (campaign, bank) => life.settle(campaign, bank),
  pay: campaign => life.pay(campaign),
  acknowledge: (campaign, bank) => life.acknowledge(campaign, bank),
  complete: campaign => life.complete(campaign),
} satisfies Record<string, Ask>
const names = Object.keys(requests) as (keyof typeof requests)[]

/** The states from the launch on, in which at least one bank must have agreed. */
const launched = campaignStatuses.slice(campaignStatuses.indexOf('approved'), campaignStatuses.indexOf('completed') + 1)
const reconciling = launched.slice(launched.indexOf('awaitingCompensationConfirmation'))

/** Returns what a request decides; null if it is refused or its bank is not invited. */
function decisionOn({ campaign, now }: Walk, { what, bank: bankId, others }: Request): life.Decision | null {
  const bank = campaign.banks.find(found => found.bankId === bankId)
  if (!bank) return null
  try {
    return (requests[what] as Ask)(campaign, bank, { now, others })
  } catch (error) {
    assert.ok(error instanceof DomainError && stateCodes.includes(error.code), `${what}: ${error}`)
    return null
  }
}

/** Chooses one request from all that would change something now; returns an empty list if there is none. */
function willing(walk: Walk, { choice, others }: Step): Request[] {
  const possible = names
    .flatMap(what => bankIds.map(bank => ({ what, bank, others })))
    .filter(request => (decisionOn(walk, request)?.changes.length ?? 0) > 0)
  return possible.slice(choice % Math.max(1, possible.length)).slice(0, 1)
}

function make(walk: Walk, decision: life.Decision): void {
  const { campaign } = walk
  for (const { subject, bankId, trigger, from, to } of decision.changes) {
    const isOfTable = transitions.some(
      move => move.subject === subject && move.from === from && move.trigger === trigger && move.to === to,
    )
    assert.ok(isOfTable, `no move of the table: ${subject} from ${from} by ${trigger} to ${to}`)
    const bank = campaign.banks.find(found => found.bankId === bankId)
    const present = { campaign: campaign.status, bank: bank?.status ?? null, reporting: bank?.stage ?? null }[subject]
    assert.equal(from, present, `${subject} moves from where it is`)
    walk.seen.add(`${subject} ${from} ${trigger} ${to}`)
  }
  walk.campaign = after(campaign, decision, walk.now)
}

function passTime(walk: Walk, days: number): void {
  walk.now = new Date(walk.now.getTime() + days * dayMs)
  let asks = 0
  for (let due = life.passTime(walk.campaign, walk.now, waitMs); due; asks++) {
    assert.ok(due.changes.length > 0)
    make(walk, due)
    due = life.passTime(walk.campaign, walk.now, waitMs)
  }
  assert.ok(asks <= 2, 'the clock comes to an end')
}

function holds({ campaign }: Walk): void {
  const { status, banks } = campaign
  const count = (of: BankStatus) => banks.filter(bank => bank.status === of).length
  if (launched.includes(status)) {
    assert.ok(count('approved') > 0, `${status} without an approved bank`)
    assert.equal(count('pending'), 0, `${status} with a pending bank`)
  }
  if (status === 'awaitingMerchantApproval') assert.equal(count('pending'), 0)
  for (const bank of banks)
    assert.equal(
      bank.stage !== null,
      bank.status === 'approved' && reconciling.includes(status),
      `${status}, ${bank.stage}`,
    )
  const isPaidOff = ['awaitingCompensationPayment', 'paymentConfirmed', 'compensationReceived', 'completed']
  if (isPaidOff.includes(status))
    assert.ok(
      banks.every(bank => bank.status !== 'approved' || life.isSettled(bank.stage)),
      `${status} without settlement`,
    )
}

type Given = { byBank: boolean; merchantPays: boolean; isWilling: boolean; banks: string[]; steps: Step[] }

function walkThrough(given: Given): Set<string> {
  const created = life.create(given.byBank ? ['a'] : given.banks)
  const now = new Date(dateFrom.getTime() - 10 * dayMs)
  const walk: Walk = { campaign: { ...campaign({ status: 'awaitingBankApproval' }), banks: [] }, now, seen: new Set() }
  walk.campaign.createdByBankId = given.byBank ? 'a' : null
  walk.campaign.merchantPays = given.merchantPays
  walk.campaign = after(walk.campaign, created, now)
  for (const step of given.steps) {
    for (const request of given.isWilling ? willing(walk, step) : [step]) takeStep(walk, request)
    passTime(walk, step.days)
    holds(walk)
  }
  return walk.seen
}

function takeStep(walk: Walk, request: Request): void {
  const decision = decisionOn(walk, request)
  if (!decision) return
  make(walk, decision)
  holds(walk)
  // Repeats the request, as a client does when the answer was lost. A second launch is refused, and a second upload counts
  // as a new report. Everything else changes nothing.
  const again = decisionOn(walk, request)?.changes.length ?? 'refused'
  const { what } = request
  if (what === 'launch') assert.equal(again, 'refused')
  else if (!what.startsWith('upload') && !isGone(walk, request)) assert.equal(again, 0, `${what} again`)
}

const isGone = ({ campaign }: Walk, { bank }: Request): boolean => !campaign.banks.some(({ bankId }) => bankId === bank)

const bank = fc.constantFrom(...bankIds)
const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...names),
  bank,
  others: fc.subarray([...bankIds], { minLength: 1 }),
  days: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 3 }) }, { weight: 1, arbitrary: fc.constant(30) }),
  choice: fc.nat(1_000),
})
const walks = fc.record({
  byBank: fc.boolean(),
  merchantPays: fc.boolean(),
  isWilling: fc.boolean(),
  banks: fc.subarray([...bankIds], { minLength: 1 }),
  steps: fc.array(anyStep, { maxLength: 60, size: 'max' }),
})

test('random walks keep every promise, and together make every move of the table', () => {
  const seen = new Set(['campaign null create awaitingBankApproval'])
  fc.assert(
    fc.property(walks, walk => {
      for (const move of walkThrough(walk)) seen.add(move)
    }),
    { numRuns: 600 },
  )
  const all = new Set(transitions.map(({ subject, from, trigger, to }) => `${subject} ${from} ${trigger} ${to}`))
  assert.deepEqual(
    [...all].filter(move => !seen.has(move)),
    [],
    'moves that no walk has made',
  )
})
