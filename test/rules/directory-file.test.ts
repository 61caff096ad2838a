import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrokenRule, ruleMessage } from '../../src/error-rules.ts'
import { type Directory, readDirectory, terminalsFilesOf } from '../../src/partners/file/directory-file.ts'
import { readDirectoryAside } from '../../src/partners/file/reading.ts'

const noFiles = new Map<string, string>()

const errorText = (error: string | BrokenRule): string => (typeof error === 'string' ? error : ruleMessage(error))

function directoryOf(yamlText: string, files: ReadonlyMap<string, string> = noFiles): Directory {
  const read = readDirectory(yamlText, files)
  assert.ok(!('errors' in read), 'errors' in read ? read.errors.map(errorText).join('\n') : '')
  return read.directory
}

function errorsOf(yamlText: string, files: ReadonlyMap<string, string> = noFiles): string[] {
  const read = readDirectory(yamlText, files)
  return 'errors' in read ? read.errors.map(errorText) : []
}

test('what an entry leaves out is undefined, and null is what clears a field', () => {
  const { banks, merchants, mobileOperators } = directoryOf(`
countries:
banks: [{ code: a }, { code: b, esim: null }, { code: c, esim: { operators: null, reservationShare: ~ }, logoUrl: ~ }]
merchants: [{ code: m, terminals: null, urlIdent: , domain: [], cardPresentationId: ~ }]
esim:
`)
  const [a, b, c] = banks
  assert.deepEqual([a?.name, a?.status, a?.logoUrl, a?.esim, a?.segments], Array(5).fill(undefined))
  assert.deepEqual(b?.esim, { deliveryMode: 'local', operators: [], reservationShare: null, statement: undefined })
  assert.deepEqual(
    [c?.esim, c?.logoUrl],
    [{ deliveryMode: undefined, operators: [], reservationShare: null, statement: undefined }, ''],
  )
  const [m] = merchants
  assert.deepEqual(
    [m?.terminals, m?.urlIdent, m?.domain, m?.cardPresentationId, m?.name],
    [[], '', [], null, undefined],
  )
  assert.deepEqual(mobileOperators, [])
})

test('every error of a file is named, each with its path and line', () => {
  const yamlText = `countries:
  - { code: ua, name: Ukraine, currency: { code: UAH, name: Hryvnia, sign: x } }
paymentSystems: { code: visa }
banks:
  - code: alpha
    name:
    colour: red
    esim:
      deliveryMode: email
  - code: beta
    name: Beta
    code: gamma
merchants:
  - code: grocer
    name: Grocer
    merchantCategoryCode: ["541"]
esim:
  operators:
    - code: star
      nameUk: Зоря
      country: UA
      tariffs:
        - { code: t1, name: T, price: 1.999, currency: UAH, validityDays: 0 }
`
  assert.deepEqual(errorsOf(yamlText), [
    'countries[0].code (line 2): must be an ISO 3166-1 alpha-2 code in upper case',
    'countries[0].currency.sign (line 2): must be omitted; the keys here are code, name, symbol, icon',
    'paymentSystems (line 3): must be a list',
    'banks[0].colour (line 7): must be omitted; the keys here are id, code, name, logoUrl, apiVersion, status, esim, segments',
    'banks[0].name (line 6): must not be null; leave the key out to keep the value',
    'banks[0].esim.deliveryMode (line 9): must be one of local, qr_email',
    'banks[1].code (line 12): must be given once; line 10 gives it too',
    'merchants[0].merchantCategoryCode[0] (line 16): must be four digits',
    'esim.operators[0].tariffs[0].price (line 23): must be a number from 0 to 9999999999.99 with at most 2 decimals',
    'esim.operators[0].tariffs[0].validityDays (line 23): must be a whole number from 1 to 36500',
  ])
})

const long = (count: number) => 'x'.repeat(count)
const pictureOf = (bytes: number) => `"data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}"`
const uuid = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'

