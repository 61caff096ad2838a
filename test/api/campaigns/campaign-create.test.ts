/** POST /cashbacks/for-merchant: what is created, and who may. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertMerchantsOnly,
  assertRefused,
  assertResult,
  campaignDirectory,
  campaignForm,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { stopClock } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let grocer: Partner
let voltshop: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
  voltshop = await openMerchant(platform, 'voltshop')
})
after(() => platform.close())

const path = '/cashbacks/for-merchant'
const create = (overrides: Record<string, unknown> = {}, partner = grocer): Promise<Answer> =>
  partner.call('POST', path, { body: campaignForm(platform, overrides) })
const read = async (id: string): Promise<Record<string, any>> => (await grocer.call('GET', `${path}/${id}`)).body
/** Creates a campaign and returns its details. */
const created = async (overrides: Record<string, unknown>): Promise<Record<string, any>> => {
  const answer = await create(overrides)
  assertResult(answer, 201, { status: 'awaitingBankApproval' })
  return read(answer.body.id)
}
const countCampaigns = async (): Promise<number> => {
  const [row] = await platform.platform.database.query<{ n: number }>('select count(*) as n from campaigns')
  return row?.n ?? 0
}

const rocket = '\u{1f680}'
const unknownTerminal = { terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null }
const terminals = (count: number) => Array.from({ length: count }, (_, index) => ({ terminal_id: `T-${index}` }))
const picture = (bytes: number): string => `data:image/png;base64,${Buffer.alloc(bytes, 7).toString('base64')}`
const address = (length: number): string => 'https://cdn.example/'.padEnd(length, 'x')

