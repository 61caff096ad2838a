/**
 * The life of a campaign (contract/campaigns.md, "Who decides when"): every pair of state and trigger, for
 * the campaign, each bank's participation and its reporting. The tables here were written from the contract, not from
 * the code.
 */
import assert from 'node:assert/strict'
import { after as afterAll, before, suite, test } from 'node:test'
import { editable, editableFields } from '../../src/campaigns/lifecycle/editable-fields.ts'
import * as life from '../../src/campaigns/lifecycle/lifecycle.ts'
import {
  bankReportingStatus,
  type Decision,
  deleteBeforeStartMs,
  isSettled,
} from '../../src/campaigns/lifecycle/lifecycle.ts'
import {
  type BankStatus,
  bankStatuses,
  type CampaignStatus,
  campaignStatuses,
  type ReportingStage,
  reportingStages,
  subjects,
  transitions,
} from '../../src/campaigns/lifecycle/transitions.ts'
import {
  bankA,
  campaign,
  dateFrom,
  dateTo,
  during,
  type LivingCampaign,
  longBefore,
  outcomeOf,
} from '../support/campaign-life.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { diagram, pages, readPage, redrawn } from '../support/diagrams.ts'

const month = 30 * 86_400_000
const justBefore = (instant: Date) => new Date(instant.getTime() - 1)

type Ask = (given: LivingCampaign) => Decision | null

/** Each trigger, with bank statuses and a time that allow it, so that only the campaign's status decides. */
const campaignTriggers = {
  confirm: [{ a: 'pending', b: 'approved' }, given => life.confirm(given, bankA(given), longBefore)],
  reject: [{ a: 'pending', b: 'approved' }, given => life.reject(given, bankA(given), longBefore)],
  launch: [{ a: 'pending', b: 'approved' }, given => life.launch(given, longBefore)],
  delete: [{ a: 'approved' }, given => life.remove(given, longBefore)],
  invite: [{ a: 'approved' }, given => life.changeBanks(given, ['a', 'new'])],
  uninvite: [{ a: 'pending', b: 'declined' }, given => life.changeBanks(given, ['b'])],
  dateFrom: [{ a: 'approved' }, given => life.passTime(given, dateFrom, month)],
  dateTo: [{ a: 'approved' }, given => life.passTime(given, dateTo, month)],
  settle: [{ a: 'approved', stageOfA: 'awaitingCompensationConfirmation' }, given => life.settle(given, bankA(given))],
  pay: [{ a: 'approved', stageOfA: 'settled' }, given => life.pay(given)],
  acknowledge: [{ a: 'approved', stageOfA: 'settled' }, given => life.acknowledge(given, bankA(given))],
  complete: [{ a: 'approved', stageOfA: 'acknowledged' }, given => life.complete(given)],
  wait: [
    { a: 'approved', stageOfA: 'acknowledged', compensationReceivedAt: dateTo },
    given => life.passTime({ ...given, dateTo: new Date(8e15) }, new Date(dateTo.getTime() + month), month),
  ],
} satisfies Record<string, [Omit<Parameters<typeof campaign>[0], 'status'>, Ask]>
type CampaignTrigger = keyof typeof campaignTriggers

const refused = { confirm: 'refused', reject: 'refused', launch: 'refused', delete: 'refused', invite: 'refused' }
const over = {
  ...refused,
  uninvite: 'refused',
  dateFrom: 'nothing',
  dateTo: 'nothing',
  settle: 'refused',
  pay: 'refused',
  acknowledge: 'refused',
  complete: 'refused',
  wait: 'nothing',
}

/**
 * The status of the campaign after each trigger. `over` has the results for triggers that a line does not name. `same`:
 * only banks change.
 */
const expectedOfCampaign: Record<CampaignStatus, Partial<Record<CampaignTrigger, string>>> = {
  awaitingBankApproval: {
    confirm: 'awaitingMerchantApproval',
    reject: 'awaitingMerchantApproval',
    launch: 'approved',
    delete: 'deleted',
    invite: 'same',
    uninvite: 'same',
    dateTo: 'expired',
  },
  awaitingMerchantApproval: {
    confirm: 'same',
    reject: 'same',
    launch: 'approved',
    delete: 'deleted',
    invite: 'awaitingBankApproval',
    dateTo: 'expired',
  },
  // At `dateTo`, the first call of `passTime` only starts the campaign; callers repeat it until nothing is due.
  approved: { delete: 'deleted', dateFrom: 'active', dateTo: 'active', wait: 'active' },
  active: { dateTo: 'awaitingCompensationConfirmation' },
  awaitingCompensationConfirmation: { settle: 'awaitingCompensationPayment' },
  awaitingCompensationPayment: { pay: 'paymentConfirmed' },
  paymentConfirmed: { pay: 'repeat', acknowledge: 'compensationReceived' },
  compensationReceived: { pay: 'repeat', complete: 'completed', wait: 'completed' },
  completed: { pay: 'repeat', complete: 'repeat' },
  declined: {},
  expired: {},
  deleted: { delete: 'repeat' },
}

