/**
 * A directory file changes only what it states, and every apply lists its changes (contract/operations.md, "The
 * directory file").
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

const send = (directory: string, given: { mode?: string; dryRun?: boolean; files?: object } = {}) => {
  const { mode, dryRun = false, files } = given
  return platform.call('POST', `/admin/directory?dryRun=${dryRun}`, {
    token: platform.config.operatorKey,
    body: { directory, ...(mode && { mode }), ...(files && { files }) },
  })
}
async function apply(directory: string, given: { dryRun?: boolean; files?: object } = {}) {
  const answer = await send(directory, given)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const partners = async () => {
  const { body } = await platform.call('GET', '/admin/partners', { token: platform.config.operatorKey })
  const bank = body.banks.find((each: any) => each.entry.code === 'alpha')?.entry
  const merchant = body.merchants.data.find((each: any) => each.entry.code === 'grocer')?.entry
  const country = body.countries.find((each: any) => each.code === 'UA')
  const operator = body.mobileOperators.find((each: any) => each.code === 'star')
  return { bank, merchant, country, operator, tariff: operator?.tariffs[0] }
}

const whole = `
countries: [{ code: UA, name: Ukraine, currency: { code: UAH, name: Hryvnia, symbol: ₴, icon: "https://a.example/uah" } }]
banks:
  - code: alpha
    name: Alpha
    logoUrl: https://alpha.example/logo.svg
    apiVersion: "1.2"
    status: suspended
    esim: { deliveryMode: qr_email, operators: [star], reservationShare: 40, statement: { timeZone: Europe/Kyiv } }
    segments: false
  - { code: beta, name: Beta }
merchants:
  - code: grocer
    name: Гросер
    nameEn: Grocer
    description: Food
    logoUrl: https://grocer.example/logo.svg
    urlIdent: grocer-ua
    domain: [grocer.example]
    merchantCategoryCode: ["5411"]
    excludedBanks: [beta, alpha]
    status: suspended
    cardPresentationId: 2b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11
    isReview: true
    isMask: true
    iosAppUrl: https://ios.example
    androidAppUrl: https://android.example
    terminals: [{ terminalId: T-1, name: One }, { terminalId: T-2 }]
esim:
  operators:
    - code: star
      nameUk: Зоря
      nameEn: Star
      logoUrl: https://star.example/logo.svg
      country: UA
      status: suspended
      tariffs:
        - { code: t, name: T, description: D, price: 399, currency: UAH, dataVolumeMb: 100, dataUnlimited: true, voiceMinutes: 5,
            voiceUnlimited: true, smsCount: 6, smsUnlimited: true, validityDays: 30, onSale: false }
`

beforeEach(() => apply(whole))

suite('a field that is left out', () => {
  test('keeps its value in an entry that names only its code, for every kind', async () => {
    const before = await partners()
    const only = `{ countries: [{ code: UA }], banks: [{ code: alpha }], merchants: [{ code: grocer }],
                    esim: { operators: [{ code: star, tariffs: [{ code: t }] }] } }`
    assert.deepEqual(await apply(only), { created: 0, updated: 0, unchanged: 5, changes: [] })
    assert.deepEqual(await partners(), before)
  })

  test('keeps its value beside one that changes: renaming a suspended merchant leaves it suspended', async () => {
    const { merchant: before } = await partners()
    const { changes } = await apply('merchants: [{ code: grocer, name: Гросер ЛТД }]')
    assert.deepEqual(changes, [
      { kind: 'merchant', code: 'grocer', change: 'updated', fields: { name: ['Гросер', 'Гросер ЛТД'] } },
    ])
    assert.deepEqual((await partners()).merchant, { ...before, name: 'Гросер ЛТД' })
  })

  test('is looked at inside esim and currency, too', async () => {
    const { bank, country } = await partners()
    await apply(
      'banks: [{ code: alpha, esim: { deliveryMode: local } }]\ncountries: [{ code: UA, currency: { name: Г } }]',
    )
    const after = await partners()
    assert.deepEqual(after.bank, { ...bank, esim: { ...bank.esim, deliveryMode: 'local' } })
    assert.deepEqual(after.country, { ...country, currency: { ...country.currency, name: 'Г' } })
  })

  test('a logo whose address has a user or password is refused with its field', async () => {
    const { status, body } = await send(
      'banks: [{ code: alpha, logoUrl: "https://user:secret@alpha.example/logo.svg" }]',
    )
    assert.equal(status, 400)
    assert.equal(body.message.length, 1)
    assert.match(
      body.message[0],
      /^banks\[0\]\.logoUrl \(line 1\): must be an http or https URL of .* and without a user,/,
    )
    assert.doesNotMatch(body.message[0], /secret/)
  })

  test('gets its default in a new entry, and is a fault where a new entry needs it', async () => {
    const { body } = await send(
      'banks: [{ code: new }, { code: newer, name: N, esim: { deliveryMode: local } }, { code: alpha, esim: { deliveryMode: local } }]\n' +
        'esim: { operators: [{ code: star, tariffs: [{ code: u, name: U }] }, { code: moon, tariffs: [{ code: t }] }] }',
    )
    const missing = (path: string, line: number) => `${path} (line ${line}): must be given`
    assert.deepEqual(body.message.sort(), [
      missing('banks[0].name', 1),
      missing('banks[1].esim.operators', 1),
      ...['currency', 'price', 'validityDays'].map(key => missing(`esim.operators[0].tariffs[0].${key}`, 2)),
      missing('esim.operators[1].country', 2),
      missing('esim.operators[1].nameUk', 2),
      ...['currency', 'name', 'price', 'validityDays'].map(key => missing(`esim.operators[1].tariffs[0].${key}`, 2)),
    ])
    await apply('merchants: [{ code: fresh, name: Fresh }]')
    const listed = await platform.call('GET', '/admin/partners?search=fresh', { token: platform.config.operatorKey })
    const { id, ...entry } = listed.body.merchants.data[0].entry
    assert.deepEqual(entry, {
      code: 'fresh',
      name: 'Fresh',
      nameEn: 'Fresh',
      description: '',
      logoUrl: '',
      urlIdent: 'fresh',
      domain: [],
      merchantCategoryCode: [],
      excludedBanks: [],
      status: 'active',
      cardPresentationId: null,
      isReview: false,
      isMask: false,
      iosAppUrl: null,
      androidAppUrl: null,
    })
  })
})

suite('null', () => {
  const clearing = `
banks: [{ code: alpha, logoUrl: null, esim: { operators: [], reservationShare: null } }]
merchants:
  - { code: grocer, nameEn: null, description: null, logoUrl: null, urlIdent: null, domain: [], merchantCategoryCode: null,
      excludedBanks: [], cardPresentationId: null, iosAppUrl: null, androidAppUrl: null, terminals: [] }
esim: { operators: [{ code: star, nameEn: null, logoUrl: null, tariffs: [{ code: t, description: null, dataVolumeMb: null }] }] }
`
  test('clears a field, as an empty list does', async () => {
    const before = await partners()
    const { changes } = await apply(clearing)
    const after = await partners()
    assert.deepEqual(after.bank, {
      ...before.bank,
      logoUrl: '',
      esim: {
        deliveryMode: 'qr_email',
        operators: [],
        reservationShare: null,
        statement: { timeZone: 'Europe/Kyiv', commissionPercentage: 0 },
      },
    })
    assert.deepEqual(after.merchant, {
      ...before.merchant,
      nameEn: 'Гросер',
      description: '',
      logoUrl: '',
      urlIdent: 'grocer',
      domain: [],
      merchantCategoryCode: [],
      excludedBanks: [],
      cardPresentationId: null,
      iosAppUrl: null,
      androidAppUrl: null,
    })
    assert.deepEqual([after.operator.nameEn, after.operator.logoUrl], ['Зоря', null])
    assert.deepEqual([after.tariff.description, after.tariff.dataVolumeMb], ['', 0])
    const merchant = changes.find(({ kind }: { kind: string }) => kind === 'merchant')
    assert.deepEqual(merchant.fields.excludedBanks, [['alpha', 'beta'], []])
    assert.deepEqual(merchant.fields.terminals, { added: 0, removed: 2, changed: 0 })
  })

  test('is a fault where a field cannot be empty, and nothing is applied', async () => {
    const before = await partners()
    const { status, body } = await send(
      'banks: [{ code: alpha, name: ~, status: ~, apiVersion: ~, segments: ~, logoUrl: "" }]\nmerchants: [{ code: grocer, isMask: ~ }]\n' +
        'esim: { operators: [{ code: star, nameUk: ~, country: ~, tariffs: [{ code: t, price: ~, onSale: ~ }] }] }',
    )
    const paths = body.message.map((text: string) => {
      assert.match(text, / \(line \d\): must not be null; leave the key out to keep the value$/)
      return text.split(' ')[0]
    })
    assert.deepEqual(paths, [
      ...['name', 'apiVersion', 'status', 'segments'].map(key => `banks[0].${key}`),
      'merchants[0].isMask',
      ...['nameUk', 'country', 'tariffs[0].price', 'tariffs[0].onSale'].map(key => `esim.operators[0].${key}`),
    ])
    assert.equal(status, 400)
    assert.deepEqual(await partners(), before)
  })
})

suite('what changes', () => {
  test('is told field by field for each kind, and a dry run tells the same and changes nothing', async () => {
    const directory = `
countries: [{ code: UA, currency: { symbol: грн } }]
paymentSystems: [{ code: fresh, name: Fresh }]
banks: [{ code: alpha, esim: { operators: all, reservationShare: 50, statement: { commissionPercentage: 12.3456 } }, segments: true }]
merchants:
  - { code: grocer, domain: [a.example, b.example], terminals: [{ terminalId: T-1, name: Uno }, { terminalId: T-3 }, { terminalId: T-4 }] }
esim: { operators: [{ code: star, status: active, tariffs: [{ code: t, price: 449.5, onSale: true }] }] }
`
    const before = await partners()
    const tried = await apply(directory, { dryRun: true })
    assert.deepEqual(tried, {
      created: 1,
      updated: 5,
      unchanged: 0,
      changes: [
        { kind: 'country', code: 'UA', change: 'updated', fields: { 'currency.symbol': ['₴', 'грн'] } },
        { kind: 'paymentSystem', code: 'fresh', change: 'created', fields: { name: [null, 'Fresh'] } },
        {
          kind: 'bank',
          code: 'alpha',
          change: 'updated',
          fields: {
            'esim.operators': [['star'], 'all'],
            'esim.reservationShare': [40, 50],
            'esim.statement.commissionPercentage': [0, 12.3456],
            segments: [false, true],
          },
        },
        {
          kind: 'merchant',
          code: 'grocer',
          change: 'updated',
          fields: {
            domain: [['grocer.example'], ['a.example', 'b.example']],
            terminals: { added: 2, removed: 1, changed: 1 },
          },
        },
        { kind: 'operator', code: 'star', change: 'updated', fields: { status: ['suspended', 'active'] } },
        { kind: 'tariff', code: 'star/t', change: 'updated', fields: { price: [399, 449.5], onSale: [false, true] } },
      ],
    })
    assert.deepEqual(await partners(), before)
    assert.deepEqual(await apply(directory), tried)
    assert.deepEqual((await apply(directory)).changes, [])
  })

  test('is no change where a list of codes only stands in another order', async () => {
    const { updated } = await apply('merchants: [{ code: grocer, excludedBanks: [alpha, beta] }]')
    assert.equal(updated, 0)
  })

  test('is listed up to 1,000 entries, all of them counted', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => `{ code: many-${n}, name: Many }`)
    const answer = await apply(`banks: [${many}]`, { dryRun: true })
    assert.deepEqual([answer.created, answer.changes.length, answer.truncated], [1_001, 1_000, true])
  })

  test('shows the beginning of a picture only', async () => {
    const picture = `data:image/png;base64,${Buffer.alloc(60_000).toString('base64')}`
    const { changes } = await apply(`banks: [{ code: alpha, logoUrl: "${picture}" }]`, { dryRun: true })
    assert.deepEqual(changes[0].fields.logoUrl, ['https://alpha.example/logo.svg', `${picture.slice(0, 64)}…`])
  })

  test('a long text is shortened between two characters, also of two UTF-16 units each', async () => {
    const description = `a${'😀'.repeat(1_100)}`
    const shown = `a${'😀'.repeat(63)}…`
    const { changes } = await apply(`merchants: [{ code: grocer, description: ${description} }]`)
    assert.deepEqual(changes[0].fields.description, ['Food', shown])
    assert.equal((await partners()).merchant.description, description)
    const shorter = await apply('merchants: [{ code: grocer, description: Food }]')
    assert.deepEqual(shorter.changes[0].fields.description, [shown, 'Food'])
  })
})

suite('the mode create', () => {
  test('makes what is new; 409 names each code that exists, and nothing is applied', async () => {
    const before = await partners()
    const taken = await send(
      'banks: [{ code: alpha, name: Other }, { code: brand-new, name: New }]\nmerchants: [{ code: grocer, name: Other }]\n' +
        'esim: { operators: [{ code: star, tariffs: [{ code: t, name: O, price: 1, currency: EUR, validityDays: 1 }] }] }',
      { mode: 'create' },
    )
    assert.equal(taken.status, 409)
    assert.deepEqual(taken.body.message.sort(), [
      'banks[0].code (line 1): must be new; bank alpha exists',
      'esim.operators[0].tariffs[0].code (line 3): must be new; tariff star/t exists',
      'merchants[0].code (line 2): must be new; merchant grocer exists',
    ])
    const after = await partners()
    assert.deepEqual(after, before)
    const { body } = await platform.call('GET', '/admin/partners', { token: platform.config.operatorKey })
    assert.ok(!body.banks.some((each: any) => each.entry.code === 'brand-new'))

    const added = await send(
      'esim: { operators: [{ code: star, tariffs: [{ code: fresh-t, name: T, price: 1, currency: UAH, validityDays: 1 }] }] }',
      { mode: 'create' },
    )
    assert.deepEqual([added.status, added.body.created], [200, 1])
    const operator = await send('esim: { operators: [{ code: star, nameUk: Інша, country: PL }] }', { mode: 'create' })
    assert.equal(operator.status, 409)
  })

  test('makes an entry once when two people add it at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(`banks: [{ code: raced, name: Bank ${n} }]`, { mode: 'create' })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
  })

  test('is one of two: another mode is 400', async () => {
    assert.equal((await send('banks: []', { mode: 'replace' })).status, 400)
  })
})

test('two applies at once of different fields of an entry both hold', async () => {
  await Promise.all([apply('banks: [{ code: beta, name: Beta 2 }]'), apply('banks: [{ code: beta, apiVersion: "9" }]')])
  const { body } = await platform.call('GET', '/admin/partners', { token: platform.config.operatorKey })
  const { entry } = body.banks.find((each: any) => each.entry.code === 'beta')
  assert.deepEqual([entry.name, entry.apiVersion], ['Beta 2', '9'])
})

test('the time zone of statements has an IANA name', async () => {
  const zone = (name: string) =>
    send(`banks: [{ code: beta, esim: { operators: all, statement: { timeZone: ${name} } } }]`)
  for (const name of ['BST', 'bst', 'IST', 'CST', 'SystemV/AST4ADT', 'US/Pacific-New']) {
    const { status, text } = await zone(name)
    assert.equal(status, 400, name)
    assert.match(text, /timeZone \(line 1\): must be an IANA time zone, like Europe\/Kyiv/)
  }
  for (const name of ['Europe/Kiev', 'EST', 'EST5EDT', 'Etc/GMT+5', 'US/Pacific', 'GB'])
    assert.equal((await zone(name)).status, 200, name)
})

test('a percentage with an exponent or zeros at its end is the same number', async () => {
  const percentage = (value: string) =>
    send(`banks: [{ code: beta, esim: { operators: all, statement: { commissionPercentage: ${value} } } }]`)
  for (const [given, exact] of [
    ['1e-4', '0.0001'],
    ['123.4567E-1', null],
    ['1.23E+1', '12.3'],
    ['5e-05', null],
    ['1e2', '100'],
    ['1e3', null],
    ['12.3456e0', '12.3456'],
    ['10e-5', '0.0001'],
    ['12.50000', '12.5'],
    ['0e-5', '0'],
    ['0.00000', '0'],
    ['100000000000000000000e-18', '100'],
    ['1e-0004', '0.0001'],
    ...['11e-5', '12.345670001', '100.00001e0', '1e400', '-0', '-0.0', '1e-30', '1e-1000', '1e-999999999'].map(
      text => [text, null] as const,
    ),
  ] as const) {
    const { status, text } = await percentage(given)
    assert.equal(status, exact === null ? 400 : 200, text)
    if (exact === null) {
      assert.match(text, /must be a number from 0 to 100 with at most 4 decimals/)
      continue
    }
    const [bank] = await platform.platform.database.query(
      `select trim_scale(esim_commission_percentage)::text as percentage from banks where code = 'beta'`,
    )
    assert.deepEqual(bank, { percentage: exact })
  }
})
