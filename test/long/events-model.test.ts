/**
 * Random walks through the lives of campaigns, and some orders and credentials. The feeds must have the events of a
 * model made from the table of contract/events.md, "Types", in the right accounts, and no others.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { transitions } from '../../src/campaigns/lifecycle/transitions.ts'
import {
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  inDays,
  openCampaignBank,
  openMerchant,
  openUser,
  type Partner,
} from '../support/campaigns.ts'
import { bankAt } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import fc from '../support/properties.ts'
import { type Ended, line, move, reportOf, uploadBank, uploadMerchant } from '../support/reconciliation.ts'

const bankCodes = ['alpha', 'beta', 'gamma'] as const
type BankCode = (typeof bankCodes)[number]

let platform: TestPlatform
let grocer: Partner
let platformPerson: Partner
const banks = {} as Record<BankCode, Partner>

before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  for (const code of bankCodes) banks[code] = await openCampaignBank(platform, code)
  platformPerson = await openUser(platform, 'platform', 'admin')
})
after(() => platform.close())

type Event = { type: string; data: Record<string, any> }

/** Returns all events after a position, and the text of the answers. */
async function readFeed(partner: Partner, position: number): Promise<{ events: Event[]; text: string }> {
  const events: Event[] = []
  let [text, next, hasMore] = ['', position, true]
  while (hasMore) {
    const answer = await partner.call('GET', `/partner/v1/events?after=${next}&limit=1000`)
    assert.equal(answer.status, 200, answer.text)
    events.push(...answer.body.data)
    text += answer.text
    ;({ nextAfter: next, hasMore } = answer.body)
  }
  return { events, text }
}
const endOf = async (partner: Partner): Promise<number> =>
  (await partner.call('GET', '/partner/v1/events?after=now')).body.nextAfter

/** The table of the contract, written here again, so that the model does not use the platform's code. */
const ofCampaign: Record<string, string> = {
  awaitingBankApproval: 'campaign.awaiting_banks',
  awaitingMerchantApproval: 'campaign.awaiting_merchant',
  approved: 'campaign.approved',
  declined: 'campaign.declined',
  active: 'campaign.started',
  awaitingCompensationConfirmation: 'campaign.ended',
  expired: 'campaign.expired',
  deleted: 'campaign.deleted',
  awaitingCompensationPayment: 'campaign.payment_due',
  paymentConfirmed: 'campaign.paid',
  compensationReceived: 'campaign.compensation_received',
  completed: 'campaign.completed',
}
const ofPart: Record<string, string> = {
  pending: 'participation.invited',
  approved: 'participation.approved',
  declined: 'participation.declined',
  expired: 'participation.expired',
}
const ofReporting: Record<string, string> = {
  end: 'reconciliation.started',
  'upload-bank-report': 'reconciliation.bank_report_uploaded',
  'upload-merchant-report': 'reconciliation.merchant_report_uploaded',
  'accept-report': 'reconciliation.accepted',
  settle: 'reconciliation.settled',
  acknowledge: 'reconciliation.acknowledged',
}

type Entry = {
  at: string
  subject: 'campaign' | 'bank' | 'reporting'
  bankId: string | null
  trigger: string
  from: string | null
  to: string | null
}
type Expected = Record<'merchant' | BankCode, string[]>

const codeOf = (bankId: string | null): BankCode =>
  bankCodes.find(code => ids[code] === bankId) ?? assert.fail(String(bankId))

function typeOf({ subject, trigger, from, to }: Entry): string {
  if (trigger === 'edit') return 'campaign.updated'
  const type =
    subject === 'reporting'
      ? ofReporting[trigger]
      : subject === 'bank'
        ? to === null
          ? 'participation.withdrawn'
          : ofPart[to]
        : from === null
          ? 'campaign.created'
          : ofCampaign[String(to)]
  return type ?? assert.fail(`${subject} ${trigger}`)
}

/** @returns for each account the events about one campaign, in their order, as `type` or `type bank` */
function model(history: readonly Entry[], hidden: ReadonlySet<string>): Expected {
  const told: Expected = { merchant: [], alpha: [], beta: [], gamma: [] }
  const members = new Set<BankCode>()
  const groups = Map.groupBy(history, ({ at }) => at)
  for (const [at, group] of groups) {
    for (const { subject, bankId, to } of group)
      if (subject === 'bank') to === null ? members.delete(codeOf(bankId)) : members.add(codeOf(bankId))
    const isCampaign = (entry: Entry) => entry.subject === 'campaign'
    for (const entry of [...group.filter(isCampaign), ...group.filter(one => !isCampaign(one))]) {
      const type = typeOf(entry)
      const name = entry.bankId === null ? type : `${type} ${entry.bankId}`
      told.merchant.push(name)
      // Banks get no event about an edit that changes only the list of banks.
      if (type === 'campaign.updated' && hidden.has(at)) continue
      for (const code of entry.bankId === null ? members : [codeOf(entry.bankId)]) told[code].push(name)
    }
  }
  return told
}

