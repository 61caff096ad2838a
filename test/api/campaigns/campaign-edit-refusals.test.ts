/** PATCH /cashbacks/for-merchant/:cashbackId: what is refused. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertEdited, decide, editsOf, pathOf, terminals } from '../../support/campaign-edits.ts'
import { moveClock, openPartners, type Partners } from '../../support/campaign-moves.ts'
import {
  assertMerchantsOnly,
  assertRefused,
  campaignDirectory,
  createBankCampaign,
  createCampaign,
  ids,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { range, tally } from '../../support/esim.ts'
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

const { edit, read, assertNothingChanged, states } = editsOf(() => ({ platform, partners }))

describe('400', () => {
  const locked = {
    name: 'other',
    participationTerms: 'other',
    sku: ['other'],
    categoryId: ['other'],
    allProducts: false,
    purchaseOnline: false,
    purchaseOffline: false,
    dateFrom: '2031-01-01',
    dateTo: '2041-01-01',
    minAmount: 0.5,
    maxAmount: 99999,
    maxBudget: 5,
    percentage: 1,
    countryCode: 'PL',
    terminalsPlatform: true,
    paymentSystemsId: [ids.mastercard],
    merchantCompensationPercentage: 1,
    merchantCategoryCode: ['1234'],
  }
  const shown = { description: 'other', bannerSmall: 'https://o.example', bannerBig: 'https://o.example' }
  for (const [state, { make, why }] of Object.entries(states))
    test(`every field that may not change, at once, and nothing is applied: ${state}`, async () => {
      const id = await make()
      const before = await read(id)
      const mayGrow = state !== 'deleted'
      const mayInvite = why === 'a bank has approved the campaign'
      const fields: Record<string, unknown> = {
        ...locked,
        ...(!mayGrow && shown),
        ...(!mayInvite && { participantsIds: [ids.gamma] }),
      }
      const faults = Object.keys(fields).map(field => `${field} must be unchanged: ${why}`)
      assertRefused(await edit(id, { ...shown, ...fields }), 400, faults)
      await assertNothingChanged(id, before)
      for (const field of Object.keys(fields)) {
        const answer = await edit(id, { ...(mayGrow && shown), [field]: fields[field] })
        assertRefused(answer, 400)
        assert.ok(answer.body.message.includes(`${field} must be unchanged: ${why}`), answer.text)
      }
      await assertNothingChanged(id, before)
    })

  for (const state of ['a bank has approved', 'awaitingMerchantApproval', 'approved', 'active'])
    test(`more terminals than the platform’s own directory has: ${state}`, async () => {
      const id = await (states[state]?.make({ terminalsPlatform: true, terminals: terminals('own') }) ?? assert.fail())
      const before = await read(id)
      assert.ok(!before.body.permissions.editableFields.includes('terminals'))
      for (const more of [before.body.terminals, terminals('own')])
        assertRefused(await edit(id, { description: 'new', terminals: [...more, ...terminals('new')] }), 400, [
          'terminals must be unchanged: the platform’s directory holds the terminals of this campaign',
        ])
      await assertNothingChanged(id, before)
    })

  for (const state of ['a bank has approved', 'awaitingMerchantApproval', 'approved', 'active'])
    test(`terminals that are missing or other than before: ${state}`, async () => {
      const id = await (states[state]?.make() ?? assert.fail())
      const before = await read(id)
      const fault = (name: string) => [`terminals must be the present list and additions only: ${name} is missing`]
      assertRefused(await edit(id, { terminals: terminals('1', '3') }), 400, fault('2'))
      const renamed = [{ terminal_id: '1', terminal_name: 'other' }, { terminal_id: '2' }]
      assertRefused(await edit(id, { terminals: renamed }), 400, [
        'terminals must be the present list and additions only: 1 is changed',
      ])
      assertRefused(await edit(id, { terminals: [] }), 400, [
        ...fault('1'),
        'terminals must be a list of at least 1 when terminalsPlatform is false',
      ])
      await assertNothingChanged(id, before)
    })

  test('banks that are missing once one has approved', async () => {
    for (const state of ['a bank has approved', 'awaitingMerchantApproval']) {
      const id = await (states[state]?.make() ?? assert.fail())
      const before = await read(id)
      assertRefused(await edit(id, { participantsIds: [ids.alpha, ids.gamma] }), 400, [
        `participantsIds must be the present list and additions only: ${ids.beta} is missing`,
      ])
      await assertNothingChanged(id, before)
    }
  })

  const oneByOne: [string, Record<string, unknown>, string[]][] = [
    [
      'null for a required field',
      { name: null, minAmount: null, participantsIds: null, terminalsPlatform: null },
      [
        'name must be a string',
        'minAmount must be a number',
        'participantsIds must be an array',
        'terminalsPlatform must be a boolean',
      ],
    ],
    [
      'a typing error',
      { nmae: 'x', cashbackId: 'x', status: 'active' },
      ['nmae must be omitted', 'cashbackId must be omitted', 'status must be omitted'],
    ],
    ['no banks', { participantsIds: [] }, ['participantsIds must be a list of at least 1']],
    [
      'an unknown bank',
      { participantsIds: [ids.alpha, ids.closed] },
      ['participantsIds.1 must be a connected bank that the merchant does not exclude'],
    ],
    ['an unknown country', { countryCode: 'DE' }, ['countryCode must be a country of the platform']],
    [
      'an unknown payment system',
      { paymentSystemsId: [ids.alpha] },
      ['paymentSystemsId.0 must be a payment system of the platform'],
    ],
    ['a name of 28 characters', { name: 'x'.repeat(28) }, ['name must be shorter than or equal to 27 characters']],
    ['a tenth of a cent', { maxBudget: 0.001 }, ['maxBudget must be a number with at most 2 decimals']],
    ['the least above the present most', { minAmount: 5000.01 }, ['maxAmount must be at least minAmount']],
    ['the most below the present least', { maxAmount: 99.99 }, ['maxAmount must be at least minAmount']],
    ['an end before the present start', { dateTo: 'START' }, ['dateTo must be after dateFrom']],
    ['a start after the present end', { dateFrom: '2090-01-01' }, ['dateTo must be after dateFrom']],
    ['an end in the past', { dateFrom: '2026-01-01', dateTo: '2026-01-02' }, ['dateTo must be in the future']],
    [
      'SKUs while all products are meant',
      { sku: ['a'] },
      ['allProducts must be false when sku or categoryId is given'],
    ],
    [
      'own terminals without a list',
      { terminalsPlatform: false },
      ['terminals must be a list of at least 1 when terminalsPlatform is false'],
    ],
    ['a terminal twice', { terminals: terminals('a', 'a') }, ['terminals.1.terminal_id must be unique in the list']],
    [
      'several at once',
      { x: 1, name: ' ', minAmount: 6000, countryCode: 'DE', dateTo: 'soon' },
      [
        'x must be omitted',
        'name must be a text with at least one character that is not a space',
        'maxAmount must be at least minAmount',
        'countryCode must be a country of the platform',
        'dateTo must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999',
      ],
    ],
  ]
  for (const [name, body, faults] of oneByOne)
    test(name, async () => {
      const id = await createCampaign(platform)
      const before = await read(id)
      const given = body.dateTo === 'START' ? { dateTo: before.body.dateFrom } : body
      assertRefused(await edit(id, { description: 'new', ...given }), 400, faults)
      await assertNothingChanged(id, before)
    })

  test('a field that is locked and one that is wrong, at once', async () => {
    const id = await (states.approved?.make() ?? assert.fail())
    assertRefused(await edit(id, { name: 'other', bannerBig: 'x', percentage: 101, oops: 1 }), 400, [
      'name must be unchanged: the campaign is approved',
      'percentage must be unchanged: the campaign is approved',
      'percentage must be at most 100',
      'bannerBig must be an http or https URL of at most 2048 characters of RFC 3986 (others are written as %…, in the host as xn--…), or a data:image/...;base64, URI of at most 256 KiB',
      'oops must be omitted',
    ])
  })

  test('an id that is no UUID, a query, no object', async () => {
    const id = await createCampaign(platform)
    assertRefused(await edit('x', {}), 400, ['cashbackId must be a UUID'])
    assertRefused(await grocer.call('PATCH', `${pathOf(id)}?force=1`, { body: {} }), 400, ['force must be omitted'])
    for (const raw of ['', 'null', '[]', '7'])
      assertRefused(await grocer.call('PATCH', pathOf(id), { raw }), 400, /body must be an object/)
  })
})

describe('412, If-Match', () => {
  test('a stale ETag changes nothing; the present one, any of a list, and * go on', async () => {
    const id = await createCampaign(platform)
    const stale = (await read(id)).headers.get('etag') ?? ''
    assertEdited(await edit(id, { description: '1' }, { 'if-match': stale }))
    const before = await read(id)
    const fresh = before.headers.get('etag') ?? ''
    assert.notEqual(fresh, stale)
    for (const header of [stale, `${stale}, "x"`, '""', `W/${fresh}`, 'x', fresh.replaceAll('"', '')])
      assertRefused(await edit(id, { description: '2' }, { 'if-match': header }), 412, /read it again/)
    await assertNothingChanged(id, before)
    assertRefused(await edit(id, {}, { 'if-match': stale }), 412)
    let tag = fresh
    for (const header of [() => tag, () => `"x", W/"y" , ${tag}`, () => '*', () => `W/${tag}, ${tag}`]) {
      const answer = await edit(id, { description: header() }, { 'if-match': header() })
      assertEdited(answer)
      tag = answer.headers.get('etag') ?? ''
    }
  })

  test('a bank’s decision makes it stale too', async () => {
    const id = await createCampaign(platform)
    const stale = (await read(id)).headers.get('etag') ?? ''
    await decide(partners.alpha, id)
    assertRefused(await edit(id, { description: 'x' }, { 'if-match': stale }), 412)
  })

  test('without the header the last write wins', async () => {
    const id = await createCampaign(platform)
    for (const description of ['1', '2']) assertEdited(await edit(id, { description }))
    assert.equal((await read(id)).body.description, '2')
  })

  test('faults of form and whose it is are told first', async () => {
    const id = await createCampaign(platform)
    const stale = { 'if-match': '"0"' }
    for (const body of [{ name: '' }, { minAmount: 5, maxAmount: 1 }]) assertRefused(await edit(id, body, stale), 400)
    const voltshop = await openMerchant(platform, 'voltshop')
    assertRefused(await voltshop.call('PATCH', pathOf(id), { body: {}, headers: stale }), 403)
    assertRefused(await edit(randomUUID(), {}, stale), 404)
  })
})

describe('429, how often', () => {
  test('a campaign takes 1,000 edits a day by real time; what changes nothing or is refused does not count', async () => {
    const id = await createCampaign(platform)
    let edits = 0
    const change = () => edit(id, { description: `edit ${edits++}` })
    assert.deepEqual(tally(await Promise.all(range(5).map(change))), { 200: 5 })
    const { database } = platform.platform
    const counted = await database.execute(
      'update campaign_edits set edits = edits + 990 where cashback_id = $1 and edits = 5',
      [id],
    )
    assert.equal(counted, 1)
    assertEdited(await edit(id, {}))
    assertRefused(await edit(id, { name: '' }), 400)
    assertRefused(await edit(id, { description: 'x' }, { 'if-match': '"0"' }), 412)
    const answers = await Promise.all(range(20).map(change))
    assert.deepEqual(tally(answers), { 200: 5, 429: 15 })
    const before = await read(id)
    const refused = await change()
    assertRefused(refused, 429, 'A campaign can be edited 1000 times a day: go on tomorrow (UTC)')
    const seconds = Number(refused.headers.get('retry-after'))
    const midnight = new Date().setUTCHours(24, 0, 0, 0)
    assert.ok(Math.abs(seconds - (midnight - Date.now()) / 1_000) < 60, `${seconds}`)
    await moveClock(platform, { advance: 'P1D' })
    assertRefused(await change(), 429)
    await platform.call('DELETE', '/sandbox/clock')
    await assertNothingChanged(id, before)
    assertEdited(await edit(id, { description: before.body.description }))
    assertEdited(await edit(await createCampaign(platform), { description: 'another campaign' }))
    await decide(partners.alpha, id)
    assertRefused(await change(), 429)
    await platform.platform.database.execute('update campaign_edits set day = day - 1')
    assertEdited(await change())
    assert.equal((await platform.platform.database.query('select from campaign_edits where edits = 1')).length, 2)
  })
})

describe('403 and 404', () => {
  test('another merchant’s, a bank’s, an unknown campaign; but a faulty form first', async () => {
    const id = await createCampaign(platform)
    const voltshop = await openMerchant(platform, 'voltshop')
    assertRefused(
      await voltshop.call('PATCH', pathOf(id), { body: { name: 'x' } }),
      403,
      'The campaign belongs to another merchant',
    )
    const ofBank = await createBankCampaign(platform, partners.alpha)
    for (const body of [{}, { description: 'x' }]) assertRefused(await edit(ofBank, body), 403, /only its author/)
    assertRefused(await edit(randomUUID(), {}), 404, 'The campaign was not found')
    for (const [partner, cashbackId] of [
      [voltshop, id],
      [grocer, ofBank],
      [grocer, randomUUID()],
    ] as const)
      for (const [body, fault] of [
        [{ name: '' }, 'name must be a text with at least one character that is not a space'],
        [{ minAmount: 5, maxAmount: 1 }, 'maxAmount must be at least minAmount'],
        [{ dateFrom: '2990-01-02', dateTo: '2990-01-01' }, 'dateTo must be after dateFrom'],
        [{ allProducts: true, sku: ['a'] }, 'allProducts must be false when sku or categoryId is given'],
      ] as const)
        assertRefused(await partner.call('PATCH', pathOf(cashbackId), { body }), 400, [fault])
  })

  test('merchants, and no viewer', async () => {
    const id = await createCampaign(platform)
    await assertMerchantsOnly(platform, {
      isChange: true,
      statusFor: 200,
      call: partner =>
        platform.call('PATCH', pathOf(id), { token: partner?.token ?? null, body: { description: 'x' } }),
    })
  })
})
