/**
 * What the portal computes by itself: words, addresses, the platform's errors at the fields of a form, edits and drafts. Figures and days are
 * in `portal-figures.test.ts`.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ApiError, apiError } from '../../portal/src/api/errors.ts'
import { errorsByField, fieldErrorText } from '../../portal/src/api/field-errors.ts'
import { problemText } from '../../portal/src/api/file-problems.ts'
import { readText } from '../../portal/src/api/read-text.ts'
import { type BrokenRule, ruleTexts } from '../../portal/src/api/rule-texts.ts'
import { bankCampaignTexts } from '../../portal/src/bank/campaign-texts.ts'
import { blockingText } from '../../portal/src/bank/status-summary.ts'
import { stagesOf, todayOf, wayOfLife } from '../../portal/src/campaigns/detail/life.ts'
import { withoutLostBanks } from '../../portal/src/campaigns/form/lost-banks.ts'
import {
  areSame,
  type CampaignValues,
  changedBody,
  changedValues,
  emptyValues,
  periodOf,
  valuesOf,
} from '../../portal/src/campaigns/form/values.ts'
import { changeTexts } from '../../portal/src/campaigns/history/change-texts.ts'
import { createFormat } from '../../portal/src/i18n/format.ts'
import { firstLanguage } from '../../portal/src/i18n/language.ts'
import { createNames } from '../../portal/src/i18n/names.ts'
import { counted } from '../../portal/src/i18n/texts.ts'
import { editTexts } from '../../portal/src/merchant/edit-texts.ts'
import { checkText } from '../../portal/src/operator/audit-texts.ts'
import {
  counting,
  day,
  manyOf,
  oneOf,
  parseSearch,
  searchParams,
  stringifySearch,
  tableFields,
  text,
} from '../../portal/src/routing/search.ts'
import { sortedPage } from '../../portal/src/ui/data-table/columns.ts'
import { statusTexts } from '../../portal/src/ui/status-texts.ts'
import { editableFields } from '../../src/campaigns/lifecycle/editable-fields.ts'
import { bankStatuses, campaignStatuses, reportingStages } from '../../src/campaigns/lifecycle/transitions.ts'
import { ruleCodes } from '../../src/error-rules.ts'
import { orderStatuses } from '../../src/esim/orders/lifecycle.ts'
import { checksOfRetention } from '../../src/retention/removal.ts'
import { checksOfEachAudit } from '../../src/upkeep/audit/audit.ts'

suite('words', () => {
  test('a bank that takes part waits for other banks only while one of them has to decide', () => {
    const campaign = {
      bankStatus: 'approved',
      bankReportingStatus: null,
      settlementConfirmed: false,
      compensationAcknowledged: false,
      createdByType: 'retailer',
      dateFrom: '2026-12-01T00:00:00Z',
      dateTo: '2026-12-24T00:00:00Z',
    } as const
    const input = {
      now: new Date('2026-11-24T00:00:00Z'),
      texts: bankCampaignTexts.en.blocks,
      format: createFormat('en', 'UTC'),
    }
    const undecided = blockingText({ ...campaign, status: 'awaitingBankApproval' }, input)
    assert.match(undecided, /Waiting for other banks to decide, or for the merchant/)
    const decided = blockingText({ ...campaign, status: 'awaitingMerchantApproval' }, input)
    assert.equal(
      decided,
      'Your bank takes part. Waiting for the merchant to launch the campaign by 24 Dec 2026, 00:00.',
    )
    // A launch leaves undecided banks out. Without a launch, the campaign itself expires.
    const leftOut = { ...campaign, bankStatus: 'expired' } as const
    assert.match(blockingText({ ...leftOut, status: 'active' }, input), /^Your bank had not decided when the merchant/)
    assert.equal(blockingText({ ...leftOut, status: 'expired' }, input), 'The campaign was not launched in time.')
  })

  test('a comment stands in the quotation marks of the language', () => {
    assert.equal(createFormat('en', 'UTC').quoted('No'), '“No”')
    assert.equal(createFormat('uk', 'UTC').quoted('Ні'), '«Ні»')
  })

  test('the first language that the portal speaks', () => {
    const cases: [string[], string][] = [
      [['uk'], 'uk'],
      [['uk-UA', 'en'], 'uk'],
      [['de-AT', 'en-GB', 'uk'], 'en'],
      [['pl', 'UK'], 'uk'],
      [['de'], 'en'],
      [[], 'en'],
    ]
    for (const [wanted, language] of cases) assert.equal(firstLanguage(wanted), language, wanted.join())
  })

  test('names of partners, countries and currencies are in the language of the page', () => {
    const [en, uk] = [createNames('en'), createNames('uk')]
    const cases: [string, string, string][] = [
      [en.of({ name: 'Гросер', nameEn: 'Grocer' }), uk.of({ name: 'Гросер', nameEn: 'Grocer' }), 'Grocer Гросер'],
      [en.of({ name: 'Alpha Bank' }), uk.of({ name: 'Alpha Bank', nameEn: null }), 'Alpha Bank Alpha Bank'],
      [
        en.of({ nameUk: 'Київстар', nameEn: '' }),
        uk.of({ nameUk: 'Київстар', nameEn: 'Kyivstar' }),
        'Київстар Київстар',
      ],
      [en.country('ua'), uk.country('UA'), 'Ukraine Україна'],
      [en.country('QQ', 'Erewhon'), uk.country('not a code'), 'Erewhon not a code'],
      [en.currency('PLN'), uk.currency('PLN'), 'Polish Zloty польський злотий'],
    ]
    for (const [english, ukrainian, expected] of cases) assert.equal(`${english} ${ukrainian}`, expected)
  })

  test('counts take the form of their language', () => {
    const uk = { one: 'кампанія', few: 'кампанії', many: 'кампаній', other: 'кампанії' }
    const counts = [0, 1, 2, 5, 11, 14, 21, 22, 25, 1.5]
    assert.deepEqual(
      counts.map(count => counted('uk', count, uk)),
      [
        '0 кампаній',
        '1 кампанія',
        '2 кампанії',
        '5 кампаній',
        '11 кампаній',
        '14 кампаній',
        '21 кампанія',
        '22 кампанії',
      ].concat(['25 кампаній', '1,5 кампанії']),
    )
    assert.deepEqual(
      [counted('en', 1, { one: 'day', other: 'days' }), counted('en', 21, { one: 'day', other: 'days' })],
      ['1 day', '21 days'],
    )
  })

  test('every status of the platform has its words, and no other', () => {
    const lists = {
      campaign: campaignStatuses,
      participation: bankStatuses,
      reporting: reportingStages,
      order: [...orderStatuses, 'withdrawn'],
    }
    for (const [kind, statuses] of Object.entries(lists))
      for (const language of ['en', 'uk'] as const)
        assert.deepEqual(Object.keys(statusTexts[language][kind as keyof typeof lists]).sort(), [...statuses].sort())
  })
})

test('every field of a campaign has a name in the history, and in the notice that somebody else has changed it', () => {
  for (const field of editableFields)
    assert.ok(field in changeTexts.en.fields, `${field} needs a name in campaigns/history/change-texts.ts`)
  for (const field of Object.keys(emptyValues('UTC')))
    assert.ok(field === 'retailerId' || field in editTexts.en.fields, `${field} needs a name in merchant/edit-texts.ts`)
})

test('every check of `perkline audit` has its words in both languages; a finding stays as the platform reports it', () => {
  const retention = { reportLinesDays: 1, segmentsDays: 1, msisdnDays: 1 }
  const checks = [...checksOfEachAudit, ...checksOfRetention(retention, new Date(0))]
  for (const { code, name, holds, params = [] } of checks) {
    const counts = Object.fromEntries(params.map(count => [count, 7]))
    const good = { code, name, ok: true, detail: holds, params: counts }
    const shown = checkText(good, 'uk', String)
    // Names of settings stay as they are.
    for (const text of [shown.name, shown.detail]) assert.match(text.replace(/KEEP_[A-Z_]+/, ''), /^[^a-z]+$/i, name)
    assert.notEqual(checkText(good, 'en', String).name, name)
    const found = { code, name, ok: false, detail: 'order 7 is lost' }
    assert.equal(checkText(found, 'uk', String).detail, 'order 7 is lost')
  }
  const params = { profiles: 10, tariffs: 2, free: 4, reserved: 3, sold: 2, withdrawn: 1 }
  const books = { code: 'profile-states', name: 'states', ok: true, detail: 'in English', params }
  assert.deepEqual(
    checkText(books, 'uk', value => `${value}!`),
    {
      name: 'Кожен профіль вільний, зарезервований, проданий або вилучений',
      detail: 'Профілів: 10!, тарифів: 2!. Вільних 4!, зарезервованих 3!, проданих 2!, вилучених 1!',
    },
  )
  const { params: _, ...withoutNumbers } = books
  assert.equal(checkText(withoutNumbers, 'uk', String).detail, 'in English')
  const unknown = { code: 'new-check', name: 'A new check', ok: true, detail: 'It holds' }
  assert.deepEqual(checkText(unknown, 'uk', String), { name: 'A new check', detail: 'It holds' })
})

suite('addresses', () => {
  const search = searchParams({
    ...tableFields(['name', 'dateFrom']),
    name: text,
    from: day,
    status: manyOf(['active', 'approved']),
    tab: oneOf(['banks', 'terminals']),
    size: counting,
  })

  const known = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

  test('days whose last comes before the first are no filter', () => {
    const span = searchParams({ from: day, to: day })
    assert.deepEqual(span({ from: '2026-11-30', to: '2026-11-01' }), { from: undefined, to: undefined })
    assert.deepEqual(span({ from: '2026-11-01', to: '2026-11-01' }), { from: '2026-11-01', to: '2026-11-01' })
  })

  test('what an address says wrongly is passed over, and hidden: the router keeps raw values that are left out', () => {
    assert.deepEqual(Object.keys(search({ name: ' ', sortBy: 'secret' })).sort(), [
      'from',
      'name',
      'page',
      'size',
      'sortBy',
      'sortOrder',
      'status',
      'tab',
    ])
    const cases: [string, object][] = [
      ['', {}],
      ['?page=2&sortBy=name&sortOrder=DESC', { page: 2, sortBy: 'name', sortOrder: 'DESC' }],
      ['?page=0&sortBy=secret&sortOrder=up', {}],
      ['?page=1.5&size=-1&from=2026-02-31', {}],
      ['?name=007&from=2026-02-28', { name: '007', from: '2026-02-28' }],
      ['?name=%20&name=b', {}],
      ['?status=approved&status=active&status=gone', { status: ['active', 'approved'] }],
      ['?status=active&tab=banks&other=1', { status: ['active'], tab: 'banks' }],
    ]
    for (const [address, fields] of cases) assert.deepEqual(known(search(parseSearch(address))), fields, address)
  })

  test('what is written is read again', () => {
    const fields = { page: 3, name: 'a&b = 100 %', status: ['active', 'approved'] as const }
    assert.equal(
      stringifySearch({ ...fields, tab: undefined }),
      '?page=3&name=a%26b+%3D+100+%25&status=active&status=approved',
    )
    assert.deepEqual(known(search(parseSearch(stringifySearch(fields)))), fields)
    assert.equal(stringifySearch({ page: undefined }), '')
  })
})

suite('faults', () => {
  test('every rule of the platform has a text in both languages', () => {
    assert.deepEqual(Object.keys(ruleTexts).sort(), [...ruleCodes].sort())
    for (const rule of ruleCodes)
      for (const language of ['en', 'uk'] as const) {
        const text = fieldErrorText({ rule, params: {}, message: 'f must' }, language)
        assert.ok(text.length > 0 && text !== 'f must', rule)
        assert.equal(/[а-яії]/i.test(text.replaceAll('undefined', '')), language === 'uk', `${rule}: ${text}`)
      }
  })

  test('rules in people’s words, with their values', () => {
    const cases: [BrokenRule['rule'], BrokenRule['params'], string, string][] = [
      ['given', {}, 'Fill this in', 'Заповніть це поле'],
      ['max-length', { max: 27 }, 'At most 27 characters', 'Щонайбільше 27 символів'],
      ['min-length', { min: 1 }, 'Fill this in', 'Заповніть це поле'],
      ['type', { type: 'number or null' }, 'Enter a number', 'Введіть число'],
      ['whole-number', { min: 1, max: 100 }, 'A whole number from 1 to 100', 'Ціле число від 1 до 100'],
      [
        'code',
        {},
        '1 to 64 Latin letters, digits, dots, underscores or hyphens',
        'Від 1 до 64 латинських літер, цифр, крапок, підкреслень або дефісів',
      ],
    ]
    for (const [rule, params, en, uk] of cases) {
      const fault = { rule, params, message: '' }
      assert.deepEqual([fieldErrorText(fault, 'en'), fieldErrorText(fault, 'uk')], [en, uk])
    }
  })

  test('a rule of a newer platform keeps its wording', () => {
    const message = 'x must be in another form'
    assert.equal(fieldErrorText({ rule: 'another' as 'given', params: {}, message }, 'uk'), message)
  })

  test('each at its field; what belongs to none is told apart', () => {
    const body = {
      message: [
        'name must be shorter than or equal to 27 characters',
        'terminals.3.terminal_id must be given',
        'participantsIds must be a list of at least 1',
        'secret must be omitted',
        'At least one bank must approve participation first',
      ],
    }
    const rules = [
      { field: 'name', rule: 'max-length', params: { max: 27 } },
      { field: 'terminals.3.terminal_id', rule: 'given', params: {} },
      { field: 'participantsIds', rule: 'min-items', params: { min: 1 } },
      { field: 'secret', rule: 'omitted', params: {} },
    ]
    const inHeader = apiError(400, body, new Headers({ 'perkline-error-rules': JSON.stringify(rules) }))
    const inBody = apiError(400, { ...body, rules }, new Headers())
    for (const error of [inHeader, inBody])
      assert.deepEqual(errorsByField(error, ['name', 'terminals', 'participantsIds', 'minAmount'], 'en'), {
        byField: {
          name: 'At most 27 characters',
          terminals: '3.terminal_id: Fill this in',
          participantsIds: 'Choose at least 1',
        },
        others: ['secret must be omitted', 'At least one bank must approve participation first'],
      })
  })
})

suite('tables', () => {
  const rows = [
    { name: 'b', sum: 2 },
    { name: 'a', sum: null },
    { name: 'c', sum: 10 },
  ]
  const values = { name: (row: (typeof rows)[0]) => row.name, sum: (row: (typeof rows)[0]) => row.sum }
  const names = (by: string, order: 'ASC' | 'DESC', page = 1, size = 10) =>
    sortedPage(rows, { by, order }, page, size, values)
      .rows.map(({ name }) => name)
      .join('')

  test('are sorted as numbers and as text, and cut into pages', () => {
    assert.deepEqual([names('name', 'ASC'), names('sum', 'ASC'), names('sum', 'DESC')], ['abc', 'abc', 'cba'])
    assert.deepEqual([names('none', 'ASC'), names('name', 'ASC', 2, 2), names('name', 'ASC', 9, 2)], ['bac', 'c', 'c'])
    assert.deepEqual(sortedPage([], { by: 'name', order: 'ASC' }, 1, 10, {}).paging, {
      page: 1,
      totalPages: 0,
      totalItems: 0,
    })
  })
})

suite('a campaign’s life', () => {
  const campaign = {
    createdAt: '2026-10-01T00:00:00Z',
    dateFrom: '2026-11-01T00:00:00Z',
    dateTo: '2026-12-01T00:00:00Z',
  }
  const share = (status: (typeof campaignStatuses)[number], now: string) =>
    todayOf({ ...campaign, status }, new Date(now))

  test('today’s place is told where time alone brings the next state', () => {
    assert.equal(share('active', '2026-11-16T00:00:00Z'), 0.5)
    assert.equal(share('active', '2026-12-02T00:00:00Z'), 1)
    assert.equal(share('approved', '2026-10-01T00:00:00Z'), 0)
    assert.equal(share('awaitingBankApproval', '2026-10-16T00:00:00Z'), null)
  })

  test('stages behind, here and ahead', () => {
    const states = (status: (typeof campaignStatuses)[number]) =>
      stagesOf(status)
        .map(({ state }) => state)
        .join(' ')
    assert.equal(states('awaitingBankApproval'), `current${' next'.repeat(8)}`)
    assert.equal(states('active'), `done done done current${' next'.repeat(5)}`)
    assert.equal(states('completed'), Array(9).fill('done').join(' '))
    assert.deepEqual(
      stagesOf('deleted').map(({ status }) => status),
      ['awaitingBankApproval', 'deleted'],
    )
    assert.deepEqual(wayOfLife, campaignStatuses.slice(0, 9))
  })
})

test('problems of a file in the person’s language', () => {
  const problem = { line: 2, column: 'amount', rule: 'min', params: { min: 0 }, value: '-1' }
  assert.equal(problemText(problem, 'en'), 'Line 2, amount: must be 0 or more (-1)')
  assert.equal(problemText(problem, 'uk'), 'Рядок 2, amount: має бути 0 або більше (-1)')
  const whole = { line: null, column: null, rule: 'max-lines', params: { max: 5 }, value: null }
  assert.equal(problemText(whole, 'uk'), 'У файлі понад 5 рядків під заголовком.')
  const unknown = { line: 4, column: null, rule: 'of-tomorrow', params: {}, value: null }
  assert.equal(problemText(unknown, 'uk'), 'Рядок 4: неможливо прочитати')
})

suite('an edit that is applied to another reading of the campaign', () => {
  const campaign = {
    dateFrom: '2026-12-01T22:00:00.000Z',
    dateTo: '2026-12-24T22:00:00.000Z',
    name: 'Autumn',
    retailer: { retailerId: 'r' },
    country: { code: 'UA' },
    percentage: 5,
    sku: [],
    categoryId: [],
    banks: [{ id: 'b' }, { id: 'a' }],
    paymentSystemsId: ['visa'],
    terminalsPlatform: true,
    terminals: [],
  } as unknown as Parameters<typeof valuesOf>[0]
  const inKyiv = valuesOf(campaign, 'Europe/Kyiv')

  test('a changed period stays the same instants in another time zone', () => {
    assert.equal(inKyiv.hasTimes, false)
    const edited: CampaignValues = { ...inKyiv, days: ['2026-12-02', '2026-12-28'] }
    const changes = changedValues(inKyiv, edited)
    for (const zone of ['UTC', 'America/New_York', 'Europe/Kyiv'])
      assert.deepEqual(periodOf({ ...valuesOf(campaign, zone), ...changes }), periodOf(edited), zone)
  })

  test('an edit of something else takes over the period of a newer version', () => {
    const changes = changedValues(inKyiv, { ...inKyiv, name: 'Winter' })
    assert.deepEqual(changes, { name: 'Winter' })
  })

  test('a day that cannot be read is a change', () => {
    assert.equal(areSame(inKyiv, { ...inKyiv, days: ['2026-12-02', '5.'] }), false)
    assert.equal(areSame(inKyiv, { ...inKyiv, name: ' Autumn ' }), true)
  })

  test('lists in another order are no change', () => {
    assert.deepEqual(changedBody(inKyiv, { ...inKyiv, participantsIds: ['a', 'b'] }), {})
    assert.deepEqual(changedBody(inKyiv, { ...inKyiv, participantsIds: ['a'] }), { participantsIds: ['a'] })
  })
})

suite('the text of a chosen file', () => {
  const bytesOf = (...parts: (string | number[])[]) =>
    new Blob(parts.map(part => (typeof part === 'string' ? part : new Uint8Array(part))))

  test('is read as UTF-8, or as UTF-16 with its mark', async () => {
    assert.equal(await readText(bytesOf('terminal_id\nКаса')), 'terminal_id\nКаса')
    assert.equal(await readText(bytesOf([0xef, 0xbb, 0xbf], 'Каса')), 'Каса')
    assert.equal(await readText(bytesOf([0xff, 0xfe, 0x1a, 0x04])), 'К')
    assert.equal(await readText(bytesOf([0xfe, 0xff, 0x04, 0x1a])), 'К')
    assert.equal(await readText(bytesOf('')), '')
  })

  test('in another encoding is refused, with the way to save it', async () => {
    // "Каса" in windows-1251.
    const reading = readText(bytesOf('terminal_id\n', [0xca, 0xe0, 0xf1, 0xe0]))
    await assert.rejects(reading, (error: unknown) => {
      assert.ok(error instanceof ApiError)
      const [problem] = error.problems
      assert.match(problem ? problemText(problem, 'en') : '', /^save the file in UTF-8/)
      return true
    })
  })
})

suite('banks of a draft', () => {
  const banks = [{ id: 'a', name: 'Alpha Bank' }]

  test('that cannot be chosen any more are left out and named', () => {
    const restored = { participantsIds: ['a', 'g', 'x'], name: 'Autumn' }
    assert.deepEqual(withoutLostBanks(restored, banks, { g: 'Gamma Bank' }), {
      values: { participantsIds: ['a'], name: 'Autumn' },
      lost: ['Gamma Bank', null],
    })
  })

  test('that can still be chosen stay', () => {
    const restored = { participantsIds: ['a'] }
    assert.deepEqual(withoutLostBanks(restored, banks, {}), { values: restored, lost: [] })
    assert.deepEqual(withoutLostBanks({ name: 'Autumn' }, banks, {}), { values: { name: 'Autumn' }, lost: [] })
  })
})
