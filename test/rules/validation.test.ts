import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ErrorObject } from 'ajv/dist/2020.js'
import Type, { type TSchema } from 'typebox'
import { CreateBody } from '../../src/campaigns/form/schemas.ts'
import { mustBe, ruleMessage } from '../../src/error-rules.ts'
import { findErrors, schemaRules, validatorCompiler } from '../../src/http/input/validation.ts'

type Validate = { (data: unknown): boolean; errors?: ErrorObject[] | null }

function compiled(schema: TSchema, httpPart: string): Validate {
  return validatorCompiler({ schema, method: 'POST', url: '/', httpPart }) as unknown as Validate
}

function errorsOf(schema: TSchema, data: unknown, httpPart = 'body'): string[] {
  const validate = compiled(schema, httpPart)
  return validate(data) ? [] : schemaRules(validate.errors ?? []).map(ruleMessage)
}

const closed = { additionalProperties: false }
const Person = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 5 }), age: Type.Optional(Type.Integer({ minimum: 0, maximum: 150 })) },
  closed,
)

test('a text that is far too long is refused as quickly as it is read', () => {
  const long = 'a'.repeat(30_000)
  const texts = [`${long}\x01`, `${' '.repeat(30_000)}\x01`, `${' a'.repeat(15_000)}\x01`, `${long}\n${long}`]
  for (const terminal_id of texts) {
    const before = process.cpuUsage()
    assert.notDeepEqual(findErrors(CreateBody, { terminals: [{ terminal_id }] }), [])
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 300_000, `${user + system} µs`)
  }
})

test('each kind of error is worded as <field> must be ...', () => {
  const wordings: [TSchema, unknown, string][] = [
    [Type.String(), 1, 'f must be a string'],
    [Type.Number(), '1', 'f must be a number'],
    [Type.Integer(), 1.5, 'f must be an integer'],
    [Type.Boolean(), 'true', 'f must be a boolean'],
    [Type.Array(Type.String()), 'a', 'f must be an array'],
    [Type.Object({}), [], 'f must be an object'],
    [Type.Unsafe({ type: ['string', 'null'] }), 1, 'f must be a string or null'],
    [Type.String({ maxLength: 3 }), 'abcd', 'f must be shorter than or equal to 3 characters'],
    [Type.String({ minLength: 1 }), '', 'f must be longer than or equal to 1 character'],
    [Type.Number({ minimum: 0 }), -1, 'f must be at least 0'],
    [Type.Number({ maximum: 100 }), 101, 'f must be at most 100'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, 'f must be greater than 0'],
    [Type.Array(Type.String(), { minItems: 1 }), [], 'f must be a list of at least 1'],
    [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'f must be a list of at most 1'],
    [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a'], 'f must be a list without repetitions'],
    [Type.Enum(['a', 'b']), 'c', 'f must be one of a, b'],
    [Type.String({ format: 'uuid' }), 'x', 'f must be a UUID'],
    [Type.String({ format: 'date' }), '2026-02-30', 'f must be an ISO 8601 date from 0100-01-02 to 9999-12-30'],
    [Type.String({ format: 'date-time' }), '2026-01-01', 'f must be an ISO 8601 date and time with a time zone'],
    [Type.String({ pattern: '^P', ...mustBe('duration') }), 'x', 'f must be an ISO 8601 duration, like PT15M'],
  ]
  for (const [schema, value, wording] of wordings)
    assert.deepEqual(errorsOf(Type.Object({ f: schema }), { f: value }), [wording])
})

test('a field of two types is told what to send, not what each type demands', () => {
  const choice = Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('now')], { ...mustBe('sequence-or-now') })
  const schema = Type.Object({ f: choice, list: Type.Optional(Type.Array(choice)) })
  for (const f of [-1, 'x', null, 1.5]) assert.deepEqual(errorsOf(schema, { f }), ['f must be a sequence or now'])
  assert.deepEqual(errorsOf(schema, { f: 1, list: [1, 'x'] }), ['list.1 must be a sequence or now'])
  assert.deepEqual(errorsOf(schema, { f: 'now' }), [])
})

test('missing and unknown fields are named', () => {
  assert.deepEqual(errorsOf(Person, {}), ['name must be given'])
  assert.deepEqual(errorsOf(Person, { name: 'A', nick: 'B', constructor: 1 }), [
    'nick must be omitted',
    'constructor must be omitted',
  ])
})

test('a field without a name is called so', () => {
  assert.deepEqual(errorsOf(Person, { name: 'A', '': 1 }), ['the field without a name must be omitted'])
})

test('all errors of a body are told at once, each once', () => {
  assert.deepEqual(errorsOf(Person, { name: '', age: 200, nick: 1 }).sort(), [
    'age must be at most 150',
    'name must be longer than or equal to 1 character',
    'nick must be omitted',
  ])
})

