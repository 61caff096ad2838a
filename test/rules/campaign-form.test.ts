/** Tables of the rules of a campaign's form that no schema can state, and of the rules of an edit. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changedFields, lockedErrors, mergedFields } from '../../src/campaigns/form/changes.ts'
import {
  crossErrors,
  type Fields,
  readFields,
  readNewFields,
  termsOf,
  unfitTexts,
} from '../../src/campaigns/form/form.ts'
import { noTerminals, type TerminalList } from '../../src/campaigns/form/terminal-list.ts'
import { cardText, type Terms } from '../../src/campaigns/form/terms.ts'
import { hiddenFromBanks } from '../../src/campaigns/lifecycle/editable-fields.ts'
import type { CampaignState } from '../../src/campaigns/lifecycle/lifecycle.ts'
import type { CampaignStatus } from '../../src/campaigns/lifecycle/transitions.ts'
import { ruleMessage } from '../../src/error-rules.ts'
import { matches } from '../../src/http/answer/etag.ts'
import { readBound, readInstant } from '../../src/text/instant.ts'

const idA = 'a1a1a1a1-0000-4000-8000-000000000001'
const idB = 'b2b2b2b2-0000-4000-8000-000000000002'
const now = new Date('2026-11-21T12:00:00Z')

describe('an instant', () => {
  const right: [string, string][] = [
    ['2026-12-01', '2026-12-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-12-01T10:20Z', '2026-12-01T10:20:00.000Z'],
    ['2026-12-01T10:20:30Z', '2026-12-01T10:20:30.000Z'],
    ['2026-12-01T10:20:30.5Z', '2026-12-01T10:20:30.500Z'],
    ['2026-12-01T10:20:30.123456789Z', '2026-12-01T10:20:30.123Z'],
    ['2026-12-01T00:30:00+02:00', '2026-11-30T22:30:00.000Z'],
    ['2026-12-01T23:59:59.999-11:45', '2026-12-02T11:44:59.999Z'],
    ['2026-12-01T00:30:00+0200', '2026-11-30T22:30:00.000Z'],
    ['2026-12-01T00:30:00+02', '2026-11-30T22:30:00.000Z'],
    ['2026-12-01T00:30+02', '2026-11-30T22:30:00.000Z'],
    ['2026-12-01t10:20:30z', '2026-12-01T10:20:30.000Z'],
    ['2026-12-01t10:20:30.5-0530', '2026-12-01T15:50:30.500Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ]
  for (const [text, instant] of right)
    test(`${text} is ${instant}`, () => assert.equal(readInstant(text)?.toISOString(), instant))

  const bounds: [string, string][] = [
    ['2026-12-01T10:20:30.123Z', '2026-12-01T10:20:30.123Z'],
    ['2026-12-01T10:20:30.123000000Z', '2026-12-01T10:20:30.123Z'],
    ['2026-12-01T10:20:30.123000001Z', '2026-12-01T10:20:30.124Z'],
    ['2026-12-01T10:20:59.9991+02:00', '2026-12-01T08:21:00.000Z'],
    ['2026-12-01', '2026-12-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
  ]
  for (const [text, instant] of bounds)
    test(`a range from ${text} begins at ${instant}`, () => assert.equal(readBound(text)?.toISOString(), instant))

  const wrong = [
    '',
    '2026',
    '2026-12',
    '2026-13-01',
    '2026-00-10',
    '2026-02-30',
    '2025-02-29',
    '2026-04-31',
    '2026-12-00',
  ]
  wrong.push('2026-12-01T10:20:30', '2026-12-01T10:20', '2026-12-01T24:00:00Z', '2026-12-01T10:60:00Z')
  wrong.push('2026-12-01T10:20:60Z', '2026-12-01T10Z', '2026-12-01 10:20:30Z', '2026-12-01Z', '2026-12-01+02')
  wrong.push(
    '2026-12-01T10:20:30+2',
    '2026-12-01T10:20:30+02:',
    '2026-12-01T10:20:30+020',
    '2026-12-01T10:20:30+24:00',
    '2026-12-01T10:20:30+02:60',
  )
  wrong.push(
    '12/01/2026',
    '1764547200',
    '+002026-12-01T00:00:00Z',
    '-000001-01-01',
    '2026-W48',
    ' 2026-12-01',
    '2026-12-01\n',
  )
  wrong.push('1969-12-31T23:59:59.999Z', '1970-01-01T00:59:00+01:00', '9999-12-31T23:59:59-00:01', '0000-01-01')
  for (const text of wrong) test(`${JSON.stringify(text)} is none`, () => assert.equal(readInstant(text), null))
})

describe('one field', () => {
  const kept: [string, unknown, unknown][] = [
    ['name', ' Осінь ', ' Осінь '],
    ['countryCode', 'ua', 'UA'],
    ['participantsIds', [idA.toUpperCase(), idB], [idA, idB]],
    ['minAmount', 100, '100'],
    ['minAmount', 0.1, '0.1'],
    ['minAmount', 0.29, '0.29'],
    ['minAmount', 9_999_999_999.99, '9999999999.99'],
    ['minAmount', 1e2, '100'],
    ['percentage', 12.345678, '12.345678'],
    ['percentage', 1e-7, '1e-7'],
    ['bannerSmall', 'HTTPS://cdn.example/a b.png'.replace(' ', '%20'), 'HTTPS://cdn.example/a%20b.png'],
    ['bannerBig', 'data:image/webp;base64,aGk=', 'data:image/webp;base64,aGk='],
    ['description', null, null],
    ['maxBudget', null, null],
    ['sku', null, []],
    ['terminals', null, noTerminals],
    ['allProducts', null, null],
    ['purchaseOnline', null, true],
    ['purchaseOffline', null, true],
    ['merchantCategoryCode', null, null],
  ]
  for (const [field, value, expected] of kept)
    test(`${field} ${JSON.stringify(value)} is ${JSON.stringify(expected)}`, () =>
      assert.deepEqual(readFields({ [field]: value }), { fields: { [field]: expected }, errors: [] }))

  test('terminals are kept with null for what is unknown', () => {
    const terminals = [
      { terminal_id: 'a' },
      { terminal_id: 'A', terminal_name: 'n', terminal_location: null, merchant_id: 'm' },
    ]
    const unknown = { terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null }
    const { count, text } = readFields({ terminals }).fields.terminals ?? noTerminals
    assert.equal(count, 2)
    assert.deepEqual(JSON.parse(Buffer.concat(text ?? []).toString()), [
      { ...unknown, terminal_id: 'a' },
      { ...unknown, terminal_id: 'A', terminal_name: 'n', merchant_id: 'm' },
    ])
  })

  const errorsOf = (field: string, value: unknown): string[] => {
    const { fields, errors } = readFields({ [field]: value })
    return [...errors, ...unfitTexts(fields)].map(ruleMessage)
  }
  const banner =
    'must be an http or https URL of at most 2048 characters of RFC 3986 (others are written as %…, in the host as xn--…), or a data:image/...;base64, URI of at most 256 KiB'
  const oneLine = 'name must be one line, without characters that turn the direction of the text'
  const decimals = 'must be a number with at most 2 decimals'
  const date = 'must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999'
  const picture = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`
  const address = (length: number) => 'https://cdn.example/'.padEnd(length, 'x')
  const faulty: [string, unknown, string][] = [
    ['name', '', 'name must be a text with at least one character that is not a space'],
    ['name', ' \u00a0\u2003\t\n', 'name must be a text with at least one character that is not a space'],
    ['name', '\u200b\u2060\ufeff', 'name must be a text with at least one character that is not a space'],
    ['name', 'a\nb', oneLine],
    ['name', 'a\u2028b', oneLine],
    ['name', 'Sale \u202etxt.exe', oneLine],
    ['name', '\u2066a\u2069', oneLine],
    ['minAmount', 0.001, `minAmount ${decimals}`],
    ['maxAmount', 1e-7, `maxAmount ${decimals}`],
    ['maxBudget', 100.999, `maxBudget ${decimals}`],
    ['maxAmount', 1e21, `maxAmount ${decimals}`],
    ['dateFrom', '2026-12-01T10:00:00', `dateFrom ${date}`],
    ['dateTo', 'tomorrow', `dateTo ${date}`],
    ['participantsIds', [idA, idA], 'participantsIds must be a list without repetitions'],
    ['paymentSystemsId', [idA, idA.toUpperCase()], 'paymentSystemsId must be a list without repetitions'],
    ['bannerSmall', '', `bannerSmall ${banner}`],
    ['bannerSmall', 'cdn.example/a.png', `bannerSmall ${banner}`],
    ['bannerSmall', 'ftp://cdn.example/a.png', `bannerSmall ${banner}`],
    ['bannerBig', 'javascript:alert(1)', `bannerBig ${banner}`],
    ['bannerBig', 'data:text/html;base64,aGk=', `bannerBig ${banner}`],
    ['bannerBig', 'data:image/png,abc', `bannerBig ${banner}`],
    ['bannerBig', 'data:image/png;base64,a', `bannerBig ${banner}`],
    ['bannerBig', address(2049), `bannerBig ${banner}`],
    ['bannerBig', picture(256 * 1024 + 1), `bannerBig ${banner}`],
    ['terminals', [{ terminal_id: 'a' }, { terminal_id: 'a' }], 'terminals.1.terminal_id must be unique in the list'],
  ]
  for (const [field, value, error] of faulty)
    test(`${field} ${JSON.stringify(value).slice(0, 60)}: ${error.slice(0, 60)}`, () =>
      assert.deepEqual(errorsOf(field, value), [error]))

  for (const [what, value] of [
    ['2048 characters', address(2048)],
    ['256 KiB', picture(256 * 1024)],
  ] as const)
    test(`a banner of ${what} is no error`, () => assert.deepEqual(errorsOf('bannerBig', value), []))

  test('values that the schema refuses are skipped: they are not read, and no error is reported twice', () => {
    const wrong = [7, 'x', {}, [1], [{}], [null], true]
    for (const field of [
      'participantsIds',
      'sku',
      'terminals',
      'minAmount',
      'dateFrom',
      'allProducts',
      'name',
      'maxBudget',
    ])
      for (const value of wrong) {
        const { fields, errors } = readFields({ [field]: value })
        const isRead = field in fields || errors.length > 0
        const isRight = {
          minAmount: 'number',
          maxBudget: 'number',
          allProducts: 'boolean',
          name: 'string',
          dateFrom: 'string',
        }
        assert.equal(
          isRead,
          (isRight as Record<string, string>)[field] === typeof value,
          `${field} ${JSON.stringify(value)}`,
        )
      }
    for (const body of [undefined, null, 'x', 7, []]) assert.deepEqual(readFields(body), { fields: {}, errors: [] })
  })

  test('a thousand repeated terminals are told a hundred times', () => {
    const terminals = Array.from({ length: 1_000 }, () => ({ terminal_id: 'a' }))
    assert.equal(readFields({ terminals }).errors.length, 100)
  })
})

test('a new campaign has its defaults, whether a field is left out or null', () => {
  const expected = {
    description: null,
    participationTerms: null,
    bannerSmall: null,
    bannerBig: null,
    sku: [],
    categoryId: [],
    allProducts: null,
    purchaseOnline: true,
    purchaseOffline: true,
    maxBudget: null,
    merchantCategoryCode: null,
    terminals: noTerminals,
  }
  assert.deepEqual(readNewFields({}).fields, expected)
  assert.deepEqual(
    readNewFields(Object.fromEntries(Object.keys(expected).map(field => [field, null]))).fields,
    expected,
  )
})

/** Returns a list with this many terminals. */
const own = (count: number): TerminalList => ({ count, text: null, unfit: [] })
const fields = (given: Partial<Fields> = {}): Fields => ({
  participantsIds: [idA],
  name: 'n',
  description: null,
  participationTerms: null,
  bannerSmall: null,
  bannerBig: null,
  sku: [],
  categoryId: [],
  allProducts: null,
  purchaseOnline: true,
  purchaseOffline: true,
  dateFrom: new Date('2026-12-01Z'),
  dateTo: new Date('2026-12-31Z'),
  minAmount: '1',
  maxAmount: '2',
  maxBudget: null,
  percentage: '5',
  merchantCompensationPercentage: '50',
  merchantCategoryCode: null,
  countryCode: 'UA',
  paymentSystemsId: [idB],
  terminals: own(0),
  terminalsPlatform: true,
  ...given,
})
describe('between fields', () => {
  const assortment = ['allProducts must be false when sku or categoryId is given']
  const emptyList = ['terminals must be a list of at least 1 when terminalsPlatform is false']
  const table: [string, Partial<Fields>, string[]][] = [
    ['nothing is wrong', {}, []],
    ['the start may lie in the past', { dateFrom: new Date(0) }, []],
    ['the end is a moment ahead', { dateFrom: new Date(0), dateTo: new Date(now.getTime() + 1) }, []],
    ['the end is now', { dateFrom: new Date(0), dateTo: now }, ['dateTo must be in the future']],
    ['the end is the start', { dateTo: new Date('2026-12-01Z') }, ['dateTo must be after dateFrom']],
    ['the end is a moment after the start', { dateTo: new Date('2026-12-01T00:00:00.001Z') }, []],
    [
      'the end is past and before the start',
      { dateTo: new Date('2026-11-01Z') },
      ['dateTo must be in the future', 'dateTo must be after dateFrom'],
    ],
    ['equal amounts', { minAmount: '2', maxAmount: '2' }, []],
    ['amounts are compared as numbers', { minAmount: '9.5', maxAmount: '10' }, []],
    ['amounts the wrong way', { minAmount: '2.01', maxAmount: '2' }, ['maxAmount must be at least minAmount']],
    ['all products, alone', { allProducts: true }, []],
    ['all products and SKUs', { allProducts: true, sku: ['a'] }, assortment],
    ['all products and categories', { allProducts: true, categoryId: ['a'] }, assortment],
    ['not all products, SKUs', { allProducts: false, sku: ['a'] }, []],
    ['not all products, nothing named', { allProducts: false }, []],
    ['left out, SKUs', { sku: ['a'] }, []],
    ['own terminals, none', { terminalsPlatform: false }, emptyList],
    ['own terminals, one', { terminalsPlatform: false, terminals: own(1) }, []],
    ['the platform’s terminals, and own ones', { terminals: own(1) }, []],
  ]
  for (const [name, given, errors] of table)
    test(name, () => assert.deepEqual(crossErrors(fields(given), now).map(ruleMessage), errors))

  test('a rule waits until all of its fields are known', () => {
    for (const known of [
      { dateFrom: new Date('2027-01-01Z') },
      { minAmount: '7' },
      { allProducts: true },
      { terminals: own(0) },
    ])
      assert.deepEqual(crossErrors(known, now), [])
  })

  test('allProducts left out is true when neither SKUs nor categories are given', () => {
    const allProducts = (given: Partial<Fields>) => termsOf(fields(given)).allProducts
    assert.deepEqual(
      [{}, { sku: ['a'] }, { categoryId: ['a'] }, { allProducts: false }, { allProducts: true }].map(allProducts),
      [true, false, false, false, true],
    )
  })
})