/** The trigger that a bank may learn of a change of the campaign: what another bank has decided stays hidden. */
function triggerFor(bankId: string, history: readonly Entry[], { updatedAt, status }: Event['data']): string {
  const group = history.filter(({ at }) => at === updatedAt)
  const { trigger } = group.find(one => one.subject === 'campaign' && one.to === status) ?? assert.fail()
  const isOwn = group.some(one => one.subject === 'bank' && one.bankId === bankId)
  return (trigger === 'confirm' || trigger === 'reject') && !isOwn ? 'decide' : trigger
}

/** Returns the events about one campaign in a feed, in the same form as `model`. */
const heard = (events: readonly Event[], cashbackId: string): string[] =>
  events
    .filter(({ data }) => data.cashbackId === cashbackId)
    .map(({ type, data }) => (data.bankId === undefined ? type : `${type} ${data.bankId}`))

/**
 * The feed must have exactly the expected events. The order must be the same for each subject (the campaign, or one
 * bank); events of different subjects at one instant may be in another order, but `campaign.created` comes first.
 */
function assertTold(who: string, found: readonly string[], expected: readonly string[]): void {
  assert.deepEqual(found.toSorted(), expected.toSorted(), who)
  const ofSubject = (all: readonly string[]) => Map.groupBy(all, name => name.split(' ')[1] ?? 'campaign')
  assert.deepEqual(
    [...ofSubject(found)].toSorted(),
    [...ofSubject(expected)].toSorted(),
    `${who}: the order of one subject`,
  )
  if (expected.includes('campaign.created')) assert.equal(found[0], 'campaign.created', who)
}

const actions = [
  'confirm',
  'reject',
  'launch',
  'delete',
  'changeBanks',
  'rename',
  'start',
  'end',
  'bankReport',
  'merchantReport',
  'accept',
  'settle',
  'pay',
  'acknowledge',
  'complete',
] as const
type Action = (typeof actions)[number]
type Step = { action: Action; bank: BankCode; others: BankCode[] }
type Walk = { byBank: boolean; merchantPays: boolean; invited: BankCode[]; steps: Step[] }
type Campaign = Ended & { hidden: Set<string> }

const author = (walk: Walk) => (walk.byBank ? banks.alpha : grocer)

async function create(walk: Walk): Promise<Campaign> {
  const period = { dateFrom: inDays(platform, 10), dateTo: inDays(platform, 20) }
  const percentage = { merchantCompensationPercentage: walk.merchantPays ? 60 : 0 }
  const participantsIds = walk.invited.map(code => ids[code])
  const id = walk.byBank
    ? await createBankCampaign(platform, banks.alpha, { ...period, ...percentage })
    : await createCampaign(platform, { participantsIds, ...period, ...percentage }, grocer)
  return { id, ...period, at: inDays(platform, 15), hidden: new Set() }
}

const moveTo = async (now: string) => {
  const at = Math.max(Date.parse(now), platform.platform.deps.campaigns.clock.now().getTime())
  const answer = await platform.call('POST', '/sandbox/clock', { body: { now: new Date(at + 1_000).toISOString() } })
  assert.equal(answer.status, 200, answer.text)
}