test('a nested field is named by its full path', () => {
  const schema = Type.Object({ people: Type.Array(Person), deep: Type.Optional(Type.Object({ er: Person })) })
  assert.deepEqual(errorsOf(schema, { people: [{ name: 'A' }, { name: 7 }], deep: { er: { x: 1 } } }).sort(), [
    'deep.er.name must be given',
    'deep.er.x must be omitted',
    'people.1.name must be a string',
  ])
})

test('a field whose name holds a slash or a tilde is named as it was given', () => {
  const schema = Type.Object({}, { additionalProperties: Type.Object({ n: Type.Number() }) })
  assert.deepEqual(errorsOf(schema, { 'a/b~c~1': { n: 'x' } }), ['a/b~c~1.n must be a number'])
})

test('an error of the body itself says so', () => {
  for (const body of [null, [], 'text', 5, true]) assert.deepEqual(errorsOf(Person, body), ['body must be an object'])
})

test('in a body nothing is turned into another type', () => {
  const schema = Type.Object({ n: Type.Number(), b: Type.Boolean(), s: Type.String() })
  const body = { n: '1', b: 'true', s: 1 }
  assert.equal(errorsOf(schema, body).length, 3)
  assert.deepEqual(body, { n: '1', b: 'true', s: 1 })
  assert.deepEqual(errorsOf(schema, { n: null, b: null, s: null }).length, 3)
})

test('a number that JSON can not hold is no number', () => {
  assert.deepEqual(errorsOf(Type.Object({ n: Type.Number() }), JSON.parse('{"n":1e400}')), ['n must be a number'])
})

test('lengths count characters as a person does, not UTF-16 units', () => {
  const schema = Type.Object({ name: Type.String({ maxLength: 3 }) })
  assert.deepEqual(errorsOf(schema, { name: '😀😀😀' }), [])
  assert.deepEqual(errorsOf(schema, { name: '😀😀😀😀' }), ['name must be shorter than or equal to 3 characters'])
})