describe('201', () => {
  test('an operation result; the campaign waits for its banks and belongs to the merchant of the token', async () => {
    const start = Date.now()
    const answer = await create({ participantsIds: [ids.alpha, ids.beta] })
    assertResult(answer, 201, { status: 'awaitingBankApproval' })
    const { id, createdAt, updatedAt } = answer.body
    assert.equal(createdAt, updatedAt)
    assert.ok(Date.parse(createdAt) >= start && Date.parse(createdAt) <= Date.now())
    const details = await read(id)
    assert.deepEqual(
      [details.retailerId, details.createdByType, details.createdByRetailerId, details.createdByBankId],
      [ids.grocer, 'retailer', ids.grocer, null],
    )
    assert.deepEqual(
      details.banks.map((bank: any) => [bank.id, bank.status]),
      [
        [ids.alpha, 'pending'],
        [ids.beta, 'pending'],
      ],
    )
    for (const bank of ['alpha', 'beta']) {
      const list = (await (await openCampaignBank(platform, bank)).call('GET', '/cashbacks/for-bank')).body
      assert.equal(list.filter((one: any) => one.cashbackId === id).length, 1)
    }
  })

  test('every field as it was given', async () => {
    const form = {
      participantsIds: [ids.gamma, ids.alpha],
      name: 'Осінь: 5 % на все',
      description: 'Two lines\nof text',
      participationTerms: '«Terms»',
      bannerSmall: 'https://cdn.example/small.png',
      bannerBig: picture(100),
      sku: ['4820000000017', 'b'],
      categoryId: ['dairy'],
      allProducts: false,
      purchaseOnline: false,
      purchaseOffline: true,
      dateFrom: '2026-12-24T22:00:00+02:00',
      dateTo: '2099-12-31',
      minAmount: 0.29,
      maxAmount: 1234567890.12,
      maxBudget: 100000.1,
      percentage: 12.5,
      countryCode: 'pl',
      terminals: [
        { terminal_id: 'T-1', terminal_name: 'Каса', terminal_location: null },
        { terminal_id: 't-1', merchant_id: 'M', merchant_name: 'SHOP', terminal_location: 'Lviv' },
      ],
      terminalsPlatform: false,
      paymentSystemsId: [ids.mastercard.toUpperCase(), ids.visa],
      merchantCompensationPercentage: 33.33,
      merchantCategoryCode: ['5411', '0000'],
    }
    const details = await created(form)
    const { participantsIds, countryCode, ...shown } = form
    const expected = {
      ...shown,
      dateFrom: '2026-12-24T20:00:00.000Z',
      dateTo: '2099-12-31T00:00:00.000Z',
      countryId: ids.PL,
      paymentSystemsId: [ids.mastercard, ids.visa],
      terminals: [
        { ...unknownTerminal, terminal_id: 'T-1', terminal_name: 'Каса' },
        { terminal_id: 't-1', terminal_name: null, merchant_id: 'M', merchant_name: 'SHOP', terminal_location: 'Lviv' },
      ],
    }
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(details[field], value, field)
    assert.equal(details.country.code, 'PL')
    assert.deepEqual(details.banks.map((bank: any) => bank.id).sort(), [ids.alpha, ids.gamma])
  })

  const defaults = {
    description: null,
    participationTerms: null,
    bannerSmall: null,
    bannerBig: null,
    sku: [],
    categoryId: [],
    allProducts: true,
    purchaseOnline: true,
    purchaseOffline: true,
    maxBudget: null,
    merchantCategoryCode: null,
  }
  test('what is left out has its default, and null is the same', async () => {
    const nulls = Object.fromEntries(Object.keys(defaults).map(field => [field, null]))
    for (const given of [{}, { ...nulls, terminals: null }]) {
      const details = await created(given)
      for (const [field, value] of Object.entries(defaults)) assert.deepEqual(details[field], value, field)
    }
  })

  test('amounts are kept exactly', async () => {
    const id = (await create({ minAmount: 0.1, maxAmount: 9999999999.99, maxBudget: 0.07, percentage: 0.000001 })).body
      .id
    const rows = await platform.platform.database.query(
      `select min_amount::text, max_amount::text, max_budget::text, percentage::text from campaigns where cashback_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [
      { min_amount: '0.1', max_amount: '9999999999.99', max_budget: '0.07', percentage: '0.000001' },
    ])
  })

  const bounds: [string, Record<string, unknown>][] = [
    ['a name of 27 characters, counted as a person does', { name: rocket.repeat(27) }],
    ['a name of one character', { name: 'Ї' }],
    ['a description of 666 characters', { description: rocket.repeat(666) }],
    ['an empty description', { description: '' }],
    ['terms of 1024 characters', { participationTerms: rocket.repeat(1024) }],
    ['percentages of 0', { percentage: 0, merchantCompensationPercentage: 0 }],
    ['percentages of 100', { percentage: 100, merchantCompensationPercentage: 100 }],
    ['amounts of 0', { minAmount: 0, maxAmount: 0 }],
    ['the largest amounts', { minAmount: 9999999999.99, maxAmount: 9999999999.99, maxBudget: 9999999999.99 }],
    ['the smallest budget', { maxBudget: 0.01 }],
    ['a period that began long ago', { dateFrom: '1970-01-01' }],
    ['the last end there can be', { dateTo: '9999-12-31T23:59:59.999Z' }],
    ['banners of 2048 characters', { bannerSmall: address(2048), bannerBig: address(2048) }],
    ['banners of 256 KiB', { bannerSmall: picture(256 * 1024), bannerBig: picture(256 * 1024) }],
    ['UUIDs in capitals', { participantsIds: [ids.alpha.toUpperCase()], paymentSystemsId: [ids.visa.toUpperCase()] }],
    ['not all products, and none named', { allProducts: false }],
    ['empty lists', { sku: [], categoryId: [], terminals: [], merchantCategoryCode: [] }],
    ['own terminals beside the platform’s', { terminals: terminals(2) }],
    ['a SKU of 128 characters', { sku: [rocket.repeat(128)], categoryId: ['x'] }],
    [
      'a terminal with the longest texts',
      {
        terminalsPlatform: false,
        terminals: [
          {
            terminal_id: rocket.repeat(128),
            terminal_name: rocket.repeat(200),
            terminal_location: rocket.repeat(500),
            merchant_id: rocket.repeat(128),
            merchant_name: rocket.repeat(200),
          },
        ],
      },
    ],
  ]
  for (const [name, given] of bounds)
    test(name, async () => {
      const details = await created(given)
      for (const [field, value] of Object.entries(given))
        if (typeof value !== 'object' && field in details && !field.startsWith('date'))
          assert.equal(details[field], value)
    })

  test('50,000 terminals', async () => {
    const details = await created({ terminalsPlatform: false, terminals: terminals(50_000) })
    assert.equal(details.terminals.length, 50_000)
    assert.equal(details.statistics.terminals, 50_000)
  })

  test('an end one moment ahead', async () => {
    const now = new Date('2055-05-05T12:00:00.000Z')
    using _ = stopClock(platform, now)
    assertResult(await create({ dateFrom: '2055-01-01', dateTo: '2055-05-05T12:00:00.001Z' }), 201, {
      status: 'awaitingBankApproval',
    })
    assertRefused(await create({ dateFrom: '2055-01-01', dateTo: now }), 400, ['dateTo must be in the future'])
  })

  test('a merchant that excludes a bank may invite the others', async () => {
    assertResult(await create({ participantsIds: [ids.alpha, ids.gamma] }, voltshop), 201, {
      status: 'awaitingBankApproval',
    })
  })
})

test('401 and 403: merchants, and no viewer', async () => {
  await assertMerchantsOnly(platform, {
    isChange: true,
    statusFor: 201,
    call: partner => platform.call('POST', path, { token: partner?.token ?? null, body: campaignForm(platform) }),
  })
  // The request is refused before its body is read.
  assertRefused(await (await openCampaignBank(platform)).call('POST', path, { raw: '{' }), 403)
})

test('the history tells who created it and whom it invites', async () => {
  const { id } = (await create({ participantsIds: [ids.alpha, ids.beta] })).body
  const history = (await grocer.call('GET', `/portal/cashbacks/${id}/history`)).body
  assert.deepEqual(
    history.map((entry: any) => [entry.actor.type, entry.actor.id, entry.subject, entry.bankId, entry.from, entry.to]),
    [
      ['retailer', ids.grocer, 'campaign', null, null, 'awaitingBankApproval'],
      ['retailer', ids.grocer, 'bank', ids.alpha, null, 'pending'],
      ['retailer', ids.grocer, 'bank', ids.beta, null, 'pending'],
    ],
  )
})

test('campaigns that are created at the same time are all there', async () => {
  const before = await countCampaigns()
  /**
   * Creates a campaign. On a busy machine the platform may have no free connection in time. It then answers 503 and
   * creates nothing, so the request is sent again.
   */
  const persist = async (): Promise<Answer> => {
    for (;;) {
      const answer = await create({ participantsIds: [ids.alpha, ids.beta] })
      if (answer.status !== 503 || !/temporarily unavailable/.test(answer.text)) return answer
      await sleep(100)
    }
  }
  const answers = await Promise.all(Array.from({ length: 20 }, persist))
  for (const { status, text } of answers) assert.equal(status, 201, text)
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 20)
  assert.equal(await countCampaigns(), before + 20)
})
