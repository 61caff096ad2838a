/** The directory file, applied to a database (contract/operations.md, "The directory file"). */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { createClock } from '../../src/clock.ts'
import { DomainError } from '../../src/errors.ts'
import { listMobileOperators } from '../../src/partners/entries-store.ts'
import { applyDirectory } from '../../src/partners/operations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const clock = createClock()
let scratch: TestDatabase
const database = () => scratch.database

before(async () => {
  scratch = await createTestDatabase()
})
beforeEach(async () => {
  await database().execute(
    'truncate countries, payment_systems, banks, merchants, mobile_operators, tariffs, terminals, feeds restart identity cascade',
  )
  await database().execute('update directory_version set version = 0')
})
after(() => scratch.close())

/** @returns the counts only; directory-changes.test.ts tests the list of changes */
async function apply(directory: string, options: { files?: Record<string, string>; dryRun?: boolean } = {}) {
  const { created, updated, unchanged } = await applyDirectory(
    { database: database(), clock },
    { directory, files: new Map(Object.entries(options.files ?? {})), dryRun: options.dryRun ?? false },
  )
  return { created, updated, unchanged }
}

async function errorsOf(directory: string, files: Record<string, string> = {}): Promise<string[]> {
  const error = await apply(directory, { files }).then(
    () => assert.fail('it was applied'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof DomainError && Array.isArray(error.details), String(error))
  assert.equal(error.code, 'invalid')
  return error.details
}

const one = async <Row extends object>(text: string): Promise<Row> => {
  const [row] = await database().query<Row>(text)
  assert.ok(row)
  return row
}
const version = async () => (await one<{ version: number }>('select version from directory_version')).version

const full = `
countries:
  - { code: UA, name: Ukraine, currency: { code: UAH, name: Hryvnia, symbol: ₴ } }
paymentSystems:
  - { code: visa, name: Visa }
  - { code: mastercard, name: Mastercard }
banks:
  - { code: alpha, name: Alpha, esim: { operators: all } }
  - { code: beta, name: Beta, esim: { deliveryMode: qr_email, operators: [star] } }
merchants:
  - code: grocer
    name: Гросер
    domain: [grocer.example]
    merchantCategoryCode: ["5411"]
    excludedBanks: [beta]
    terminals:
      - { terminalId: T-1, name: Shop, location: "Kyiv, {1}", paymentSystemMerchantId: M-1 }
      - { terminalId: T-2 }
  - { code: volt, name: Volt, terminalsFile: volt.csv }
esim:
  operators:
    - code: star
      nameUk: Зоря
      country: UA
      tariffs:
        - { code: a, name: A, price: 399, currency: UAH, validityDays: 30, dataVolumeMb: 1024 }
        - { code: b, name: B, price: 0.5, currency: UAH, validityDays: 1 }
`
const files = { 'volt.csv': 'terminalId,name\nV-1,First\nV-2,\n' }
const entries = 10

test('a first apply creates every entry, with its lists', async () => {
  assert.deepEqual(await apply(full, { files }), { created: entries, updated: 0, unchanged: 0 })
  assert.deepEqual(
    await database().query('select code, price::text, data_volume_mb, position from tariffs order by tariff_id'),
    [
      { code: 'a', price: '399.00', data_volume_mb: 1024, position: 0 },
      { code: 'b', price: '0.50', data_volume_mb: 0, position: 1 },
    ],
  )
  assert.deepEqual(
    await database().query(
      'select code, terminal_id, terminals.name, location, payment_system_merchant_id as psm from terminals join merchants using (merchant_id) order by 1, 2',
    ),
    [
      { code: 'grocer', terminal_id: 'T-1', name: 'Shop', location: 'Kyiv, {1}', psm: 'M-1' },
      { code: 'grocer', terminal_id: 'T-2', name: null, location: null, psm: null },
      { code: 'volt', terminal_id: 'V-1', name: 'First', location: null, psm: null },
      { code: 'volt', terminal_id: 'V-2', name: null, location: null, psm: null },
    ],
  )
  assert.deepEqual(
    await database().query(
      `select b.code, esim_all_operators as all, esim_delivery_mode as mode, o.code as operator
       from banks b left join bank_mobile_operators using (bank_id) left join mobile_operators o using (mobile_operator_id) order by 1`,
    ),
    [
      { code: 'alpha', all: true, mode: 'local', operator: null },
      { code: 'beta', all: false, mode: 'qr_email', operator: 'star' },
    ],
  )
  assert.deepEqual(
    await one(
      `select m.domain, m.merchant_category_code as mcc, m.url_ident, b.code as excluded
       from merchants m join merchant_excluded_banks using (merchant_id) join banks b using (bank_id)`,
    ),
    { domain: ['grocer.example'], mcc: ['5411'], url_ident: 'grocer', excluded: 'beta' },
  )
  assert.equal(await version(), 1)
})

test('the same file again changes nothing, not even a version, an id or a time', async () => {
  await apply(full, { files })
  const rows = () =>
    database().query('select to_jsonb(m)::text as row from merchants m union all select to_jsonb(b)::text from banks b')
  const before = await rows()
  assert.deepEqual(await apply(full, { files }), { created: 0, updated: 0, unchanged: entries })
  assert.deepEqual(await rows(), before)
  assert.equal(await version(), 1)
})

test('an apply that changes something tells the processes that hold a copy', async t => {
  const client = new pg.Client({ connectionString: scratch.url })
  await client.connect()
  t.after(() => client.end())
  const told: (string | undefined)[] = []
  client.on('notification', ({ payload }) => told.push(payload))
  await client.query('listen perkline')
  await apply(full, { files })
  await apply(full, { files })
  await apply('paymentSystems: [{ code: visa, name: Changed }]', { dryRun: true })
  await client.query('select')
  assert.deepEqual(told.sort(), ['access', 'catalogue'])
})

const changes: [what: string, change: (file: string) => string, updated: number, csv?: string][] = [
  ['a country', file => file.replace('Ukraine', 'Україна'), 1],
  ['a payment system', file => file.replace('name: Visa', 'name: VISA'), 1],
  ['a bank’s list of operators', file => file.replace('operators: [star]', 'operators: []'), 1],
  ['a bank’s list to all', file => file.replace('operators: [star]', 'operators: all'), 1],
  ['a mobile operator', file => file.replace('country: UA\n', 'country: global\n'), 1],
  ['a tariff', file => file.replace('price: 399', 'price: 398.99'), 1],
  ['the order of tariffs', file => file.replace(/( {8}- .*\n)( {8}- .*\n)/, '$2$1'), 2],
  ['a merchant', file => file.replace('5411', '5499'), 1],
  ['a merchant’s excluded banks', file => file.replace('[beta]', '[alpha]'), 1],
  ['the value of a terminal', file => file.replace('M-1', 'M-2'), 1],
  ['a terminal that is gone', file => file.replace('      - { terminalId: T-2 }\n', ''), 1],
  ['a new terminal', file => file, 1, 'terminalId,name\nV-1,First\nV-2,\nV-3,\n'],
  ['all terminals that are gone', file => file, 1, 'terminalId\n'],
]
for (const [what, change, updated, csv] of changes) {
  test(`updated counts ${what}, and a merchant’s time tells only its own change`, async () => {
    await apply(full, { files })
    await database().execute(`update merchants set created_at = '2020-01-01', updated_at = '2020-01-01'`)
    const given = { files: csv === undefined ? files : { 'volt.csv': csv } }
    assert.deepEqual(await apply(change(full), given), { created: 0, updated, unchanged: entries - updated })
    assert.equal(await version(), 2)
    const { touched } = await one<{ touched: string[] | null }>(
      `select array_agg(code) filter (where updated_at > '2021-01-01') as touched from merchants where created_at < '2021-01-01'`,
    )
    const merchant = csv === undefined ? 'grocer' : 'volt'
    assert.deepEqual(touched, /merchant|terminal/.test(what) ? [merchant] : null)
    assert.deepEqual(await apply(change(full), given), { created: 0, updated: 0, unchanged: entries })
  })
}

test('what the file leaves out stays: entries, and the terminals of a merchant that names none', async () => {
  await apply(full, { files })
  const counted = await apply('merchants: [{ code: volt, name: Volt }]')
  assert.deepEqual(counted, { created: 0, updated: 0, unchanged: 1 })
  const { terminals, banks } = await one<{ terminals: number; banks: number }>(
    'select (select count(*) from terminals)::int as terminals, (select count(*) from banks)::int as banks',
  )
  assert.deepEqual({ terminals, banks }, { terminals: 4, banks: 2 })
})

test('an excerpt leaves the order of tariffs as it is, and appends new ones; a file that names all of them says their order', async () => {
  const order = async () =>
    (await database().query<{ code: string }>('select code from tariffs order by position, tariff_id')).map(
      row => row.code,
    )
  const applyTariffs = (...codes: string[]) => {
    const tariffs = codes.map(code => `{ code: ${code}, name: N, price: 1, currency: UAH, validityDays: 1 }`)
    return apply(`esim: { operators: [{ code: star, nameUk: З, country: UA, tariffs: [${tariffs}] }] }`)
  }
  await applyTariffs('a', 'b', 'c')
  for (const excerpt of [['c'], ['c', 'a'], ['b', 'c']])
    assert.deepEqual(await applyTariffs(...excerpt), { created: 0, updated: 0, unchanged: excerpt.length + 1 })
  assert.equal((await applyTariffs('e', 'b', 'd')).created, 2)
  assert.deepEqual(await order(), ['a', 'b', 'c', 'e', 'd'])
  assert.deepEqual(await applyTariffs('e', 'b', 'd'), { created: 0, updated: 0, unchanged: 4 })
  await applyTariffs('e', 'd', 'c', 'b', 'a')
  assert.deepEqual(await order(), ['e', 'd', 'c', 'b', 'a'])
})

test('an id is created once and kept; an id in the file is used', async () => {
  const id = '0b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11'
  await apply(`banks: [{ code: alpha, name: A }, { code: beta, name: B, id: ${id.toUpperCase()} }]`)
  const made = await one<{ alpha: string; beta: string }>(
    `select max(bank_id::text) filter (where code = 'alpha') as alpha, max(bank_id::text) filter (where code = 'beta') as beta from banks`,
  )
  assert.equal(made.beta, id)
  await apply(`banks: [{ code: alpha, name: A2, id: ${made.alpha} }, { code: beta, name: B2 }]`)
  assert.deepEqual(await database().query('select bank_id from banks order by code'), [
    { bank_id: made.alpha },
    { bank_id: id },
  ])
})

test('mobile operators and tariffs have ids too, and two operators may have tariffs of one code', async () => {
  const [first, second, third, fourth] = [1, 2, 3, 4].map(digit => `${digit}b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11`)
  const tariff = (code: string, id?: string) =>
    `{ code: ${code}, name: T, price: 1, currency: UAH, validityDays: 1${id ? `, id: ${id}` : ''} }`
  const operator = (code: string, tariffs: string[], id?: string) =>
    `{ code: ${code}, nameUk: O, country: UA, tariffs: [${tariffs}]${id ? `, id: ${id}` : ''} }`
  const ids = async () => {
    const operators = await listMobileOperators(database())
    return operators.map(({ id, tariffs }) => [id, ...tariffs.map(each => each.id)])
  }
  await apply(
    `esim: { operators: [${operator('o', [tariff('t'), tariff('u')], first)}, ${operator('p', [tariff('t', second)])}] }`,
  )
  const kept = await ids()
  const [[given, ofT = '', ofU = ''] = [], [ofP = '', givenOfT] = []] = kept
  assert.deepEqual([given, givenOfT, new Set(kept.flat()).size], [first, second, 5])

  const again = [operator('o', [tariff('t', ofT.toUpperCase()), tariff('u')]), operator('p', [tariff('t')], ofP)]
  assert.deepEqual(await apply(`esim: { operators: [${again}] }`), { created: 0, updated: 0, unchanged: 5 })
  assert.deepEqual(await ids(), kept)

  const errors = await errorsOf(`
banks: [{ code: alpha, name: A, id: ${third} }]
esim:
  operators:
    - ${operator('o', [tariff('t', ofU), tariff('u', ofU)], second)}
    - ${operator('p', [tariff('t', ofU), tariff('new', third), tariff('newer', fourth)])}
    - ${operator('q', [tariff('t', fourth), tariff('u', ofU), tariff('v', '4b0f2ad0')], first)}
`)
  assert.deepEqual(errors.sort(), [
    `esim.operators[0].id (line 5): must be ${first} or omitted: an id never changes`,
    `esim.operators[0].tariffs[0].id (line 5): must be ${ofT} or omitted: an id never changes`,
    'esim.operators[0].tariffs[1].id (line 5): must be unique; line 5 has it already',
    `esim.operators[1].tariffs[0].id (line 6): must be ${second} or omitted: an id never changes`,
    'esim.operators[1].tariffs[1].id (line 6): must be unique; bank alpha has it already',
    'esim.operators[2].id (line 7): must be unique; mobile operator o has it already',
    'esim.operators[2].tariffs[0].id (line 7): must be unique; tariff p/newer has it already',
    'esim.operators[2].tariffs[1].id (line 7): must be unique; tariff o/u has it already',
    'esim.operators[2].tariffs[2].id (line 7): must be a UUID',
  ])
})

test('every error is told at once: of form, of references, of ids, and nothing is applied', async () => {
  const [kept, other] = ['0b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11', '1b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11']
  await apply(`banks: [{ code: alpha, name: A, id: ${kept} }]`)
  const errors = await errorsOf(
    `banks:
  - { code: alpha, name: A, id: ${other} }
  - { code: beta, name: B, id: ${kept} }
  - { code: gamma, name: C, esim: { operators: [nobody] } }
merchants:
  - { code: m, name: M, excludedBanks: [alpha, beta, nobody], surprise: 1 }
  - { code: n, name: N, terminalsFile: n.csv }
  - { code: o, name: O, id: 2b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11 }
countries:
  - { code: UA, name: U, id: 2b0f2ad0-63a2-4a5f-8f3c-0d5a8a0b7d11, currency: { code: UAH, name: H } }
paymentSystems: [{ code: new, name: New }]
`,
    { 'n.csv': 'terminalId\n,\n' },
  )
  assert.deepEqual(errors.sort(), [
    `banks[0].id (line 2): must be ${kept} or omitted: an id never changes`,
    'banks[1].id (line 3): must be unique; bank alpha has it already',
    'banks[2].esim.operators[0] (line 4): must be the code of a mobile operator, here or applied before; no mobile operator is called nobody',
    'merchants[0].excludedBanks[2] (line 6): must be the code of a bank, here or applied before; no bank is called nobody',
    'merchants[0].surprise (line 6): must be omitted; the keys here are id, code, name, nameEn, description, logoUrl, urlIdent, domain, merchantCategoryCode, excludedBanks, status, cardPresentationId, isReview, isMask, iosAppUrl, androidAppUrl, terminals, terminalsFile',
    'merchants[2].id (line 8): must be unique; country UA has it already',
    'n.csv (line 2): must have 1 columns, as the header has',
    'n.csv (line 2, terminalId): must be one line of 1 to 128 characters',
  ])
  assert.deepEqual(await database().query('select code from payment_systems'), [])
  assert.equal(await version(), 1)
})

test('a code that was applied before may be referred to', async () => {
  await apply(full, { files })
  const counted = await apply(
    'banks: [{ code: gamma, name: C, esim: { operators: [star] } }]\nmerchants: [{ code: m, name: M, excludedBanks: [beta] }]',
  )
  assert.deepEqual(counted, { created: 2, updated: 0, unchanged: 0 })
})

test('a dry run counts the same and leaves nothing', async () => {
  assert.deepEqual(await apply(full, { files, dryRun: true }), { created: entries, updated: 0, unchanged: 0 })
  assert.deepEqual(await database().query('select code from banks'), [])
  assert.equal(await version(), 0)
})

test('two applies at once follow one another', async () => {
  const many = (name: string) =>
    `paymentSystems:\n${Array.from({ length: 200 }, (_, n) => `  - { code: p${n}, name: ${name} }\n`).join('')}`
  const counts = await Promise.all(['A', 'B', 'A', 'B', 'A'].map(name => apply(many(name))))
  assert.deepEqual(
    counts.map(({ created }) => created).sort((a, b) => a - b),
    [0, 0, 0, 0, 200],
  )
  for (const { updated, unchanged } of counts) assert.ok([0, 200].includes(updated) && [0, 200].includes(unchanged))
  const { names } = await one<{ names: number }>('select count(distinct name)::int as names from payment_systems')
  assert.equal(names, 1)
})

test('applying many entries again uses up no ids', async () => {
  await apply(full, { files })
  for (let round = 0; round < 3; round++) await apply(full, { files })
  await apply(full.replace('code: b,', 'code: c,'), { files })
  assert.deepEqual(await database().query('select tariff_id from tariffs order by 1'), [
    { tariff_id: 1 },
    { tariff_id: 2 },
    { tariff_id: 3 },
  ])
})