suite('every state of a campaign and every trigger', () => {
  for (const status of campaignStatuses)
    for (const [trigger, [given, ask]] of Object.entries(campaignTriggers) as [
      CampaignTrigger,
      (typeof campaignTriggers)[CampaignTrigger],
    ][]) {
      const outcome = expectedOfCampaign[status][trigger] ?? over[trigger]
      test(`${trigger} on ${status}: ${outcome}`, () => {
        const state = campaign({ ...given, status, compensationReceivedAt: dateTo })
        assert.equal(outcomeOf(state, () => ask(state)).campaign, outcome)
      })
    }
})

suite('every status of a bank and every trigger', () => {
  const expected: Record<BankStatus, Record<string, string>> = {
    pending: { confirm: 'approved', reject: 'declined', launch: 'expired', end: 'expired', uninvite: 'gone' },
    approved: { confirm: 'repeat', reject: 'refused', launch: 'same', end: 'expired', uninvite: 'refused' },
    declined: { confirm: 'refused', reject: 'repeat', launch: 'same', end: 'same', uninvite: 'gone' },
    expired: { confirm: 'refused', reject: 'refused', launch: 'same', end: 'same' },
  }
  const asks: Record<string, [BankStatus, Ask]> = {
    confirm: ['pending', given => life.confirm(given, bankA(given), longBefore)],
    reject: ['pending', given => life.reject(given, bankA(given), longBefore)],
    launch: ['approved', given => life.launch(given, longBefore)],
    end: ['pending', given => life.passTime(given, dateTo, month)],
    uninvite: ['pending', given => life.changeBanks(given, ['b'])],
  }
  for (const a of bankStatuses)
    for (const [trigger, outcome] of Object.entries(expected[a]))
      test(`${trigger} when the bank is ${a}: ${outcome}`, () => {
        const [b, ask] = asks[trigger] ?? assert.fail(trigger)
        const state = campaign({ status: 'awaitingBankApproval', a, b })
        assert.equal(outcomeOf(state, () => ask(state)).bank, outcome)
      })

  test('the end of an active campaign leaves approved banks approved', () => {
    for (const a of bankStatuses.filter(status => status !== 'pending')) {
      const state = campaign({ status: 'active', a, b: 'approved' })
      assert.equal(outcomeOf(state, () => life.passTime(state, dateTo, month)).bank, 'same', a)
    }
  })
})

suite('every stage of the reporting and every trigger', () => {
  const stages: Record<string, Partial<Record<string, string>>> = {
    null: {},
    awaitingBankReconciliation: { bankReport: 'awaitingMerchantReconciliationConfirmation' },
    awaitingMerchantReconciliationConfirmation: {
      merchantReport: 'awaitingUpdatedBankReconciliation',
      accept: 'awaitingCompensationConfirmation',
    },
    awaitingUpdatedBankReconciliation: { bankReport: 'awaitingMerchantReconciliationConfirmation' },
    awaitingCompensationConfirmation: { accept: 'repeat', settle: 'settled' },
    settled: { accept: 'repeat', settle: 'repeat', acknowledge: 'acknowledged' },
    acknowledged: { accept: 'repeat', settle: 'repeat', acknowledge: 'repeat' },
  }
  const asks: Record<string, [CampaignStatus, Ask]> = {
    bankReport: ['awaitingCompensationConfirmation', given => life.uploadBankReport(bankA(given))],
    merchantReport: ['awaitingCompensationConfirmation', given => life.uploadMerchantReport(bankA(given))],
    accept: ['awaitingCompensationConfirmation', given => life.acceptReport(bankA(given))],
    settle: ['awaitingCompensationConfirmation', given => life.settle(given, bankA(given))],
    acknowledge: ['paymentConfirmed', given => life.acknowledge(given, bankA(given))],
  }
  for (const stageOfA of [null, ...reportingStages])
    for (const [trigger, [status, ask]] of Object.entries(asks)) {
      const outcome = stages[String(stageOfA)]?.[trigger] ?? 'refused'
      test(`${trigger} when the stage is ${stageOfA}: ${outcome}`, () => {
        const stageOfB: ReportingStage = 'awaitingBankReconciliation'
        const state = campaign({ status, a: 'approved', b: 'approved', stageOfA, stageOfB })
        assert.equal(outcomeOf(state, () => ask(state)).stage, outcome)
      })
    }

  test('the end of the period opens it for approved banks alone', () => {
    for (const a of ['approved', 'declined', 'expired'] as const) {
      const state = campaign({ status: 'active', a, b: 'approved' })
      const { stage } = outcomeOf(state, () => life.passTime(state, dateTo, month))
      assert.equal(stage, a === 'approved' ? 'awaitingBankReconciliation' : 'same')
    }
  })

  test('what follows the contract’s last stage is told by settlementConfirmed', () => {
    assert.deepEqual(
      [null, ...reportingStages].map(stage => [bankReportingStatus(stage), isSettled(stage)]),
      [
        [null, false],
        ['awaitingBankReconciliation', false],
        ['awaitingMerchantReconciliationConfirmation', false],
        ['awaitingUpdatedBankReconciliation', false],
        ['awaitingCompensationConfirmation', false],
        ['awaitingCompensationConfirmation', true],
        ['awaitingCompensationConfirmation', true],
      ],
    )
  })
})

