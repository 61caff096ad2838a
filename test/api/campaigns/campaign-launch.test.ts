/** POST /cashbacks/for-merchant/:cashbackId/confirm. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  describeStep,
  historyOf,
  launchCampaign,
  moveClock,
  openPartners,
  type Partners,
} from '../../support/campaign-moves.ts'
import {
  assertMerchantsOnly,
  assertRefused,
  assertResult,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  inDays,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
  grocer = partners.grocer
})
after(() => platform.close())

const pathOf = (id: string): string => `/cashbacks/for-merchant/${id}`
const launch = (id: string, partner: Partner = grocer) => partner.call('POST', `${pathOf(id)}/confirm`)
const read = async (id: string): Promise<Record<string, any>> => (await grocer.call('GET', pathOf(id))).body
const decide = async (bank: Partner, id: string, decision: 'confirm' | 'reject' = 'confirm'): Promise<void> => {
  const answer = await bank.call('POST', `/cashbacks/${id}/${decision}`)
  assert.equal(answer.status, 201, answer.text)
}
const statusesOf = async (id: string): Promise<string[]> => {
  const { status, banks } = await read(id)
  return [status, ...banks.map((bank: any) => `${bank.name.split(' ')[0]} ${bank.status}`)]
}
const all = { participantsIds: [ids.alpha, ids.beta, ids.gamma] }
const needsApproval = 'At least one bank must approve participation first'

describe('412, If-Match', () => {
  test('what a colleague has edited or a bank has decided since is not launched; the present version is', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    const tagOf = async () => (await grocer.call('GET', pathOf(id))).headers.get('etag') ?? ''
    const launchAs = (tag: string) => grocer.call('POST', `${pathOf(id)}/confirm`, { headers: { 'if-match': tag } })
    assertRefused(await launchAs(await tagOf()), 400, needsApproval)
    assertRefused(await launchAs('"0"'), 412, /read it again/)
    await decide(partners.alpha, id)
    const stale = await tagOf()
    await decide(partners.beta, id)
    const edited = await tagOf()
    await grocer.call('PATCH', pathOf(id), { body: { description: 'better' } })
    for (const tag of [stale, edited]) assertRefused(await launchAs(tag), 412, /read it again/)
    assert.equal((await read(id)).status, 'awaitingMerchantApproval')
    assertResult(await launchAs(await tagOf()), 201, { id, status: 'approved' })
  })
})

describe('201', () => {
  test('the regular step, when every bank has decided', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(partners.alpha, id)
    await decide(partners.beta, id, 'reject')
    assert.equal((await read(id)).status, 'awaitingMerchantApproval')
    const answer = await launch(id)
    assertResult(answer, 201, { id, status: 'approved' })
    assert.equal(answer.body.message, 'The launch of the campaign is confirmed')
    assert.deepEqual(await statusesOf(id), ['approved', 'Alpha approved', 'Бета declined'])
    assert.equal(answer.body.updatedAt, (await read(id)).updatedAt)
  })

  test('early, once one bank has approved: those that have not decided are expired', async () => {
    const id = await createCampaign(platform, all)
    await decide(partners.beta, id)
    const answer = await launch(id)
    assertResult(answer, 201, { id, status: 'approved' })
    assert.equal(
      answer.body.message,
      'The launch of the campaign is confirmed; 2 banks that have not decided are left out',
    )
    assert.deepEqual(await statusesOf(id), ['approved', 'Alpha expired', 'Gamma expired', 'Бета approved'])
    assert.deepEqual((await historyOf(partners, id)).map(describeStep).slice(-3).sort(), [
      'bank launch: pending -> expired',
      'bank launch: pending -> expired',
      'campaign launch: awaitingBankApproval -> approved',
    ])
    assertRefused(await partners.alpha.call('POST', `/cashbacks/${id}/confirm`), 400, /approved/)
  })

  test('one bank is left out: in words', async () => {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(partners.alpha, id)
    assert.match((await launch(id)).body.message, /; 1 bank that has not decided is left out$/)
  })

  test('no body, or an empty object', async () => {
    const id = await createCampaign(platform)
    await decide(partners.alpha, id)
    assertResult(await grocer.call('POST', `${pathOf(id)}/confirm`, { body: {} }), 201, { id, status: 'approved' })
  })

  test('after the start: the campaign is active at the clock’s next look', async () => {
    const id = await launchCampaign(platform, partners, { dateFrom: '2026-01-01' })
    await moveClock(platform, { advance: 'PT1S' })
    assert.equal((await read(id)).status, 'active')
  })

  test('the last moment before the end', async () => {
    const dateTo = '2033-01-01T00:00:00.000Z'
    const [inTime, late] = [await createCampaign(platform, { dateTo }), await createCampaign(platform, { dateTo })]
    for (const id of [inTime, late]) await decide(partners.alpha, id)
    {
      using _ = stopClock(platform, new Date(Date.parse(dateTo) - 1))
      assertResult(await launch(inTime), 201, { id: inTime, status: 'approved' })
    }
    // The clock reaches `dateTo` after the other launch, because from then on a job expires every campaign that is not
    // launched.
    using _ = stopClock(platform, dateTo)
    assertRefused(await launch(late), 400, 'The campaign is expired: it cannot be launched')
  })
})

describe('400', () => {
  test('no bank has approved: none has decided, or all have declined', async () => {
    const undecided = await createCampaign(platform, all)
    assertRefused(await launch(undecided), 400, needsApproval)
    const declined = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] })
    await decide(partners.alpha, declined, 'reject')
    await decide(partners.beta, declined, 'reject')
    assertRefused(await launch(declined), 400, needsApproval)
    assert.deepEqual(await statusesOf(declined), ['awaitingBankApproval', 'Alpha declined', 'Бета declined'])
  })

  test('a wrong status: launched before, running, over, deleted', async () => {
    const id = await launchCampaign(platform, partners, {
      dateFrom: inDays(platform, 0.1),
      dateTo: inDays(platform, 1),
    })
    const refused = async (one: string, status: string) => {
      assertRefused(await launch(one), 400, `The campaign is ${status}: it cannot be launched`)
      assert.equal((await read(one)).status, status)
    }
    const never = await createCampaign(platform, { dateTo: inDays(platform, 1), dateFrom: inDays(platform, 0.1) })
    await refused(id, 'approved')
    await moveClock(platform, { advance: 'PT3H' })
    await refused(id, 'active')
    await moveClock(platform, { advance: 'P1D' })
    await refused(id, 'awaitingCompensationConfirmation')
    await refused(never, 'expired')
    const deleted = await createCampaign(platform)
    await grocer.call('DELETE', pathOf(deleted))
    await refused(deleted, 'deleted')
  })

  test('a campaign that a bank created, before and after that bank’s confirmation', async () => {
    const id = await createBankCampaign(platform, partners.alpha)
    const message = 'A campaign that a bank created starts by that bank’s confirmation'
    assertRefused(await launch(id), 400, message)
    await decide(partners.alpha, id)
    assertRefused(await launch(id), 400, message)
    assert.equal((await read(id)).status, 'approved')
  })

  test('an id that is no UUID, a query, a body', async () => {
    const id = await createCampaign(platform)
    await decide(partners.alpha, id)
    assertRefused(await launch('x'), 400, ['cashbackId must be a UUID'])
    assertRefused(await grocer.call('POST', `${pathOf(id)}/confirm?early=1`), 400, ['early must be omitted'])
    const answer = await grocer.call('POST', `${pathOf(id)}/confirm`, { body: { comment: 'go' } })
    assertRefused(answer, 400, ['comment must be omitted'])
    assert.equal((await read(id)).status, 'awaitingMerchantApproval')
  })
})

describe('403 and 404', () => {
  test('another merchant’s, an unknown campaign', async () => {
    const id = await createCampaign(platform)
    await decide(partners.alpha, id)
    assertRefused(
      await launch(id, await openMerchant(platform, 'voltshop')),
      403,
      'The campaign belongs to another merchant',
    )
    assertRefused(await launch(randomUUID()), 404, 'The campaign was not found')
    assert.equal((await read(id)).status, 'awaitingMerchantApproval')
  })

  test('merchants, and no viewer', async () => {
    await assertMerchantsOnly(platform, {
      isChange: true,
      statusFor: 201,
      call: async partner => {
        const id = await createCampaign(platform)
        await decide(partners.alpha, id)
        return platform.call('POST', `${pathOf(id)}/confirm`, { token: partner?.token ?? null })
      },
    })
  })
})