/**
 * The path of a key in an otherwise valid file, with values (YAML source) that are accepted and values that are not.
 */
const values: [path: string, taken: string[], refused: string[]][] = [
  ['countries.code', ['PL', 'XK'], ['pl', 'POL', '12', '[UA]', '~', 'XX', 'ZZ', 'UK', 'EU', 'SU']],
  ['countries.name', [long(200), '"😀"'], [`""`, '" "', long(201), '"a\\nb"', '"\\0"', '"\\uD800"', '[a]', 'true']],
  ['countries.id', [uuid, uuid.toUpperCase()], ['1', `${uuid}0`, 'x']],
  ['paymentSystems.code', ['visa', 'Amex_2', '0x', long(64)], [long(65), '-x', '.x', 'a/b', 'a b', 'é', '"__proto__"']],
  [
    'banks.logoUrl',
    ['""', 'https://a.example/b', 'https://a.example/@b?c=@', pictureOf(262_144)],
    [
      'ftp://a',
      'javascript:1',
      'a',
      pictureOf(262_145),
      'https://u:p@a.example/b',
      'https://@a.example',
      'https:///u@a',
      'https:///a',
      'https://приклад.укр/a',
      'https://a.example/%zz',
      '"https://a.example/\\u202e"',
    ],
  ],
  [
    'banks.logoUrl',
    ['"data:image/svg+xml;base64,PHN2Zy8+"'],
    ['"data:text/html;base64,PHN2Zy8+"', '"data:image/png;base64,a"'],
  ],
  ['banks.apiVersion', ['1.0', '"2"'], [long(33)]],
  ['banks.status', ['active', 'suspended'], ['withdrawn', 'Active', 'true', '~']],
  ['banks.esim.deliveryMode', ['local', 'qr_email'], ['qr-email', '1']],
  ['banks.esim.operators', ['all', '[]', '[a, b]'], ['none', '{}', '[a, a]', '[[a]]', '[all, "a b"]']],
  ['banks.esim.reservationShare', ['1', '100', '~'], ['0', '101', '1.5', 'all']],
  [
    'banks.esim.statement',
    [
      '{ timeZone: Europe/Kyiv }',
      '{ commissionPercentage: 12.3456 }',
      '{ commissionPercentage: 1e-4 }',
      ...['10e-5', '12.50000', '0e-5', '0.00000', '0e-1000', `1.${'0'.repeat(5000)}`, `1${'0'.repeat(400)}e-400`].map(
        number => `{ commissionPercentage: ${number} }`,
      ),
      '{ timeZone: UTC, commissionPercentage: 100 }',
      '{}',
      '~',
    ],
    [
      '{ timeZone: Europe/Nowhere }',
      '{ timeZone: "+02:00" }',
      '{ timeZone: ~ }',
      '{ commissionPercentage: 100.01 }',
      '{ commissionPercentage: 0.00001 }',
      '{ commissionPercentage: 1e-5 }',
      '{ commissionPercentage: 100.0000000000000001 }',
      '{ commissionPercentage: -1 }',
      ...['1e400', '-0', '-0.0', '1e-30', '0x1F', '0o17', '.5', '5.', '1_000', '+5', '.inf', '.nan', '100.00001e0'].map(
        number => `{ commissionPercentage: ${number} }`,
      ),
      ...['1e-1000', '1e-999999999', '1e999999999', '11e-5', '12.000010', `0.${'0'.repeat(5000)}1`, '00', '01', ''].map(
        number => `{ commissionPercentage: ${number} }`,
      ),
      '{ zone: UTC }',
    ],
  ],
  ['banks.segments', ['true', 'false'], ['~', '1']],
  ['merchants.nameEn', ['""', 'Grocer'], [long(201)]],
  ['merchants.description', ['""', '"a\\nb"', `"${'😀'.repeat(2000)}"`], [long(2001)]],
  ['merchants.urlIdent', ['a~b'], ['a/b', '""', long(201)]],
  [
    'merchants.domain',
    ['[grocer.example, гросер.укр]'],
    ['grocer.example', '["a b"]', '[http://a]', '[a.b, a.b]', '[.a]'],
  ],
  ['merchants.merchantCategoryCode', ['["5411", 0742]'], ['["54111"]', '[541]', '["5411", 5411]']],
  ['merchants.excludedBanks', ['[alpha]'], ['alpha', '[alpha, alpha]']],
  ['merchants.cardPresentationId', ['null', uuid], ['x']],
  ['merchants.isReview', ['true', 'false'], ['"true"', 'yes', '1']],
  [
    'merchants.iosAppUrl',
    ['null', 'https://a.example'],
    ['""', 'a', `https://a.example/${long(2048)}`, 'https://a.example/я'],
  ],
  ['merchants.terminals', ['[]', '[{ terminalId: 1 }]'], ['[{}]', '[a]', `[{ terminalId: ${long(129)} }]`]],
  ['merchants.terminals', ['[{ terminalId: T, name: ~ }]'], ['[{ terminalId: T, terminal_id: T }]']],
  ['operators.country', ['global', 'DE'], ['Global', 'de', 'EUR', 'XX']],
  ['operators.status', ['withdrawn'], ['deleted']],
  [
    'tariffs.price',
    ['0', '399', '0.1', '"9.99"', '9999999999.99'],
    ['-1', '1.999', '1e2', '.5', '+1', '10000000000', 'x'],
  ],
  ['tariffs.currency', ['EUR'], ['eur', 'EURO', '978']],
  ['tariffs.dataVolumeMb', ['0', '2147483647'], ['-1', '1.5', '2147483648', '1e3', '0x10', '010', 'true']],
  ['tariffs.validityDays', ['1', '36500'], ['0', '36501']],
  ['tariffs.onSale', ['false'], ['off', '~']],
]

