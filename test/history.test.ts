/** GET /portal/cashbacks/:id/history (behaviour.md, sections 7 and 8). */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { addUser } from '../src/access/operations.ts'
import {
  assertRefused,
  campaignDirectory,
  createCampaign,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
  partnerAt,
} from './support/campaigns.ts'
import { startPlatform, type TestPlatform } from './support/platform.ts'

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

/** Made, approved by alpha, rejected by beta, launched, and its whole period over. */
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
    const merchant = { type: 'retailer', id: ids.grocer, login: clientIdOf(grocer) }
    const rejecting = { type: 'bank', id: ids.beta, login: clientIdOf(beta) }
    const clock = { type: 'clock', id: null, login: null }
    assert.deepEqual(
      answer.body.map((entry: { actor: object }) => entry.actor),
      [
        merchant,
        merchant,
        merchant,
        { type: 'bank', id: ids.alpha, login: clientIdOf(alpha) },
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
      'comment',
      'from',
      'subject',
      'to',
      'trigger',
    ])
  })

  test('a bank sees the campaign’s steps and its own, and of another bank neither which it was nor its words', async () => {
    const id = await wholeLife()
    const answer = await historyOf(alpha, id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(steps(answer.body), [
      'campaign  create  awaitingBankApproval',
      `bank ${ids.alpha} invite  pending`,
      `bank ${ids.alpha} confirm pending approved`,
      'campaign  reject awaitingBankApproval awaitingMerchantApproval',
      'campaign  launch awaitingMerchantApproval approved',
      'campaign  start approved active',
      `reporting ${ids.alpha} end  awaitingBankReconciliation`,
      'campaign  end active awaitingCompensationConfirmation',
    ])
    assert.deepEqual(answer.body[3].actor, { type: 'bank', id: null, login: null })
    for (const secret of [ids.beta, clientIdOf(beta), 'season']) assert.ok(!answer.text.includes(secret), secret)
    const own = await historyOf(beta, id)
    assert.equal(own.body[2].comment, 'Not this season')
    assert.deepEqual(own.body[2].actor, { type: 'bank', id: ids.beta, login: clientIdOf(beta) })
    assert.ok(!own.text.includes(ids.alpha))
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
    assert.deepEqual(answer.body[0].actor, { type: 'retailer', id: ids.grocer, login: 'petro@grocer' })
  })

  test('a repeated decision leaves one entry', async () => {
    const id = await createCampaign(platform, {}, grocer)
    await Promise.all(Array.from({ length: 5 }, () => alpha.call('POST', `/cashbacks/${id}/confirm`)))
    const { body } = await historyOf(grocer, id)
    assert.equal(steps(body).filter(step => step.includes(' confirm pending ')).length, 1)
  })
})

suite('refused', () => {
  test('400: the id is no UUID, or there is a query', async () => {
    assertRefused(await historyOf(grocer, '1'), 400, ['cashbackId must be a UUID'])
    const id = await createCampaign(platform, {}, grocer)
    assertRefused(await grocer.call('GET', `/portal/cashbacks/${id}/history?all=1`), 400, ['all must be omitted'])
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