type Given = Parameters<typeof campaign>[0]
const status = 'awaitingBankApproval'
const confirmAt =
  (now: Date): Ask =>
  given =>
    life.confirm(given, bankA(given), now)
const rejectAt =
  (now: Date): Ask =>
  given =>
    life.reject(given, bankA(given), now)
const launchAt =
  (now: Date): Ask =>
  given =>
    life.launch(given, now)
const deleteAt =
  (now: Date): Ask =>
  given =>
    life.remove(given, now)
const passTimeAt =
  (now: Date, wait = month): Ask =>
  given =>
    life.passTime(given, now, wait)
const settle: Ask = given => life.settle(given, bankA(given))
const acknowledge: Ask = given => life.acknowledge(given, bankA(given))
const closing = { status: 'awaitingCompensationConfirmation', a: 'approved', b: 'approved' } as const
const twoDaysBefore = new Date(dateFrom.getTime() - deleteBeforeStartMs)
const settledA = { ...closing, stageOfA: 'awaitingCompensationConfirmation' } as const
const received = { status: 'compensationReceived', compensationReceivedAt: during } as const

/** Rules that depend on more than the state: the author, the other banks, and the time. */
const cases: [string, Given, Ask, string][] = [
  ['a bank confirms its own campaign: approved at once', { status, by: 'bank' }, confirmAt(longBefore), 'approved'],
  ['a bank rejects its own campaign: declined', { status, by: 'bank' }, rejectAt(longBefore), 'declined'],
  ['one of several banks confirms: others still decide', { status, b: 'pending' }, confirmAt(longBefore), 'same'],
  ['one of several banks rejects: others still decide', { status, b: 'pending' }, rejectAt(longBefore), 'same'],
  [
    'the last bank confirms after a rejection',
    { status, b: 'declined' },
    confirmAt(longBefore),
    'awaitingMerchantApproval',
  ],
  ['the only bank confirms', { status }, confirmAt(longBefore), 'awaitingMerchantApproval'],
  ['the only bank rejects: the merchant may invite others', { status }, rejectAt(longBefore), 'same'],
  ['all banks have rejected', { status, b: 'declined' }, rejectAt(longBefore), 'same'],
  ['a bank confirms 1 ms before dateTo', { status }, confirmAt(justBefore(dateTo)), 'awaitingMerchantApproval'],
  ['a bank confirms at dateTo, the job being late', { status }, confirmAt(dateTo), 'refused'],
  ['a bank rejects at dateTo, the job being late', { status }, rejectAt(dateTo), 'refused'],
  ['a bank repeats its approval after the launch', { status: 'active', a: 'approved' }, confirmAt(during), 'repeat'],
  ['a bank repeats its rejection after the end', { status: 'expired', a: 'declined' }, rejectAt(dateTo), 'repeat'],
  ['a bank that was left out confirms', { status: 'approved', a: 'expired' }, confirmAt(longBefore), 'refused'],
  ['a launch without an approved bank', { status, a: 'pending', b: 'declined' }, launchAt(longBefore), 'refused'],
  ['a launch when all banks have rejected', { status, a: 'declined' }, launchAt(longBefore), 'refused'],
  ['a launch of a bank’s campaign', { status, a: 'approved', by: 'bank' }, launchAt(longBefore), 'refused'],
  ['a launch after dateFrom', { status, a: 'approved' }, launchAt(during), 'approved'],
  ['a launch at dateTo, the job being late', { status, a: 'approved' }, launchAt(dateTo), 'refused'],
  ['deleting exactly 48 h before the start', { status: 'approved' }, deleteAt(twoDaysBefore), 'deleted'],
  ['deleting 1 ms later', { status: 'approved' }, deleteAt(new Date(twoDaysBefore.getTime() + 1)), 'refused'],
  ['deleting again, whenever', { status: 'deleted' }, deleteAt(dateTo), 'repeat'],
  ['the clock 1 ms before dateFrom', { status: 'approved' }, passTimeAt(justBefore(dateFrom)), 'nothing'],
  ['the clock 1 ms before dateTo', { status: 'active' }, passTimeAt(justBefore(dateTo)), 'nothing'],
  ['the clock at dateFrom of a campaign without launch', { status, a: 'approved' }, passTimeAt(dateFrom), 'nothing'],
  ['a settlement while another bank is at it', { ...settledA, stageOfB: 'awaitingBankReconciliation' }, settle, 'same'],
  ['the last settlement', { ...settledA, stageOfB: 'settled' }, settle, 'awaitingCompensationPayment'],
  ['a settlement beside a bank that declined', { ...settledA, b: 'declined' }, settle, 'awaitingCompensationPayment'],
  ['the last one, the merchant bearing 0 %', { ...settledA, b: null, merchantPays: false }, settle, 'completed'],
  [
    'paying a campaign that cost nothing',
    { status: 'completed', merchantPays: false },
    given => life.pay(given),
    'refused',
  ],
  [
    'an acknowledgement while another bank waits',
    { ...closing, status: 'paymentConfirmed', stageOfA: 'settled', stageOfB: 'settled' },
    acknowledge,
    'same',
  ],
  [
    'an acknowledgement before the merchant has paid',
    { ...closing, status: 'awaitingCompensationPayment', stageOfA: 'settled', stageOfB: 'settled' },
    acknowledge,
    'refused',
  ],
  ['30 days after the receipt', received, passTimeAt(new Date(during.getTime() + month)), 'completed'],
  ['1 ms less', received, passTimeAt(new Date(during.getTime() + month - 1)), 'nothing'],
  ['no wait at all', received, passTimeAt(during, 0), 'completed'],
]
suite('what else decides', () => {
  for (const [name, given, ask, outcome] of cases)
    test(`${name}: ${outcome}`, () => {
      const state = campaign(given)
      assert.equal(outcomeOf(state, () => ask(state)).campaign, outcome)
    })

  test('a new campaign awaits all its banks', () => {
    const { changes } = life.create(['a', 'b'])
    assert.deepEqual(
      changes.map(({ subject, bankId, trigger, from, to }) => [subject, bankId, trigger, from, to]),
      [
        ['campaign', null, 'create', null, 'awaitingBankApproval'],
        ['bank', 'a', 'invite', null, 'pending'],
        ['bank', 'b', 'invite', null, 'pending'],
      ],
    )
  })

  test('banks change before one has approved: each step has its own trigger', () => {
    const { changes } = life.changeBanks(campaign({ status, a: 'declined', b: 'pending' }), ['b', 'c'])
    assert.deepEqual(
      changes.map(({ bankId, trigger, from, to }) => [bankId, trigger, from, to]),
      [
        ['a', 'uninvite', 'declined', null],
        ['c', 'invite', null, 'pending'],
      ],
    )
    assert.deepEqual(life.changeBanks(campaign({ status: 'active', a: 'approved' }), ['a']).changes, [])
  })

  test('the message of a launch without an approved bank says what must come first', () => {
    const state = campaign({ status })
    assert.throws(() => life.launch(state, longBefore), {
      message: /at least one bank must approve participation first/i,
    })
  })
})

