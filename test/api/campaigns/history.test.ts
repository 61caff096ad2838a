/** GET /portal/cashbacks/:id/history: what it tells whom (contract/campaigns.md, "History"). */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
  partnerAt,
} from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { addCustomers, customers, fileOf, putSegment } from '../../support/segments.ts'

let platform: TestPlatform
let grocer: Partner
let alpha: Partner
let beta: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  alpha = await openCampaignBank(platform)
  beta = await openCampaignBank(platform, 'beta')
})
after(() => platform.close())
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

const historyOf = (partner: Partner, id: string) => partner.call('GET', `/portal/cashbacks/${id}/history`)
const clientIdOf = ({ token }: Partner): string => JSON.parse(atob(token.split('.')[1] ?? '')).sub

type Entry = { subject: string; bankId: string | null; trigger: string; from: string | null; to: string | null }
const steps = (entries: Entry[]) =>
  entries.map(({ subject, bankId, trigger, from, to }) => [subject, bankId, trigger, from, to].join(' '))

/** A campaign that was created, approved by alpha, rejected by beta, and launched; its period is over. */
async function wholeLife(): Promise<string> {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
  assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  const comment = 'Not this season'
  assert.equal((await beta.call('POST', `/cashbacks/${id}/reject`, { body: { comment } })).status, 201)
  assert.equal((await grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)
  assert.equal((await platform.call('POST', '/sandbox/clock', { body: { advance: 'P100D' } })).status, 200)
  return id
}

suite('200', () => {
  test('the merchant sees every step with its actor, in order', async () => {
    const id = await wholeLife()
    const answer = await historyOf(grocer, id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(steps(answer.body), [
      'campaign  create  awaitingBankApproval',
      `bank ${ids.alpha} invite  pending`,
      `bank ${ids.beta} invite  pending`,
      `bank ${ids.alpha} confirm pending approved`,
      `bank ${ids.beta} reject pending declined`,
      'campaign  reject awaitingBankApproval awaitingMerchantApproval',
      'campaign  launch awaitingMerchantApproval approved',
      'campaign  start approved active',
      `reporting ${ids.alpha} end  awaitingBankReconciliation`,
      'campaign  end active awaitingCompensationConfirmation',
    ])
    const merchant = { type: 'retailer', id: ids.grocer, login: clientIdOf(grocer), name: 'Гросер', role: 'gateway' }
    // The merchant does not see the logins of a bank.
    const rejecting = { type: 'bank', id: ids.beta, login: null, name: 'Бета Банк', role: 'ADMIN' }
    const clock = { type: 'clock', id: null, login: null, name: null, role: null }
    assert.deepEqual(
      answer.body.map((entry: { actor: object }) => entry.actor),
      [
        merchant,
        merchant,
        merchant,
        { type: 'bank', id: ids.alpha, login: null, name: 'Alpha Bank', role: 'ADMIN' },
        rejecting,
        rejecting,
        merchant,
        clock,
        clock,
        clock,
      ],
    )
    assert.deepEqual(
      answer.body.map((entry: { comment: string | null }) => entry.comment),
      [null, null, null, null, 'Not this season', 'Not this season', null, null, null, null],
    )
    const times = answer.body.map((entry: { at: string }) => entry.at)
    assert.deepEqual(times, times.toSorted(), 'in the order of time')
    assert.ok(times.every((at: string) => new Date(at).toISOString() === at))
    assert.ok(
      Date.parse(times[7]) - Date.parse(times[6]) > 99 * 86_400_000,
      'the clock’s steps are at the clock’s time',
    )
    assert.deepEqual(Object.keys(answer.body[0]).sort(), [
      'actor',
      'at',
      'bankId',
      'changes',
      'comment',
      'from',
      'subject',
      'to',
      'trigger',
    ])
  })

  test('a bank sees the campaign’s steps and its own steps, but neither the names nor the comments of other banks', async () => {
    const id = await wholeLife()
    const answer = await historyOf(alpha, id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(steps(answer.body), [
      'campaign  create  awaitingBankApproval',
      `bank ${ids.alpha} invite  pending`,
      `bank ${ids.alpha} confirm pending approved`,
      'campaign  decide awaitingBankApproval awaitingMerchantApproval',
      'campaign  launch awaitingMerchantApproval approved',
      'campaign  start approved active',
      `reporting ${ids.alpha} end  awaitingBankReconciliation`,
      'campaign  end active awaitingCompensationConfirmation',
    ])
    assert.deepEqual(answer.body[3].actor, { type: 'bank', id: null, login: null, name: null, role: null })
    const merchant = { type: 'retailer', id: ids.grocer, login: null, name: 'Гросер', role: 'gateway' }
    assert.deepEqual(answer.body[0].actor, merchant)
    for (const secret of [ids.beta, 'Бета', clientIdOf(beta), clientIdOf(grocer), 'season'])
      assert.ok(!answer.text.includes(secret), secret)
    const own = await historyOf(beta, id)
    assert.equal(own.body[2].comment, 'Not this season')
    assert.equal(own.body[3].trigger, 'reject')
    const ownActor = { type: 'bank', id: ids.beta, login: clientIdOf(beta), name: 'Бета Банк', role: 'ADMIN' }
    assert.deepEqual(own.body[2].actor, ownActor)
    assert.ok(!own.text.includes(ids.alpha))
  })

  test('neither history nor events tell a bank what the last bank decided', async () => {
    const told = async (partner: Partner, id: string) => {
      const { body } = await historyOf(partner, id)
      const entry = body.find(({ to }: Entry) => to === 'awaitingMerchantApproval')
      // This request is answered only when every change before it has its numbered event.
      await partner.call('GET', '/partner/v1/events?after=now')
      const feed = await partner.call('GET', '/partner/v1/events?type=campaign.awaiting_merchant&limit=1000&after=0')
      const events = feed.body.data.filter(({ data }: { data: { cashbackId: string } }) => data.cashbackId === id)
      assert.equal(events.length, 1)
      return [entry.trigger, events[0].data.trigger]
    }
    for (const last of ['confirm', 'reject']) {
      const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
      assert.equal((await alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
      assert.equal((await beta.call('POST', `/cashbacks/${id}/${last}`)).status, 201)
      assert.deepEqual(await Promise.all([alpha, beta, grocer].map(partner => told(partner, id))), [
        ['decide', 'decide'],
        [last, last],
        [last, last],
      ])
    }
  })

  test('a portal user is named by the login', async () => {
    const user = { owner: { merchant: 'grocer' }, login: 'olena@grocer', role: 'viewer', password: 'a long password' }
    const { database } = platform.platform
    await addUser({ database }, { ...user, role: 'editor', login: 'petro@grocer' })
    await addUser({ database }, user)
    const logIn = async (login: string) => {
      const body = { typeAccount: 'retailer', login, password: user.password }
      const answer = await platform.call('POST', '/auth/login', { body })
      assert.equal(answer.status, 200, answer.text)
      return partnerAt(platform, answer.body.access_token)
    }
    const id = await createCampaign(platform, {}, await logIn('petro@grocer'))
    const answer = await historyOf(await logIn('olena@grocer'), id)
    assert.equal(answer.status, 200, 'a viewer may read')
    const petro = { type: 'retailer', id: ids.grocer, login: 'petro@grocer', name: 'Гросер', role: 'editor' }
    assert.deepEqual(answer.body[0].actor, petro)
  })

  test('a repeated decision leaves one entry', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await Promise.all(Array.from({ length: 5 }, () => alpha.call('POST', `/cashbacks/${id}/confirm`)))
    const { body } = await historyOf(grocer, id)
    assert.equal(steps(body).filter(step => step.includes(' confirm pending ')).length, 1)
  })
})

suite('edits and segments', () => {
  type Told = Entry & { changes: Record<string, unknown> | null }
  const told = async (partner: Partner, id: string): Promise<[string, Told['changes']][]> => {
    const { body } = await historyOf(partner, id)
    return (body as Told[]).filter(({ changes }) => changes !== null).map(({ trigger, changes }) => [trigger, changes])
  }
  const edit = async (id: string, body: object) => {
    const answer = await grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })
    assert.equal(answer.status, 200, answer.text)
  }

  test('an edit is told to both sides with old and new values', async () => {
    const id = await createCampaign(platform, {}, grocer)
    const { body: before } = await grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    await edit(id, {
      percentage: 20,
      merchantCompensationPercentage: 10,
      maxBudget: 1000.5,
      sku: ['S-1'],
      allProducts: false,
    })
    await edit(id, { description: 'Changed', bannerBig: 'https://grocer.example/big.png' })
    await edit(id, { terminalsPlatform: false, terminals: [{ terminal_id: 'T-1' }, { terminal_id: 'T-2' }] })
    await edit(id, { dateTo: '2031-01-01' })
    await edit(id, { percentage: 20 })
    const expected = [
      [
        'edit',
        {
          percentage: [5, 20],
          merchantCompensationPercentage: [60, 10],
          maxBudget: [null, 1000.5],
          sku: [[], ['S-1']],
          allProducts: [true, false],
        },
      ],
      ['edit', { description: null, bannerBig: null }],
      ['edit', { terminals: [0, 2], terminalsPlatform: [true, false] }],
      ['edit', { dateTo: [before.dateTo, '2031-01-01T00:00:00.000Z'] }],
    ]
    for (const partner of [grocer, alpha])
      assert.deepEqual(await told(partner, id), expected, 'the last edit changed nothing')
    const { body } = await historyOf(alpha, id)
    const entry = body.find(({ trigger }: Entry) => trigger === 'edit')
    assert.deepEqual(
      [entry.subject, entry.bankId, entry.from, entry.to, entry.actor.login],
      ['campaign', null, 'awaitingBankApproval', 'awaitingBankApproval', null],
    )
  })

  test('which banks are invited is told to the merchant alone', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await edit(id, { participantsIds: [ids.alpha, ids.beta] })
    await edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma], name: 'Інша' })
    const names = ['Осінь', 'Інша']
    assert.deepEqual(await told(grocer, id), [
      ['edit', { participantsIds: [[ids.alpha], [ids.alpha, ids.beta]] }],
      [
        'edit',
        {
          participantsIds: [
            [ids.alpha, ids.beta],
            [ids.alpha, ids.beta, ids.gamma],
          ],
          name: names,
        },
      ],
    ])
    assert.deepEqual(await told(alpha, id), [['edit', { name: names }]])
  })

  test('a list with many items or much text is told by its length', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await edit(id, { sku: Array.from({ length: 101 }, (_, index) => `S-${index}`), allProducts: false })
    const [[, changes] = []] = await told(alpha, id)
    assert.deepEqual(changes, { sku: [0, 101], allProducts: [true, false] })
    await edit(id, { sku: Array.from({ length: 10 }, (_, index) => `${index}`.padEnd(120, 'x')) })
    await edit(id, { sku: ['S-1', 'S-2'] })
    assert.deepEqual(
      (await told(alpha, id)).slice(1).map(([, shorter]) => shorter),
      [{ sku: [101, 10] }, { sku: [10, 2] }],
    )
  })

  test('a segment is told to its bank exactly, and to the merchant rounded', async () => {
    await addCustomers(platform, 'alpha', customers('A', 47))
    await addCustomers(platform, 'beta', ['B-1'])
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, grocer)
    const form = async (count: number) => {
      const answer = await putSegment(grocer, id, fileOf([...customers('A', count), 'B-1']))
      assert.equal(answer.status, 200, answer.text)
    }
    await form(19)
    await form(47)
    await form(20)
    const merchantSees = [
      [null, 0],
      [null, 0],
      [0, 40],
      [0, 0],
      [40, 20],
      [0, 0],
    ]
    assert.deepEqual(
      await told(grocer, id),
      merchantSees.map(customersCount => ['segment', { customersCount }]),
    )
    const alphaSees = [
      [null, 19],
      [19, 47],
      [47, 20],
    ]
    assert.deepEqual(
      await told(alpha, id),
      alphaSees.map(customersCount => ['segment', { customersCount }]),
    )
  })
})

suite('refused', () => {
  test('400: the id is no UUID, or there is a query', async () => {
    assertRefused(await historyOf(grocer, '1'), 400, ['cashbackId must be a UUID'])
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await grocer.call('GET', `/portal/cashbacks/${id}/history?all=1`), 400, ['all must be omitted'])
    for (const before of ['', '0', '-1', 'x', '1.5', '99999999999999999999'])
      assertRefused(await grocer.call('GET', `/portal/cashbacks/${id}/history?before=${before}`), 400, /before/)
  })

  test('401 without a token, 403 for a bank’s VIEWER', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await platform.call('GET', `/portal/cashbacks/${id}/history`), 401)
    assertRefused(await historyOf(await openCampaignBank(platform, 'alpha', 'VIEWER'), id), 403)
  })

  test('403 for another merchant, 404 for a bank that is not invited', async () => {
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await historyOf(await openMerchant(platform, 'voltshop'), id), 403)
    assertRefused(await historyOf(beta, id), 404)
  })

  test('404 for a campaign that does not exist', async () => {
    for (const partner of [grocer, alpha]) assertRefused(await historyOf(partner, ids.visa), 404)
  })
})
