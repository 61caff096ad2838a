/** DELETE /cashbacks/for-merchant/:cashbackId. */
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
const remove = (id: string, partner: Partner = grocer) => partner.call('DELETE', pathOf(id))
const read = async (id: string): Promise<Record<string, any>> => (await grocer.call('GET', pathOf(id))).body
const both = { participantsIds: [ids.alpha, ids.beta] }

describe('412, If-Match', () => {
  const removeAs = (id: string, tag: string) => grocer.call('DELETE', pathOf(id), { headers: { 'if-match': tag } })

  test('what a colleague has edited since is not deleted; the present version is, and a repeat gets the same answer', async () => {
    const id = await createCampaign(platform)
    const stale = (await grocer.call('GET', pathOf(id))).headers.get('etag') ?? ''
    const edited = await grocer.call('PATCH', pathOf(id), { body: { description: 'better' } })
    for (const tag of [stale, `W/${edited.headers.get('etag')}`, 'x'])
      assertRefused(await removeAs(id, tag), 412, /read it again/)
    assert.deepEqual(await read(id), edited.body)
    const first = await removeAs(id, edited.headers.get('etag') ?? '')
    assertResult(first, 200, { id, status: 'deleted' })
    assert.deepEqual((await removeAs(id, edited.headers.get('etag') ?? '')).body, first.body)
  })

  test('403 and 404 come first', async () => {
    const id = await createCampaign(platform)
    const voltshop = await openMerchant(platform, 'voltshop')
    const headers = { 'if-match': '"0"' }
    assertRefused(await voltshop.call('DELETE', pathOf(id), { headers }), 403)
    assertRefused(await removeAs(randomUUID(), '"0"'), 404)
  })
})

describe('200', () => {
  const states: Record<string, () => Promise<string>> = {
    awaitingBankApproval: () => createCampaign(platform, both),
    'awaitingBankApproval, one has approved': async () => {
      const id = await createCampaign(platform, both)
      await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
      return id
    },
    awaitingMerchantApproval: async () => {
      const id = await createCampaign(platform, both)
      await partners.alpha.call('POST', `/cashbacks/${id}/confirm`)
      await partners.beta.call('POST', `/cashbacks/${id}/reject`)
      return id
    },
    approved: () => launchCampaign(platform, partners, both),
  }
  for (const [state, make] of Object.entries(states))
    test(`${state}: the campaign stays readable as deleted, its banks as they were`, async () => {
      const id = await make()
      const before = await read(id)
      assertResult(await remove(id), 200, { id, status: 'deleted' })
      const after = await read(id)
      assert.equal(after.status, 'deleted')
      assert.deepEqual(after.banks, before.banks)
      assert.deepEqual((await historyOf(partners, id)).map(describeStep).slice(-1), [
        `campaign delete: ${before.status} -> deleted`,
      ])
      const deleted = (await partners.alpha.call('GET', '/cashbacks/for-bank?status=deleted')).body
      assert.ok(deleted.some((one: any) => one.cashbackId === id))
    })

  test('repeated: the same answer, and nothing changes', async () => {
    const id = await createCampaign(platform)
    const first = await remove(id)
    const details = await grocer.call('GET', pathOf(id))
    for (let round = 0; round < 3; round++) assert.deepEqual((await remove(id)).body, first.body)
    const later = await grocer.call('GET', pathOf(id))
    assert.equal(later.headers.get('etag'), details.headers.get('etag'))
    assert.equal((await historyOf(partners, id)).filter(({ trigger }) => trigger === 'delete').length, 1)
  })

  test('repeated when the start has come: still the same answer', async () => {
    const id = await createCampaign(platform)
    const first = await remove(id)
    using _ = stopClock(platform, inDays(platform, 20))
    assert.deepEqual((await remove(id)).body, first.body)
  })

  test('no body, or an empty object', async () => {
    const id = await createCampaign(platform)
    assertResult(await grocer.call('DELETE', pathOf(id), { body: {} }), 200, { id, status: 'deleted' })
  })

  test('after it banks decide no more, and nobody launches', async () => {
    const id = await createCampaign(platform, both)
    await partners.beta.call('POST', `/cashbacks/${id}/confirm`)
    await remove(id)
    assertRefused(await partners.alpha.call('POST', `/cashbacks/${id}/confirm`), 400, /deleted/)
    assertRefused(await grocer.call('POST', `${pathOf(id)}/confirm`), 400, /deleted/)
  })
})

