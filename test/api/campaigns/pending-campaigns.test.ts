/** Limits of a merchant's campaigns that no bank has agreed to yet (contract/limits.md, "Campaigns and stock"). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertRefused,
  campaignDirectory,
  campaignForm,
  createBankCampaign,
  openMerchant,
} from '../../support/campaigns.ts'
import { range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform(
    { PENDING_CAMPAIGNS: '4', PENDING_CAMPAIGN_MIB: '1' },
    { directory: campaignDirectory },
  )
  partners = await openPartners(platform)
})
after(() => platform.close())

const path = '/cashbacks/for-merchant'
const create = (overrides: Record<string, unknown> = {}) =>
  partners.grocer.call('POST', path, { body: campaignForm(platform, overrides) })
const remove = (id: string) => partners.grocer.call('DELETE', `${path}/${id}`)
/** Terminals with about this many bytes of JSON. */
const terminals = (bytes: number) =>
  range(Math.floor(bytes / 600)).map(index => ({ terminal_id: `T-${index}`, terminal_location: 'x'.repeat(448) }))
const own = (bytes: number) => ({ terminalsPlatform: false, terminals: terminals(bytes) })
const half = 512 * 1024

test('of creations at the same moment no more than PENDING_CAMPAIGNS are taken; approved and ended ones make room', async () => {
  const answers = await Promise.all(range(12).map(() => create()))
  const created = answers.filter(({ status }) => status === 201).map(({ body }) => body.id as string)
  assert.equal(created.length, 4)
  for (const answer of answers.filter(({ status }) => status !== 201))
    assertRefused(answer, 400, [
      'participantsIds must be invited later: 4 campaigns of the merchant wait for the first approval of a bank',
    ])
  const [first = '', second = '', ...others] = created
  assert.equal((await partners.alpha.call('POST', `/cashbacks/${first}/confirm`)).status, 201)
  assert.equal((await remove(second)).status, 200)
  const again = [await create(), await create(), await create()]
  assert.deepEqual(
    again.map(({ status }) => status),
    [201, 201, 400],
  )
  // Campaigns that a bank creates do not count.
  await createBankCampaign(platform, partners.alpha)
  for (const id of [first, ...others, ...again.slice(0, 2).map(({ body }) => body.id)]) await remove(id)
})

test('their terminals and banners have at most PENDING_CAMPAIGN_MIB together, after edits too', async () => {
  const fault = [
    'terminals must be fewer: the merchant’s campaigns that no bank has approved yet have at most 1 MiB, with terminals, banners and other terms',
  ]
  const first = await create(own(half))
  assert.equal(first.status, 201)
  assertRefused(await create(own(1.3 * half)), 400, fault)
  const banner = `data:image/png;base64,${'A'.repeat(200_000)}`
  const second = await create({ ...own(half / 2), bannerSmall: banner })
  assert.equal(second.status, 201)
  const edit = (body: object) => partners.grocer.call('PATCH', `${path}/${second.body.id}`, { body })
  assertRefused(await edit({ bannerBig: banner }), 400, fault)
  assertRefused(await edit({ terminals: terminals(half) }), 400, fault)
  assert.equal((await edit({ description: 'x', terminals: terminals(half / 2 + 1_000) })).status, 200)
  assert.equal((await edit({ bannerSmall: null, bannerBig: banner })).status, 200)
  assert.equal((await partners.alpha.call('POST', `/cashbacks/${first.body.id}/confirm`)).status, 201)
  assert.equal((await edit({ bannerSmall: banner })).status, 200, 'what a bank has approved does not count')
  const other = await (await openMerchant(platform, 'voltshop')).call('POST', path, {
    body: campaignForm(platform, own(half)),
  })
  assert.equal(other.status, 201, 'each merchant by itself')
})

test('a campaign that was just deleted still adds its size, because it stays in the banks’ lists', async () => {
  await platform.applyDirectory(
    `merchants:\n  - { id: ${randomUUID()}, code: florist, name: Florist, nameEn: Florist, excludedBanks: [] }`,
  )
  const florist = await openMerchant(platform, 'florist')
  const make = () => florist.call('POST', path, { body: campaignForm(platform, own(0.8 * half)) })
  for (const _ of range(2)) {
    const made = await make()
    assert.equal(made.status, 201, made.text)
    assert.equal((await florist.call('DELETE', `${path}/${made.body.id}`)).status, 200)
  }
  assertRefused(await make(), 400, /^terminals must be fewer/)
  await platform.platform.database.execute(
    `update campaigns set updated_at = updated_at - interval '25 hours' where status = 'deleted'`,
  )
  assert.equal((await make()).status, 201)
})