suite('what may be edited', () => {
  const all = editableFields
  const shown = ['description', 'bannerSmall', 'bannerBig', 'terminals']
  const expected: [string, Given, Date, readonly string[], boolean][] = [
    ['everything while no bank has approved', { status, a: 'pending', b: 'declined' }, longBefore, all, false],
    [
      'what no bank agreed to',
      { status, a: 'pending', b: 'approved' },
      longBefore,
      [...shown, 'participantsIds'],
      true,
    ],
    [
      'the same when all have decided',
      { status: 'awaitingMerchantApproval', a: 'approved' },
      longBefore,
      [...shown, 'participantsIds'],
      true,
    ],
    ['how it is shown, once approved', { status: 'approved', a: 'approved' }, longBefore, shown, true],
    ['how it is shown, while active', { status: 'active', a: 'approved' }, during, shown, true],
    ['nothing at dateTo, the job being late', { status: 'active', a: 'approved' }, dateTo, [], true],
    ['nothing of a bank’s campaign', { status, by: 'bank' }, longBefore, [], true],
    ...campaignStatuses
      .slice(campaignStatuses.indexOf('awaitingCompensationConfirmation'))
      .map((later): (typeof expected)[number] => [`nothing when ${later}`, { status: later }, during, [], true]),
  ]
  for (const [name, given, now, fields, onlyAdding] of expected)
    test(name, () => {
      const found = editable({ ...campaign(given), terminalsPlatform: false }, now)
      assert.deepEqual([...found.fields].sort(), [...fields].sort())
      const ofDirectory = editable({ ...campaign(given), terminalsPlatform: true }, now)
      const others = fields.filter(field => !found.onlyAdding || field !== 'terminals')
      assert.deepEqual([...ofDirectory.fields].sort(), [...others].sort())
      if (fields.length > 0) assert.equal(found.onlyAdding, onlyAdding)
    })
})