test('a UUID is 32 hexadecimal digits in groups, in any case, and nothing else', () => {
  const schema = Type.Object({ id: Type.String({ format: 'uuid' }) })
  const id = '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'
  const right = [id, id.toUpperCase(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
  for (const value of right) assert.deepEqual(errorsOf(schema, { id: value }, 'params'), [], value)
  const wrong = [
    '',
    `urn:uuid:${id}`,
    `URN:UUID:${id}`,
    `{${id}}`,
    id.replaceAll('-', ''),
    ` ${id}`,
    `${id}\n`,
    `${id}0`,
    id.slice(0, -1),
    id.replace('0', 'g'),
    id.replace('0', '٠'),
    '019aa5a26d6c-7f3c-9a55-0f6d-0a7c2b11',
  ]
  for (const value of wrong) assert.deepEqual(errorsOf(schema, { id: value }, 'params'), ['id must be a UUID'], value)
})

test('an instant has a date that exists, a time and a zone', () => {
  const schema = Type.Object({ at: Type.String({ format: 'date-time' }) })
  for (const at of ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00.123Z', '2028-02-29T23:59:59+02:00'])
    assert.deepEqual(errorsOf(schema, { at }), [], at)
  const wrong = [
    '2027-01-01',
    '2027-01-01T00:00:00',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T00:60:00Z',
    '2027-01-01T00:00Z',
    '20270101T000000Z',
    '+012027-01-01T00:00:00Z',
    '-002027-01-01T00:00:00Z',
    '1798761600',
    '2027-01-01T00:00:00Z ',
    '2027-01-01T23:59:60Z',
    '2027-01-01T00:00:00+05',
    '2027-01-01T00:00:00+25:00',
    'tomorrow',
    '',
  ]
  for (const at of wrong) assert.equal(errorsOf(schema, { at }).length, 1, at)
})

test('the answer stays small, however many errors there are and however long the names', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${'n'.repeat(500)}${index}`, 1]))
  const errors = errorsOf(Person, { name: 'A', ...many })
  assert.ok(errors.length <= 100)
  assert.ok(errors.every(error => error.length < 300))
})

test('an error shows no control characters of the caller', () => {
  assert.deepEqual(errorsOf(Person, { name: 'A', 'a\u001b[31m\r\n\u202eb': 1 }), ['a?[31m???b must be omitted'])
})

test('a value of the caller is never repeated', () => {
  const schema = Type.Object({
    a: Type.String({ maxLength: 3 }),
    b: Type.Enum(['x', 'y']),
    c: Type.String({ format: 'uuid' }),
    d: Type.Number(),
  })
  const errors = errorsOf(schema, { a: 'hunter2', b: 'hunter2', c: 'hunter2', d: 'hunter2' })
  assert.equal(errors.length, 4)
  assert.ok(!errors.join().includes('hunter2'))
})

test('in a query the decimal digits of a number are that number, and anything else is an error', () => {
  const schema = Type.Object({ page: Type.Integer({ minimum: 1 }) })
  for (const [page, number] of [
    ['7', 7],
    ['0010', 10],
    ['999999999999999', 999_999_999_999_999],
  ] as const) {
    const query = { page }
    assert.deepEqual(errorsOf(schema, query, 'querystring'), [])
    assert.deepEqual(query, { page: number })
  }
  const odd = [
    '1.5',
    '1.0',
    'one',
    '',
    ' ',
    'NaN',
    '1,000',
    'Infinity',
    '-Infinity',
    '0x10',
    '0b1',
    '1e3',
    '+7',
    ' 7 ',
    '٧',
  ]
  const others = ['7\n', 'true', 'null', '9999999999999999999']
  for (const page of [...odd, ...others])
    assert.deepEqual(errorsOf(schema, { page }, 'querystring'), ['page must be an integer'], JSON.stringify(page))
  for (const page of ['0', '-1'])
    assert.deepEqual(errorsOf(schema, { page }, 'querystring'), ['page must be at least 1'])
})

test('in a query what is no list is given once only', () => {
  const closed = { additionalProperties: false }
  const schema = Type.Object({ page: Type.Integer(), name: Type.String(), kinds: Type.Array(Type.String()) }, closed)
  const query = { page: ['7', '8'], name: ['a', 'a'], kinds: ['a', 'b'], odd: ['1', '2'] }
  const errors = errorsOf(schema, query, 'querystring').toSorted()
  assert.deepEqual(errors, ['name must be given once only', 'odd must be omitted', 'page must be given once only'])
})

test('in a query a boolean is true or false, and a text stays a text', () => {
  const schema = Type.Object({ dry: Type.Boolean({ default: false }), name: Type.Optional(Type.String()) })
  const read = (query: Record<string, unknown>) => {
    assert.deepEqual(errorsOf(schema, query, 'querystring'), [])
    return query
  }
  assert.deepEqual(read({ dry: 'true', name: '7' }), { dry: true, name: '7' })
  assert.deepEqual(read({ dry: 'false', name: 'true' }), { dry: false, name: 'true' })
  assert.deepEqual(read({}), { dry: false })
  for (const dry of ['1', '0', 'TRUE', 'yes', '', ' true'])
    assert.deepEqual(errorsOf(schema, { dry }, 'querystring'), ['dry must be true or false'])
})

describe('a body of nothing but errors costs no more than a good one', () => {
  const People = Type.Object({ people: Type.Array(Person, { maxItems: 50_000 }) }, closed)
  const wrong = (count: number) => Array.from({ length: count }, () => ({ age: 'old', nick: 1, nack: 2 }))

  /** The number of errors that AJV created, and the messages that are returned. */
  const found = (schema: TSchema, body: unknown) => {
    const validate = compiled(schema, 'body')
    assert.equal(validate(body), false)
    const errors = validate.errors ?? []
    return { made: errors.length, told: schemaRules(errors).map(ruleMessage) }
  }

  test('a list: the errors of the first items, up to 100', () => {
    const { made, told } = found(People, { people: wrong(50_000) })
    assert.equal(told.length, 100)
    assert.deepEqual(told.slice(0, 4).sort(), [
      'people.0.age must be an integer',
      'people.0.nack must be omitted',
      'people.0.name must be given',
      'people.0.nick must be omitted',
    ])
    assert.ok(made <= 110, `${made}`)
  })

  test('the errors at the end of a long list are found', () => {
    const people = [...Array.from({ length: 49_999 }, () => ({ name: 'A' })), { name: '' }]
    assert.deepEqual(found(People, { people }).told, ['people.49999.name must be longer than or equal to 1 character'])
  })

  test('a list that is too long: no more than that', () => {
    const { made, told } = found(People, { people: wrong(300_000) })
    assert.deepEqual([made, told], [1, ['people must be a list of at most 50000']])
  })

  test('an object: the first unknown names, up to 100', () => {
    const names = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`x${index}`, index]))
    const { made, told } = found(People, { people: [], ...names })
    assert.deepEqual([made, told.length, told[0]], [100, 100, 'x0 must be omitted'])
    const Anything = Type.Object({}, { additionalProperties: Type.String() })
    const values = found(Anything, names)
    assert.deepEqual([values.made, values.told.length, values.told[0]], [100, 100, 'x0 must be a string'])
  })

  test('lists in lists', () => {
    const Deep = Type.Object({ lists: Type.Array(Type.Array(Type.String())) })
    const { made, told } = found(Deep, { lists: Array.from({ length: 300 }, () => Array(300).fill(1)) })
    assert.ok(made <= 300 && told.length === 100, `${made}`)
    assert.equal(told[0], 'lists.0.0 must be a string')
  })

  test('what a schema gives by itself is given within lists too', () => {
    const Given = Type.Object({ list: Type.Array(Type.Object({ size: Type.Integer({ default: 3 }) })) })
    const body = { list: [{}, { size: 5 }] }
    assert.deepEqual(errorsOf(Given, body), [])
    assert.deepEqual(body, { list: [{ size: 3 }, { size: 5 }] })
  })
})
