/** POST /cashbacks/for-merchant: bodies that are refused. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  assertRefused,
  assertResult,
  campaignDirectory,
  campaignForm,
  ids,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
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

const countCampaigns = async (): Promise<number> => {
  const [row] = await platform.platform.database.query<{ n: number }>('select count(*) as n from campaigns')
  return row?.n ?? 0
}

const rocket = '\u{1f680}'

const terminals = (count: number) => Array.from({ length: count }, (_, index) => ({ terminal_id: `T-${index}` }))
const picture = (bytes: number): string => `data:image/png;base64,${Buffer.alloc(bytes, 7).toString('base64')}`
const address = (length: number): string => 'https://cdn.example/'.padEnd(length, 'x')

describe('400', () => {
  const connected = (index: number) =>
    `participantsIds.${index} must be a connected bank that the merchant does not exclude`
  const uuid = (field: string) => [`${field} must be a UUID`]
  const notNumber = (field: string) => [`${field} must be a number`]
  const date = 'must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999'
  const banner =
    'must be an http or https URL of at most 2048 characters of RFC 3986 (others are written as %…, in the host as xn--…), or a data:image/...;base64, URI of at most 256 KiB'
  const ownTerminals = (...list: unknown[]) => ({ terminalsPlatform: false, terminals: list })
  const strange = randomUUID()

  const table: [string, Record<string, unknown>, string[]][] = [
    ['no banks', { participantsIds: [] }, ['participantsIds must be a list of at least 1']],
    ['banks as a text', { participantsIds: ids.alpha }, ['participantsIds must be an array']],
    ['a bank that is no UUID', { participantsIds: [ids.alpha, 'alpha'] }, uuid('participantsIds.1')],
    ['a bank with urn:uuid:', { participantsIds: [`urn:uuid:${ids.alpha}`] }, uuid('participantsIds.0')],
    [
      'a bank twice, once in capitals',
      { participantsIds: [ids.alpha, ids.alpha.toUpperCase()] },
      ['participantsIds must be a list without repetitions'],
    ],
    ['a bank that is unknown', { participantsIds: [ids.alpha, strange] }, [connected(1)]],
    ['a bank that is suspended', { participantsIds: [ids.closed] }, [connected(0)]],
    ['a merchant as bank', { participantsIds: [ids.grocer] }, [connected(0)]],
    [
      '1,001 banks',
      { participantsIds: Array.from({ length: 1_001 }, () => randomUUID()) },
      ['participantsIds must be a list of at most 1000'],
    ],
    ...['a\u0007b', 'a\u007fb', 'a\u0080b', 'a\u0085b', 'a\u009bb', '\u009f', 'a\u202eb', '\u2066a'].flatMap(
      (text): [string, Record<string, unknown>, string[]][] =>
        ['description', 'participationTerms'].map(field => [
          `${field} U+${text.replaceAll(/[ab]/g, '').charCodeAt(0).toString(16)}`,
          { [field]: text },
          [`${field} must be a text without control characters and without characters that turn its direction`],
        ]),
    ),
    ['an empty name', { name: '' }, ['name must be a text with at least one character that is not a space']],
    ['a name of spaces', { name: '\u00a0 ' }, ['name must be a text with at least one character that is not a space']],
    ['a name of 28 characters', { name: rocket.repeat(28) }, ['name must be shorter than or equal to 27 characters']],
    ['a number as name', { name: 7 }, ['name must be a string']],
    ['null as name', { name: null }, ['name must be a string']],
    [
      'a description of 667 characters',
      { description: 'x'.repeat(667) },
      ['description must be shorter than or equal to 666 characters'],
    ],
    [
      'terms of 1025 characters',
      { participationTerms: rocket.repeat(1025) },
      ['participationTerms must be shorter than or equal to 1024 characters'],
    ],
    ['a banner without scheme', { bannerSmall: 'cdn.example/x.png' }, [`bannerSmall ${banner}`]],
    ['a banner of 2049 characters', { bannerBig: address(2049) }, [`bannerBig ${banner}`]],
    ['a banner a byte too large', { bannerBig: picture(256 * 1024 + 1) }, [`bannerBig ${banner}`]],
    ['a banner that is no picture', { bannerBig: 'data:text/html;base64,aGk=' }, [`bannerBig ${banner}`]],
    ['an SVG', { bannerBig: 'data:image/svg+xml;base64,aGk=' }, ['bannerBig must be an image other than SVG']],
    [
      'an SVG in capitals',
      { bannerSmall: 'DATA:image/SVG+XML;base64,aGk=' },
      ['bannerSmall must be an image other than SVG'],
    ],
    ['a banner as a list', { bannerBig: [] }, ['bannerBig must be a string or null']],
    ['a SKU without characters', { sku: [''] }, ['sku.0 must be a text of 1 to 128 characters']],
    ['a SKU of 129 characters', { sku: ['a', 'x'.repeat(129)] }, ['sku.1 must be a text of 1 to 128 characters']],
    ['a SKU as a number', { categoryId: [7] }, ['categoryId.0 must be a text of 1 to 128 characters']],
    ['SKUs as a text', { sku: 'a' }, ['sku must be an array or null']],
    [
      'all products and SKUs',
      { allProducts: true, sku: ['a'] },
      ['allProducts must be false when sku or categoryId is given'],
    ],
    [
      'all products and categories',
      { allProducts: true, categoryId: ['a'] },
      ['allProducts must be false when sku or categoryId is given'],
    ],
    [
      'a text for a boolean',
      { allProducts: 'true', purchaseOnline: 1 },
      ['allProducts must be a boolean or null', 'purchaseOnline must be a boolean or null'],
    ],
    ['a time without zone', { dateFrom: '2027-01-01T00:00:00' }, [`dateFrom ${date}`]],
    ['a day that is none', { dateTo: '2027-02-29' }, [`dateTo ${date}`]],
    ['a number for a date', { dateFrom: 1764547200 }, [`dateFrom ${date}`]],
    ['an end in the past', { dateFrom: '2026-01-01', dateTo: '2026-01-02' }, ['dateTo must be in the future']],
    [
      'an end at the start',
      { dateFrom: '2099-01-01', dateTo: '2099-01-01T02:00:00+02:00' },
      ['dateTo must be after dateFrom'],
    ],
    ['a negative amount', { minAmount: -0.01 }, ['minAmount must be at least 0']],
    ['a tenth of a cent', { maxAmount: 100.001 }, ['maxAmount must be a number with at most 2 decimals']],
    ['a cent too much', { maxAmount: 10000000000 }, ['maxAmount must be at most 9999999999.99']],
    ['amounts the wrong way', { minAmount: 100.01, maxAmount: 100 }, ['maxAmount must be at least minAmount']],
    ['an amount as text', { minAmount: '100' }, notNumber('minAmount')],
    ['no budget', { maxBudget: 0 }, ['maxBudget must be greater than 0']],
    ['a percentage below 0', { percentage: -0.1 }, ['percentage must be at least 0']],
    ['a percentage above 100', { percentage: 100.01 }, ['percentage must be at most 100']],
    [
      'a compensation below 0',
      { merchantCompensationPercentage: -1 },
      ['merchantCompensationPercentage must be at least 0'],
    ],
    [
      'a compensation above 100',
      { merchantCompensationPercentage: 101 },
      ['merchantCompensationPercentage must be at most 100'],
    ],
    ['a country of three letters', { countryCode: 'UKR' }, ['countryCode must be an ISO 3166-1 alpha-2 code']],
    ['a country in other letters', { countryCode: 'УА' }, ['countryCode must be an ISO 3166-1 alpha-2 code']],
    [
      'a country that the platform does not have',
      { countryCode: 'de' },
      ['countryCode must be a country of the platform'],
    ],
    ['no payment system', { paymentSystemsId: [] }, ['paymentSystemsId must be a list of at least 1']],
    [
      'a payment system twice',
      { paymentSystemsId: [ids.visa, ids.visa.toUpperCase()] },
      ['paymentSystemsId must be a list without repetitions'],
    ],
    [
      'a payment system that is unknown',
      { paymentSystemsId: [ids.visa, strange] },
      ['paymentSystemsId.1 must be a payment system of the platform'],
    ],
    [
      'MCCs that are none',
      { merchantCategoryCode: ['5411', '541', '54111', '٥٤١١', 5411] },
      [1, 2, 3, 4].map(index => `merchantCategoryCode.${index} must be four digits`),
    ],
    [
      'no terminals',
      { terminalsPlatform: false },
      ['terminals must be a list of at least 1 when terminalsPlatform is false'],
    ],
    [
      'an empty list of terminals',
      ownTerminals(),
      ['terminals must be a list of at least 1 when terminalsPlatform is false'],
    ],
    [
      'null for the terminals',
      { terminalsPlatform: false, terminals: null },
      ['terminals must be a list of at least 1 when terminalsPlatform is false'],
    ],
    ['a terminal without id', ownTerminals({ terminal_name: 'x' }), ['terminals.0.terminal_id must be given']],
    [
      'a terminal with a blank id',
      ownTerminals({ terminal_id: ' ' }),
      ['terminals.0.terminal_id must be one line of 1 to 128 characters'],
    ],
    [
      'a terminal with an id of two lines',
      ownTerminals({ terminal_id: 'a\nb' }),
      ['terminals.0.terminal_id must be one line of 1 to 128 characters'],
    ],
    [
      'a terminal with an id of 129 characters',
      ownTerminals({ terminal_id: 'x'.repeat(129) }),
      ['terminals.0.terminal_id must be one line of 1 to 128 characters'],
    ],
    [
      'a terminal twice',
      ownTerminals({ terminal_id: 'a' }, { terminal_id: 'b' }, { terminal_id: 'a' }),
      ['terminals.2.terminal_id must be unique in the list'],
    ],
    [
      'a terminal with a field of the directory’s',
      ownTerminals({ terminal_id: 'a', terminalName: 'x' }),
      ['terminals.0.terminalName must be omitted'],
    ],
    [
      'a terminal with a name of 201 characters',
      ownTerminals({ terminal_id: 'a', terminal_name: 'x'.repeat(201) }),
      ['terminals.0.terminal_name must be shorter than or equal to 200 characters'],
    ],
    ['a terminal that is a text', ownTerminals('a'), ['terminals.0 must be an object']],
    ['50,001 terminals', { terminals: terminals(50_001) }, ['terminals must be a list of at most 50000']],
    [
      'who creates it',
      { creatorId: ids.grocer, createdByType: 'retailer', retailerId: ids.grocer },
      ['creatorId', 'createdByType', 'retailerId'].map(field => `${field} must be omitted`),
    ],
    [
      'a typing error',
      { maxBudgt: 100, Name: 'x', constructor: 1 },
      ['maxBudgt', 'Name', 'constructor'].map(field => `${field} must be omitted`),
    ],
  ]
  for (const [name, given, faults] of table)
    test(name, async () => {
      const before = await countCampaigns()
      assertRefused(await create(given), 400, faults)
      assert.equal(await countCampaigns(), before)
    })

  test('a bank that the merchant excludes', async () => {
    assertRefused(await create({ participantsIds: [ids.alpha, ids.beta] }, voltshop), 400, [connected(1)])
  })

  const required = [
    'participantsIds',
    'name',
    'dateFrom',
    'dateTo',
    'minAmount',
    'maxAmount',
    'percentage',
    'countryCode',
  ]
  required.push('terminalsPlatform', 'paymentSystemsId', 'merchantCompensationPercentage')
  test('everything that is missing, at once', async () => {
    assertRefused(
      await grocer.call('POST', path, { body: {} }),
      400,
      required.map(field => `${field} must be given`),
    )
  })

  test('null for everything that is required, at once', async () => {
    const body = Object.fromEntries(required.map(field => [field, null]))
    const answer = await grocer.call('POST', path, { body })
    assertRefused(answer, 400)
    assert.deepEqual(answer.body.message.map((text: string) => text.split(' ')[0]).sort(), required.toSorted())
  })

  test('faults of form, between fields and of the directory at once, each named once', async () => {
    const answer = await create({
      creatorId: 'x',
      name: ' ',
      minAmount: 1.001,
      maxAmount: 1,
      allProducts: true,
      sku: ['a'],
      dateTo: '2026-01-01T00:00:00',
      participantsIds: [ids.alpha, ids.alpha.toUpperCase(), ids.closed],
      countryCode: 'DE',
      terminalsPlatform: false,
      terminals: [{ terminal_name: 7 }, { terminal_id: 'a' }, { terminal_id: 'a' }],
      percentage: undefined,
    })
    assertRefused(answer, 400, [
      'countryCode must be a country of the platform',
      'creatorId must be omitted',
      'allProducts must be false when sku or categoryId is given',
      `dateTo ${date}`,
      'minAmount must be a number with at most 2 decimals',
      'maxAmount must be at least minAmount',
      'name must be a text with at least one character that is not a space',
      'participantsIds must be a list without repetitions',
      connected(2),
      'percentage must be given',
      'terminals.0.terminal_id must be given',
      'terminals.0.terminal_name must be a string or null',
      'terminals.2.terminal_id must be unique in the list',
    ])
  })

  test('a hundred faults are told of more than anybody reads', async () => {
    const answer = await create({ terminals: Array.from({ length: 20_000 }, () => ({ terminal_id: 'a' })) })
    assertRefused(answer, 400)
    assert.equal(answer.body.message.length, 100)
  })

  const raws: [string, string | Uint8Array, RegExp][] = [
    ['no body', '', /body must be an object/],
    ['null', 'null', /body must be an object/],
    ['a list', '[]', /body must be an object/],
    ['no JSON', '{"name":', /JSON/],
    ['a name given twice', '{"name":"a","name":"b"}', /^name must be given once only/],
    ['half a surrogate pair', '{"name":"\\ud83d"}', /^name must be well-formed/],
    ['a NUL', '{"terminals":[{"terminal_id":"a\\u0000"}]}', /^terminals\.0\.terminal_id must be well-formed/],
    ['no UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), /UTF-8/],
    ['an amount beyond all numbers', '{"minAmount":1e400}', /^minAmount must be a number$/m],
  ]
  for (const [name, raw, message] of raws)
    test(`a body: ${name}`, async () => assertRefused(await grocer.call('POST', path, { raw }), 400, message))

  test('a query', async () => {
    const answer = await grocer.call('POST', `${path}?dryRun=1`, { body: campaignForm(platform) })
    assertRefused(answer, 400, ['dryRun must be omitted'])
  })
})

test('413: a body of 16 MiB is read, one byte more is not', async () => {
  const body = JSON.stringify(campaignForm(platform, { name: 'ASCII' }))
  const limit = 16 * 1024 * 1024
  assertResult(await grocer.call('POST', path, { raw: body.padEnd(limit) }), 201, { status: 'awaitingBankApproval' })
  assertRefused(await grocer.call('POST', path, { raw: body.padEnd(limit + 1) }), 413)
})

test('415: another media type', async () => {
  const answer = await grocer.call('POST', path, { raw: 'name=x', headers: { 'content-type': 'text/plain' } })
  assertRefused(answer, 415)
})