describe('what an edit changes', () => {
  const present = fields({
    allProducts: false,
    sku: ['a', 'b'],
    participantsIds: [idA, idB],
  })
  const changedBy = (body: Record<string, unknown>) => {
    const names = Object.keys(body) as (keyof Fields)[]
    return changedFields(present, mergedFields(present, readFields(body).fields, names), { names, terminals: null })
  }
  const same: Record<string, unknown>[] = [
    {},
    {
      name: 'n',
      percentage: 5,
      minAmount: 1.0,
      countryCode: 'ua',
      dateFrom: '2026-12-01',
      dateTo: '2026-12-31T02:00:00+02:00',
    },
    {
      participantsIds: [idB.toUpperCase(), idA],
      sku: ['b', 'a'],
    },
    { description: null, maxBudget: null, allProducts: null, purchaseOnline: null },
  ]
  for (const body of same) test(`${JSON.stringify(body)}: nothing`, () => assert.deepEqual(changedBy(body), []))

  const other: [Record<string, unknown>, string[]][] = [
    [{ name: 'n ', percentage: 5.5, maxBudget: 1 }, ['name', 'percentage', 'maxBudget']],
    [{ sku: ['a'] }, ['sku']],
    [{ sku: null }, ['sku']],
    [{ sku: null, allProducts: null }, ['sku', 'allProducts']],
    [{ dateFrom: '2026-12-01T00:00:00.001Z' }, ['dateFrom']],
    [{ dateFrom: 'soon', percentage: '5' }, []],
  ]
  for (const [body, changed] of other)
    test(`${JSON.stringify(body)}: ${changed.join(', ') || 'nothing'}`, () =>
      assert.deepEqual(changedBy(body), changed))

  test('what cannot be read takes part in no rule', () => {
    const merged = mergedFields(present, readFields({ dateFrom: 'soon', dateTo: '2026-11-30' }).fields, [
      'dateFrom',
      'dateTo',
    ])
    assert.equal('dateFrom' in merged, false)
    assert.deepEqual(crossErrors(merged, now), [])
  })
})