type Source = string | { [key: string]: Source }

const faultless: Record<string, { [key: string]: Source }> = {
  countries: { code: 'UA', name: 'U', currency: '{ code: UAH, name: H }' },
  paymentSystems: { code: 'p', name: 'P' },
  banks: { code: 'b', name: 'B', esim: { operators: 'all' } },
  merchants: { code: 'm', name: 'M' },
  operators: { code: 'o', nameUk: 'O', country: 'UA' },
  tariffs: { code: 't', name: 'T', price: '1', currency: 'UAH', validityDays: '1' },
}

function fileWith(path: string, value: string): string {
  const [list = '', key = '', innerKey] = path.split('.')
  const inner = faultless[list]?.[key]
  const changed = innerKey === undefined ? value : { ...(inner as object), [innerKey]: value }
  const entry = `[${flow({ ...faultless[list], [key]: changed })}]`
  const operator = list === 'tariffs' ? `[${flow({ ...faultless.operators, tariffs: entry })}]` : entry
  return flow(list === 'operators' || list === 'tariffs' ? { esim: { operators: operator } } : { [list]: entry })
}

function flow(source: Source): string {
  if (typeof source === 'string') return source
  const pairs = Object.entries(source).map(([key, value]) => `${key}: ${flow(value)}`)
  return `{ ${pairs.join(', ')} }`
}

test('each key takes the values that its rule allows, and no other', () => {
  for (const [path, taken, refused] of values) {
    for (const value of taken) assert.deepEqual(errorsOf(fileWith(path, value)), [], `${path}: ${value.slice(0, 99)}`)
    for (const value of refused) {
      const errors = errorsOf(fileWith(path, value))
      const key = path.split('.').slice(1).join('.')
      assert.ok(errors[0]?.includes(`[0].${key}`), `${path}: ${value.slice(0, 99)}: ${errors}`)
    }
  }
})