describe('48 hours before the start', () => {
  const start = Date.parse('2031-06-15T09:00:00.000Z')
  const hours48 = 48 * 3_600_000
  for (const [name, status] of [
    ['awaitingBankApproval', false],
    ['approved', true],
  ] as const)
    test(`exactly is in time, a millisecond later is not: ${name}`, async () => {
      const make = () =>
        status
          ? launchCampaign(platform, partners, { dateFrom: new Date(start).toISOString(), dateTo: '2032-01-01' })
          : createCampaign(platform, { dateFrom: new Date(start).toISOString(), dateTo: '2032-01-01' })
      const [inTime, late] = [await make(), await make()]
      {
        using _ = stopClock(platform, new Date(start - hours48 + 1))
        assertRefused(await remove(late), 400, 'A campaign can be deleted until 2 days before its start')
        assert.equal((await read(late)).status, name)
      }
      using _ = stopClock(platform, new Date(start - hours48))
      assertResult(await remove(inTime), 200, { id: inTime, status: 'deleted' })
    })

  test('a start in the past is too late', async () => {
    const id = await createCampaign(platform, { dateFrom: '2026-01-01' })
    assertRefused(await remove(id), 400, 'A campaign can be deleted until 2 days before its start')
  })
})

describe('400', () => {
  test('a campaign that runs, is over, or was never launched in time', async () => {
    const id = await launchCampaign(platform, partners, { dateFrom: inDays(platform, -1), dateTo: inDays(platform, 1) })
    const never = await createCampaign(platform, { dateFrom: inDays(platform, 0.5), dateTo: inDays(platform, 1) })
    await moveClock(platform, { advance: 'PT1S' })
    assert.equal((await read(id)).status, 'active')
    assertRefused(await remove(id), 400, 'The campaign is active: it cannot be deleted any more')
    await moveClock(platform, { advance: 'P1D' })
    assertRefused(
      await remove(id),
      400,
      'The campaign is awaitingCompensationConfirmation: it cannot be deleted any more',
    )
    assertRefused(await remove(never), 400, 'The campaign is expired: it cannot be deleted any more')
  })

  test('an id that is no UUID, a query, a body', async () => {
    const id = await createCampaign(platform)
    assertRefused(await remove('x'), 400, ['cashbackId must be a UUID'])
    assertRefused(await remove(`${id}?hard=1`), 400, ['hard must be omitted'])
    assertRefused(await grocer.call('DELETE', pathOf(id), { body: { hard: true } }), 400, ['hard must be omitted'])
    assert.equal((await read(id)).status, 'awaitingBankApproval')
  })
})

describe('403 and 404', () => {
  test('only the author: not another merchant, not the merchant of a bank’s campaign', async () => {
    const id = await createCampaign(platform)
    assertRefused(
      await remove(id, await openMerchant(platform, 'voltshop')),
      403,
      'The campaign belongs to another merchant',
    )
    const ofBank = await createBankCampaign(platform, partners.alpha)
    assertRefused(await remove(ofBank), 403, /only its author/)
    assertRefused(await remove(randomUUID()), 404, 'The campaign was not found')
    for (const one of [id, ofBank]) assert.equal((await read(one)).status, 'awaitingBankApproval')
  })

  test('merchants, and no viewer', async () => {
    await assertMerchantsOnly(platform, {
      isChange: true,
      statusFor: 200,
      call: async partner =>
        platform.call('DELETE', pathOf(await createCampaign(platform)), { token: partner?.token ?? null }),
    })
  })
})