describe('what the state permits', () => {
  const campaign = (status: CampaignStatus, given: Partial<CampaignState> = {}): CampaignState => ({
    cashbackId: idA,
    merchantId: idB,
    createdByBankId: null,
    status,
    dateFrom: new Date('2026-12-01Z'),
    dateTo: new Date('2026-12-31Z'),
    merchantPays: true,
    banks: [{ bankId: idA, status: 'pending', stage: null }],
    ...given,
  })
  const agreed = [{ bankId: idA, status: 'approved', stage: null } as const]
  const present = fields({ terminals: own(2), participantsIds: [idA] })
  const errorsOf = (state: CampaignState, given: Partial<Fields>, at = now) => {
    const changed = Object.keys(given) as (keyof Fields)[]
    // Stands in for `compareTerminals`. The stored list has two terminals, and a list of three contains both. A shorter
    // list lacks the terminal `1`, or has it with other values.
    const firstMissing = (given.terminals?.count ?? 3) < 3 ? '1' : null
    const terminals = { isChanged: true, firstMissing, isOnlyOther: given.terminals?.count === 2, added: [] }
    const edited = { ...state, terminalsPlatform: false }
    return lockedErrors(edited, { present, merged: { ...present, ...given }, terminals, changed, now: at }).map(
      ruleMessage,
    )
  }
  const unchanged = (why: string) => [`name must be unchanged: ${why}`]
  const named = { name: 'x' }
  const fewer = { terminals: own(1) }
  const more = { terminals: own(3) }
  const renamed = { terminals: own(2) }
  const missing = ['terminals must be the present list and additions only: 1 is missing']
  const table: [string, CampaignState, Partial<Fields>, string[]][] = [
    ['waiting, nobody approved', campaign('awaitingBankApproval'), { ...named, ...fewer, participantsIds: [idB] }, []],
    [
      'waiting, one approved',
      campaign('awaitingBankApproval', { banks: agreed }),
      { ...named, ...fewer, participantsIds: [idB] },
      [
        ...unchanged('a bank has approved the campaign'),
        ...missing,
        `participantsIds must be the present list and additions only: ${idA} is missing`,
      ],
    ],
    [
      'one approved, adding',
      campaign('awaitingBankApproval', { banks: agreed }),
      { ...more, participantsIds: [idB, idA], description: 'd' },
      [],
    ],
    [
      'for the merchant',
      campaign('awaitingMerchantApproval', { banks: agreed }),
      named,
      unchanged('a bank has approved the campaign'),
    ],
    [
      'for the merchant, adding',
      campaign('awaitingMerchantApproval', { banks: agreed }),
      { ...more, bannerBig: 'b' },
      [],
    ],
    [
      'approved',
      campaign('approved', { banks: agreed }),
      { ...named, ...renamed },
      [...unchanged('the campaign is approved'), 'terminals must be the present list and additions only: 1 is changed'],
    ],
    [
      'approved, adding',
      campaign('approved', { banks: agreed }),
      { ...more, description: null, bannerSmall: 'b', bannerBig: 'b' },
      [],
    ],
    [
      'active, a bank more',
      campaign('active', { banks: agreed }),
      { participantsIds: [idA, idB] },
      ['participantsIds must be unchanged: the campaign is active'],
    ],
    ['ended', campaign('awaitingCompensationConfirmation', { dateTo: now }), named, unchanged('the campaign is over')],
    ['deleted', campaign('deleted'), named, unchanged('the campaign is deleted')],
    [
      'over before the clock’s job has seen it',
      campaign('awaitingBankApproval', { dateTo: now }),
      named,
      unchanged('the campaign is over'),
    ],
  ]
  for (const [name, state, given, errors] of table) test(name, () => assert.deepEqual(errorsOf(state, given), errors))
})