suite('which banks get a part of a segment', () => {
  const parts = { pending: ['a'], approved: ['a'], declined: [], expired: [] }
  for (const a of bankStatuses)
    test(`a bank that is ${a}: ${parts[a].length > 0}`, () => {
      assert.deepEqual(life.segmentBanks(campaign({ status: 'awaitingBankApproval', a }), longBefore), parts[a])
    })

  test('until the period ends', () => {
    const open = campaignStatuses.filter(state => {
      try {
        return life.segmentBanks(campaign({ status: state }), justBefore(dateTo)).length > 0
      } catch {
        return false
      }
    })
    assert.deepEqual(open, ['awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active'])
    assert.throws(() => life.segmentBanks(campaign({ status: 'active' }), dateTo), { code: 'campaign-state' })
  })
})

suite('one list of states', () => {
  let scratch: TestDatabase
  before(async () => {
    scratch = await createTestDatabase()
  })
  afterAll(() => scratch.close())

  for (const [constraint, states] of [
    ['campaigns_status_check', campaignStatuses],
    ['campaign_banks_status_check', bankStatuses],
    ['campaign_banks_reporting_stage_check', reportingStages],
    ['campaign_history_subject_check', subjects],
  ] as const)
    test(`the database's ${constraint} knows the states of the rules, and no others`, async () => {
      const [row] = await scratch.database.query<{ text: string }>(
        'select pg_get_constraintdef(oid) as text from pg_constraint where conname = $1',
        [constraint],
      )
      const inDatabase = [...(row?.text ?? '').matchAll(/'([A-Za-z]+)'/g)].map(([, state]) => state)
      assert.deepEqual(inDatabase.sort(), [...states].sort())
    })

  test('every state is reached by a transition, and no transition is listed twice', () => {
    const reached = (subject: string) =>
      new Set(transitions.filter(move => move.subject === subject).map(({ to }) => to))
    assert.deepEqual(
      [...campaignStatuses].filter(state => !reached('campaign').has(state)),
      [],
    )
    assert.deepEqual(
      [...bankStatuses].filter(state => !reached('bank').has(state)),
      [],
    )
    assert.deepEqual(
      [...reportingStages].filter(state => !reached('reporting').has(state)),
      [],
    )
    const told = transitions.map(({ subject, from, trigger, to }) => `${subject} ${from} ${trigger} ${to}`)
    assert.equal(new Set(told).size, told.length)
  })
})

suite('the drawings', () => {
  for (const page of pages) test(`${page} shows the table`, () => assert.equal(readPage(page), redrawn(readPage(page))))

  test('each move is an arrow with its trigger', () => {
    for (const { subject, from, to } of transitions)
      assert.match(diagram(subject), new RegExp(`\\n  ${from ?? '\\[\\*\\]'} --> ${to ?? '\\[\\*\\]'}: \\S`))
    assert.match(diagram('campaign'), /\n {2}approved --> active: the period begins<br>\(dateFrom has come\)\n/)
    assert.match(diagram('bank'), /\n {2}pending --> expired: the merchant launches<br>or the period ends\n/)
  })
})