/** Tries a step and ignores the answer: a refused step leaves no history. */
async function act(campaign: Campaign, { action, bank, others }: Step): Promise<unknown> {
  const { id, dateFrom, dateTo } = campaign
  const participant = banks[bank]
  const bankPath = `${id}/banks/${ids[bank]}`
  const edit = (body: object) => grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })
  const does: Record<Action, () => Promise<unknown>> = {
    confirm: () => participant.call('POST', `/cashbacks/${id}/confirm`),
    reject: () => participant.call('POST', `/cashbacks/${id}/reject`),
    launch: () => grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`),
    delete: () => grocer.call('DELETE', `/cashbacks/for-merchant/${id}`),
    async changeBanks() {
      const before = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
      const { status, body } = await edit({ participantsIds: others.map(code => ids[code]) })
      // An edit to the same list of banks changes nothing, not even `updatedAt`.
      if (status === 200 && body.updatedAt !== before.body.updatedAt) campaign.hidden.add(body.updatedAt)
    },
    rename: () => edit({ name: `Renamed ${Math.random()}` }),
    start: () => moveTo(dateFrom),
    end: () => moveTo(dateTo),
    bankReport: () => uploadBank(participant, id, reportOf(line(campaign, `${Math.random()}`))),
    merchantReport: () =>
      uploadMerchant(
        grocer,
        id,
        `transactionId,terminalId,transactionAt,amount\nx,T-0001,${campaign.at},200.00\n`,
        ids[bank],
      ),
    accept: () => move(grocer, `${bankPath}/accept-report`),
    settle: () => move(grocer, `${bankPath}/settle`),
    pay: () => move(grocer, `${id}/compensation-paid`),
    acknowledge: () => move(participant, `${id}/compensation-received`),
    complete: () =>
      platform.call('POST', `/admin/campaigns/${id}/complete`, { token: platform.config.operatorKey, body: {} }),
  }
  return does[action]()
}

const seen = new Set<string>()

async function walkThrough(walk: Walk): Promise<void> {
  const accounts = { merchant: grocer, ...banks }
  const from = new Map<string, number>()
  for (const [who, partner] of Object.entries(accounts)) from.set(who, await endOf(partner))
  const campaign = await create(walk)
  for (const step of walk.steps) await act(campaign, step)
  // Moving the clock makes every transition that is due. Otherwise one could happen after the history is read.
  await moveTo(new Date(0).toISOString())
  const answer = await author(walk).call('GET', `/portal/cashbacks/${campaign.id}/history`)
  const whole = walk.byBank ? await grocer.call('GET', `/portal/cashbacks/${campaign.id}/history`) : answer
  const history: Entry[] = whole.body
  for (const { subject, from: before, trigger, to } of history) seen.add([subject, before, trigger, to].join(' '))
  const expected = model(history, campaign.hidden)
  // This request is answered only when every change before it has its numbered event.
  await endOf(grocer)
  for (const [who, partner] of Object.entries(accounts)) {
    const { events, text } = await readFeed(partner, from.get(who) ?? 0)
    assertTold(who, heard(events, campaign.id), expected[who as keyof Expected])
    if (who === 'merchant') continue
    for (const other of bankCodes)
      if (other !== who) assert.ok(!text.includes(ids[other]), `${who} is told of ${other}`)
    for (const { data } of events)
      if (data.cashbackId === campaign.id && data.trigger !== undefined)
        assert.equal(data.trigger, triggerFor(ids[who as BankCode], history, data))
  }
  const { events } = await readFeed(platformPerson, 0)
  assert.deepEqual(
    events.filter(({ data }) => data.cashbackId !== undefined),
    [],
    'the platform is told of no campaign',
  )
}

const all = (actions: Action[], bank: BankCode = 'alpha'): Step[] =>
  actions.map(action => ({ action, bank, others: [...bankCodes] }))
const ofBoth = (...actions: Action[]): Step[] =>
  actions.flatMap(action => [...all([action], 'alpha'), ...all([action], 'beta')])
const merchantWalk = (steps: Step[], invited: BankCode[] = ['alpha'], merchantPays = true): [Walk] => [
  { byBank: false, merchantPays, invited, steps },
]

/** These walks make every transition of the lifecycle's table. The random walks combine transitions in other ways. */
const directed: [Walk][] = [
  merchantWalk(
    [
      ...ofBoth('confirm'),
      ...all(['launch', 'start', 'end']),
      ...ofBoth('bankReport', 'merchantReport', 'bankReport', 'accept', 'settle'),
      ...all(['pay']),
      ...ofBoth('acknowledge'),
      ...all(['complete']),
    ],
    ['alpha', 'beta'],
  ),
  merchantWalk(all(['confirm', 'launch', 'start', 'end', 'bankReport', 'accept', 'settle']), ['alpha'], false),
  merchantWalk([...all(['confirm']), ...all(['reject'], 'beta'), ...all(['changeBanks', 'delete'])], ['alpha', 'beta']),
  merchantWalk([...all(['confirm']), ...all(['launch', 'delete'])], ['alpha', 'beta']),
  merchantWalk(all(['confirm', 'end'])),
  merchantWalk(all(['end'])),
  merchantWalk(all(['confirm', 'delete'])),
  merchantWalk(all(['delete'])),
  merchantWalk([{ action: 'changeBanks', bank: 'alpha', others: ['beta'] }, ...all(['rename'])], ['alpha', 'gamma']),
  merchantWalk(
    [...all(['reject'], 'beta'), { action: 'changeBanks', bank: 'alpha', others: ['alpha'] }, ...all(['rename'])],
    ['alpha', 'beta'],
  ),
  merchantWalk(all(['reject', 'rename', 'changeBanks']), [...bankCodes]),
  [{ byBank: true, merchantPays: true, invited: ['alpha'], steps: all(['confirm', 'launch', 'start', 'end']) }],
  [{ byBank: true, merchantPays: true, invited: ['alpha'], steps: all(['reject']) }],
]

const walks = fc.record({
  byBank: fc.boolean(),
  merchantPays: fc.boolean(),
  invited: fc.uniqueArray(fc.constantFrom(...bankCodes), { minLength: 1 }),
  steps: fc.array(
    fc.record({
      action: fc.constantFrom(...actions),
      bank: fc.constantFrom(...bankCodes),
      others: fc.uniqueArray(fc.constantFrom(...bankCodes), { minLength: 1 }),
    }),
    { minLength: 5, maxLength: 40 },
  ),
})

test('every transition of a campaign is told to the accounts of the model, and to no others', async () => {
  await fc.assert(fc.asyncProperty(walks, walkThrough), {
    examples: directed,
    numRuns: directed.length + 15,
    endOnFailure: true,
  })
  const missing = transitions
    .map(({ subject, from, trigger, to }) => [subject, from, trigger, to].join(' '))
    .filter(name => !seen.has(name))
  assert.deepEqual(missing, [], 'transitions that no walk took')
})

test('orders are told to their bank: confirmed, cancelled, expiring and expired, in this order, and reservations to nobody', async () => {
  await platform.applyDirectory(`${campaignDirectory}
esim:
  operators:
    - code: kyivstar
      nameUk: Київстар
      country: UA
      tariffs: [{ code: eu-10gb, name: Europe 10 GB, price: 399.00, currency: UAH, validityDays: 30 }]
`)
  await platform.addStock('kyivstar', 'eu-10gb', 600)
  const paths = {
    confirm: ['order.confirmed'],
    cancel: ['order.cancelled'],
    leave: ['order.expiring', 'order.expired'],
  }
  const plans = fc.array(
    fc.record({
      code: fc.constantFrom(...bankCodes),
      path: fc.constantFrom(...(Object.keys(paths) as (keyof typeof paths)[])),
      isRepeated: fc.boolean(),
    }),
    { minLength: 1, maxLength: 15 },
  )
  let round = 0
  await fc.assert(
    fc.asyncProperty(plans, async orders => {
      round++
      const from = new Map<BankCode, number>()
      for (const code of bankCodes) from.set(code, await endOf(banks[code]))
      const expected = Object.fromEntries(bankCodes.map(code => [code, {}])) as Record<
        BankCode,
        Record<string, string[]>
      >
      for (const [n, { code, path, isRepeated }] of orders.entries()) {
        const bank = bankAt(platform, banks[code].token)
        const { status, body } = await bank.reserve(`model-${round}-${n}`)
        assert.equal(status, 201)
        for (let times = isRepeated ? 2 : 1; times > 0; times--) {
          if (path === 'confirm') await bank.confirm(body.orderId)
          if (path === 'cancel') await bank.cancel(body.orderId)
        }
        expected[code][body.orderId] = paths[path]
      }
      await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT16M' } })
      for (const code of bankCodes) {
        const { events, text } = await readFeed(banks[code], from.get(code) ?? 0)
        const found: Record<string, string[]> = {}
        for (const { type, data } of events)
          if (data.orderId !== undefined) found[data.orderId] = [...(found[data.orderId] ?? []), type]
        assert.deepEqual(found, expected[code], code)
        assert.ok(!/activationCode|iccid|pin1|msisdn/i.test(text))
      }
    }),
    { numRuns: 12, endOnFailure: true },
  )
})

test('credentials are told to their account and the platform: issued, rotated, revoked', async () => {
  const admin = (path: string, body: object) =>
    platform.call('POST', `/admin${path}`, { token: platform.config.operatorKey, body })
  const owners = [
    ...bankCodes.map(code => ({ body: { bank: code, role: 'VIEWER' }, partner: banks[code] })),
    { body: { merchant: 'grocer' }, partner: grocer },
  ]
  const starts = await Promise.all(owners.map(({ partner }) => endOf(partner)))
  const platformStart = await endOf(platformPerson)
  const made: string[] = []
  for (const { body } of owners) {
    const { body: issued } = await admin('/credentials', { ...body, label: 'model' })
    made.push(issued.clientId)
    assert.equal((await admin(`/credentials/${issued.clientId}/rotate`, { overlap: 'PT24H' })).status, 200)
    const revoked = await admin(`/credentials/${issued.clientId}/revoke`, {})
    assert.ok(revoked.status < 300, revoked.text)
  }
  const whole = ['credential.issued', 'credential.rotated', 'credential.revoked']
  const ofCredentials = (events: Event[]) =>
    events.filter(({ type }) => type.startsWith('credential.')).map(({ type, data }) => `${type} ${data.clientId}`)
  await endOf(platformPerson)
  for (const [index, { partner }] of owners.entries()) {
    const { events } = await readFeed(partner, starts[index] ?? 0)
    assert.deepEqual(
      ofCredentials(events),
      whole.map(type => `${type} ${made[index]}`),
    )
  }
  assert.deepEqual(
    ofCredentials((await readFeed(platformPerson, platformStart)).events),
    made.flatMap(clientId => whole.map(type => `${type} ${clientId}`)),
  )
})