test('money and texts are read from the characters of the file, not from a float', () => {
  const prices = ['399.00', '0.1', '12', '9999999999.99'].map(price => {
    return directoryOf(fileWith('tariffs.price', price)).mobileOperators[0]?.tariffs[0]?.price
  })
  assert.deepEqual(prices, ['399.00', '0.10', '12.00', '9999999999.99'])
  assert.equal(directoryOf(fileWith('banks.apiVersion', '1.10')).banks[0]?.apiVersion, '1.10')
  assert.equal(directoryOf(fileWith('merchants.code', '0042')).merchants[0]?.code, '0042')
  assert.equal(directoryOf(fileWith('countries.code', 'NO')).countries[0]?.code, 'NO')
})

test('a code, an id or a terminal id that comes twice is an error that names both lines', () => {
  const yamlText = `banks:
  - code: a
    name: A
    id: ${uuid}
  - { code: b, name: B }
  - name: A again
    code: a
    id: ${uuid.toUpperCase()}
merchants:
  - code: a
    name: A
    terminals:
      - terminalId: 1
      - terminalId: "1"
esim:
  operators:
    - code: o
      nameUk: O
      country: UA
      tariffs:
        - { code: t, name: T, price: 1, currency: UAH, validityDays: 1 }
        - { code: t, name: T, price: 1, currency: UAH, validityDays: 1 }
    - { code: o2, nameUk: O, country: UA, tariffs: [{ code: t, name: T, price: 1, currency: UAH, validityDays: 1 }] }
`
  assert.deepEqual(errorsOf(yamlText), [
    'banks[2].code (line 7): must be unique; line 2 has it already',
    'banks[2].id (line 8): must be unique; line 4 has it already',
    'merchants[0].terminals[1].terminalId (line 14): must be unique; line 13 has it already',
    'esim.operators[0].tariffs[1].code (line 22): must be unique; line 21 has it already',
  ])
})

test('the codes that the file refers to come with their path and line, and each entry with its line', () => {
  const yamlText = `banks:
  - { code: a, name: A, esim: { operators: all } }
  - code: b
    name: B
    esim:
      operators:
        - star
merchants:
  - { code: m, name: M, excludedBanks: [a, z] }
esim:
  operators:
    - { code: o, nameUk: O, country: UA, tariffs: [{ code: t, name: T, price: 1, currency: UAH, validityDays: 1 }] }
`
  const read = readDirectory(yamlText, noFiles)
  assert.deepEqual(read.references, [
    { path: 'banks[1].esim.operators[0]', line: 7, kind: 'mobileOperator', code: 'star' },
    { path: 'merchants[0].excludedBanks[0]', line: 9, kind: 'bank', code: 'a' },
    { path: 'merchants[0].excludedBanks[1]', line: 9, kind: 'bank', code: 'z' },
  ])
  assert.deepEqual(
    read.entries.map(({ path, line, kind, code }) => [path, line, kind, code]),
    [
      ['banks[0]', 2, 'bank', 'a'],
      ['banks[1]', 3, 'bank', 'b'],
      ['merchants[0]', 9, 'merchant', 'm'],
      ['esim.operators[0].tariffs[0]', 12, 'tariff', 'o/t'],
      ['esim.operators[0]', 12, 'mobileOperator', 'o'],
    ],
  )
  const faulty = readDirectory(yamlText.replace('name: B', 'name: 7\n    nam: B'), noFiles)
  assert.ok('errors' in faulty)
  assert.equal(faulty.references.length, 3)
  assert.equal(faulty.entries.length, 5)
})