describe('If-Match', () => {
  const table: [string | undefined, boolean][] = [
    [undefined, true],
    ['*', true],
    [' * ', true],
    ['"7"', true],
    ['"6", "7"', true],
    ['"6","7" , "8"', true],
    ['"a,b", "7"', true],
    ['"6"', false],
    ['W/"7"', false],
    ['W/"7", "6"', false],
    ['7', false],
    ['"77"', false],
    ['', false],
    ['"6", *', false],
    [', "7" ,,', true],
    ['"7"x', false],
    ['x"7"', false],
    ['"7" "8"', false],
    ['"7', false],
  ]
  for (const [header, matched] of table)
    test(`${header}: ${matched ? 'goes on' : 'stale'}`, () => assert.equal(matches(header, '"7"'), matched))
})

test('the stored text begins the JSON that readers get, with exact numbers', () => {
  const origin = { cashbackId: idA, merchantId: idB, createdByBankId: null, createdAt: now }
  const terms: Terms = termsOf(fields({ name: '"Ї"\u2028', maxBudget: '9999999999.99', minAmount: '0.1' }))
  const card = JSON.parse(`${cardText(origin, terms, idA)}}`)
  assert.equal(card.name, '"Ї"\u2028')
  assert.deepEqual([card.maxBudget, card.minAmount, card.percentage], [9_999_999_999.99, 0.1, 5])
  assert.deepEqual([card.createdByType, card.createdByRetailerId, card.createdByBankId], ['retailer', idB, null])
  assert.equal('terminals' in card || 'countryCode' in card, false)
  for (const field of hiddenFromBanks) assert.ok(!(field in card), `banks get the card, so it must not have ${field}`)
  const ofBank = JSON.parse(`${cardText({ ...origin, createdByBankId: idA }, terms, idA)}}`)
  assert.deepEqual([ofBank.createdByType, ofBank.createdByRetailerId, ofBank.createdByBankId], ['bank', null, idA])
})