test('the day in which a deleted campaign counts is one of the platform’s clock', async () => {
  await platform.applyDirectory(
    `merchants:\n  - { id: ${randomUUID()}, code: tailor, name: Tailor, nameEn: Tailor, excludedBanks: [] }`,
  )
  const tailor = await openMerchant(platform, 'tailor')
  const far = { dateFrom: '2099-01-01T00:00:00Z', dateTo: '2099-06-01T00:00:00Z' }
  const make = () => tailor.call('POST', path, { body: campaignForm(platform, { ...far, ...own(1.6 * half) }) })
  const advance = (duration: string) => platform.call('POST', '/sandbox/clock', { body: { advance: duration } })
  try {
    await advance('P10D')
    const made = await make()
    assert.equal(made.status, 201, made.text)
    assert.equal((await tailor.call('DELETE', `${path}/${made.body.id}`)).status, 200)
    assertRefused(await make(), 400, /^terminals must be fewer/)
    await advance('PT25H')
    const next = await make()
    assert.equal(next.status, 201, next.text)
    assert.equal((await tailor.call('DELETE', `${path}/${next.body.id}`)).status, 200)
    await platform.call('DELETE', '/sandbox/clock')
    assert.equal((await make()).status, 201, 'a deletion that is still to come does not count')
  } finally {
    await platform.call('DELETE', '/sandbox/clock')
  }
})

test('long lists of products count, too, and an edit may always make them shorter', async () => {
  const list = (bytes: number) => range(Math.floor(bytes / 131)).map(index => `${index}`.padEnd(128, 'x'))
  await platform.applyDirectory(
    `merchants:\n  - { id: ${randomUUID()}, code: baker, name: Baker, nameEn: Baker, excludedBanks: [] }`,
  )
  const baker = await openMerchant(platform, 'baker')
  const make = (overrides: Record<string, unknown>) =>
    baker.call('POST', path, { body: campaignForm(platform, overrides) })
  const first = await make({ sku: list(0.6 * half), categoryId: list(0.6 * half) })
  assert.equal(first.status, 201, first.text)
  assertRefused(await make({ categoryId: list(half) }), 400, /^terminals must be fewer/)
  const second = await make({ sku: ['1'] })
  assert.equal(second.status, 201)
  const edit = (id: string, body: object) => baker.call('PATCH', `${path}/${id}`, { body })
  assertRefused(await edit(second.body.id, { sku: list(half) }), 400, /^terminals must be fewer/)
  assert.equal((await edit(first.body.id, { sku: list(1.5 * half) })).status, 400)
  assert.equal((await edit(first.body.id, { sku: ['1'], categoryId: [] })).status, 200)
  assert.equal((await edit(second.body.id, { sku: list(half) })).status, 200)
})

test('terminals of the directory count for each campaign that shows them', async () => {
  const voltshop = await openMerchant(platform, 'voltshop')
  const location = 'l'.repeat(500)
  const long = range(800).map(index => `      - { terminalId: D-${index}, location: ${location} }`)
  await platform.applyDirectory(
    `merchants:\n  - code: voltshop\n    excludedBanks: []\n    terminals:\n${long.join('\n')}`,
  )
  const make = (overrides: Record<string, unknown> = {}) =>
    voltshop.call('POST', path, { body: campaignForm(platform, overrides) })
  const before = await make(own(1_000))
  assert.equal(before.status, 201, before.text)
  assert.equal((await make()).status, 201)
  assertRefused(await make(), 400, /^terminals must be fewer/)
  const edit = (body: object) => voltshop.call('PATCH', `${path}/${before.body.id}`, { body })
  assertRefused(await edit({ terminalsPlatform: true }), 400, /^terminals must be fewer/)
  assert.equal((await edit({ description: 'x' })).status, 200)
})