test('what is not one plain YAML 1.2 document of known keys is refused with its line', () => {
  const cases: [yamlText: string, error: RegExp][] = [
    ['', /^line 1: must be a mapping of countries/],
    ['# nothing', /^line 1: must be a mapping/],
    ['- a', /^line 1: must be a mapping/],
    ['banks: []\nbanks: []', /^banks \(line 2\): must be given once; line 1 gives it too$/],
    ['banks: []\n---\nbanks: []', /^line 2: must be one YAML document$/],
    ['banks:\n  - code: "a', /^line 2: .*quote/],
    ['banks: []\n\tmerchants: []', /^line 2: /],
    ['banks: []\n__proto__: { polluted: 1 }', /^__proto__ \(line 2\): must be omitted/],
    ['banks: [{ code: a, name: A, constructor: 1 }]', /^banks\[0\]\.constructor \(line 1\): must be omitted/],
    ['? [a]\n: 1', /^"\?" \(line 1\): must be omitted/],
    ['"a\\u0001\\uD800 b": 1', /^"a\\u0001\\ud800 b" \(line 1\): must be omitted/],
    [`"a${'😀'.repeat(100)}": 1`, new RegExp(`^"a${'😀'.repeat(63)}" \\(line 1\\): must be omitted`)],
    ['banks: !custom []', /^line 1: Unresolved tag/],
    ['banks: &all [*all]', /^banks\[0\] \(line 1\): must be written out; aliases are not read$/],
    ['x: &x []\nbanks: *x', /^banks \(line 2\): must be written out/],
    ['<<: { banks: [] }', /^"<<" \(line 1\): must be omitted/],
    ['['.repeat(100_000), /^line 1: must not be nested so deep$/],
    [`# ${long(16 * 1024 * 1024)}`, /^line 1: must be a file of at most 16 MiB$/],
  ]
  for (const [yamlText, error] of cases) {
    const errors = errorsOf(yamlText)
    const found = errors.some(text => error.test(text))
    assert.ok(found, `${yamlText.slice(0, 60)}: ${errors.slice(0, 3)}`)
  }
})

const bare = { name: null, location: null, paymentSystemMerchantId: null, paymentSystemMerchantName: null }

test('a terminalsFile gives the terminals: columns by name, any separator, a byte-order mark and CRLF fine', () => {
  const yamlText = 'merchants: [{ code: m, name: M, terminalsFile: lists/t.csv }]'
  const full = 'terminalId,name,location,paymentSystemMerchantId,paymentSystemMerchantName'
  const cases: [csv: string, terminals: object[]][] = [
    ['terminalId\n', []],
    ['terminalId\nT-1\n\r\nT-2', ['T-1', 'T-2'].map(terminalId => ({ ...bare, terminalId }))],
    ['\ufefflocation,terminalId\r\n"A, ""B""",T\r\n', [{ ...bare, terminalId: 'T', location: 'A, "B"' }]],
    ['\ufeffterminalId;location\r\nT;A, B\r\n', [{ ...bare, terminalId: 'T', location: 'A, B' }]],
    ['"terminalId";"location"\n"T";"A; ""B"""\n', [{ ...bare, terminalId: 'T', location: 'A; "B"' }]],
    ['terminalId\tname\tlocation\nT\t"A;B"\tC,D\n', [{ ...bare, terminalId: 'T', name: 'A;B', location: 'C,D' }]],
    [
      `${full}\nT,N,L,I,M\n`,
      [
        {
          terminalId: 'T',
          name: 'N',
          location: 'L',
          paymentSystemMerchantId: 'I',
          paymentSystemMerchantName: 'M',
        },
      ],
    ],
  ]
  for (const [csv, terminals] of cases) {
    const directory = directoryOf(yamlText, new Map([['lists/t.csv', csv]]))
    assert.deepEqual(directory.merchants[0]?.terminals, terminals)
  }
})

test('every error of a terminalsFile is named by file, line and column', () => {
  const yamlText = 'merchants: [{ code: m, name: M, terminalsFile: t.csv }]'
  const others = 'name, location, paymentSystemMerchantId, paymentSystemMerchantName'
  const header = `t.csv (line 1): must be a header of terminalId and any of ${others}, each once`
  const tooMany = Array.from({ length: 200_001 }, (_, index) => `${index}\n`).join('')
  const plainLine = 'must be one line, without characters that turn the direction of the text'
  const cases: [csv: string, errors: string[]][] = [
    ['', [header]],
    ['name\nA\n', [header]],
    ['terminalId,terminalId\n', [header]],
    ['terminalId,shop\n', [header]],
    ['terminalId|name\nA|"B\n', [header]],
    ['"terminalId,name\nA,"B\n', ['t.csv (line 1): must be quoted as in RFC 4180']],
    [
      'terminalId;name\nA;"B\nC,D\n',
      ['t.csv (line 2): must be quoted as in RFC 4180', 't.csv (line 3): must have 2 columns, as the header has'],
    ],
    ['terminalId\nA\n"B\n', ['t.csv (line 3): must be quoted as in RFC 4180']],
    [
      `terminalId,name\n,N\nA,${long(201)}\nA,\nB\n`,
      [
        't.csv (line 2, terminalId): must be one line of 1 to 128 characters',
        't.csv (line 3, name): must be one line of 1 to 200 characters',
        't.csv (line 4, terminalId): must be unique; line 3 has it already',
        't.csv (line 5): must have 2 columns, as the header has',
      ],
    ],
    [
      'terminalId,location\nA\u202e,x\nB,a\u2028b\nC,a\u0085b\n',
      [
        `t.csv (line 2, terminalId): ${plainLine}`,
        `t.csv (line 3, location): ${plainLine}`,
        't.csv (line 4, location): must be one line of 1 to 500 characters',
      ],
    ],
    [
      `terminalId,name\nA,x\nB,"z"q\nC,d,e\nA,"a ""good"" one, with a comma"\n\nD,"of two\nlines"\nE,N\n`,
      [
        't.csv (line 3): must be quoted as in RFC 4180',
        't.csv (line 4): must have 2 columns, as the header has',
        't.csv (line 5, terminalId): must be unique; line 2 has it already',
        't.csv (line 7): must be quoted as in RFC 4180',
        't.csv (line 8): must be quoted as in RFC 4180',
      ],
    ],
    [`terminalId\n${tooMany}`, ['t.csv (line 1): must be followed by at most 200000 terminals']],
  ]
  for (const [csv, errors] of cases) assert.deepEqual(errorsOf(yamlText, new Map([['t.csv', csv]])), errors)
})

test('terminals come from the list or from a file that could be read, not from both', () => {
  const both = 'merchants:\n  - { code: m, name: M, terminals: [], terminalsFile: t.csv }'
  assert.deepEqual(errorsOf(both, new Map([['t.csv', 'terminalId\n']])), [
    'merchants[0] (line 2): must have terminals or terminalsFile, not both',
  ])
  assert.deepEqual(errorsOf('merchants: [{ code: m, name: M, terminalsFile: t.csv }]'), [
    'merchants[0].terminalsFile (line 1): must name a file that can be read',
  ])
})

test('the files to load are named once each, also by a file that has errors', () => {
  const yamlText = `banks: 5
merchants:
  - { code: a, name: A, terminalsFile: a.csv }
  - { code: b, terminalsFile: lists/b.csv }
  - { code: c, name: C, terminalsFile: a.csv }
  - { code: d, name: D, terminalsFile: [d.csv] }
`
  assert.deepEqual(terminalsFilesOf(yamlText), ['a.csv', 'lists/b.csv'])
  assert.deepEqual(terminalsFilesOf('merchants: ['), [])
})

test('a large file, read in a thread of its own, is read alike', async () => {
  const merchants = Array.from(
    { length: 1_500 },
    (_, index) => `  - { code: m${index}, name: Merchant ${index}, terminalsFile: t.csv }\n`,
  )
  const files = new Map([['t.csv', `terminalId\n${'T'.repeat(100)}\n`]])
  for (const yamlText of [`merchants:\n${merchants.join('')}`, `merchants:\n${merchants.join('')}nothing: 1\n`]) {
    const text = `# ${'.'.repeat(128 * 1024)}\n${yamlText}`
    assert.deepEqual(await readDirectoryAside(text, files), readDirectory(text, files))
  }
})
