import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DomainError } from '../../src/errors.ts'
import { countValues, isText, type JsonBounds, readJson } from '../../src/http/input/json.ts'
import fc from '../support/properties.ts'

const roomy: JsonBounds = { values: 1_000_000 }
/** Counts and reads a body, like a route with these bounds. */
function read(body: string | Uint8Array, bounds: JsonBounds = roomy): unknown {
  const bytes = Buffer.from(body as string)
  countValues(bytes, bounds)
  return readJson(bytes, bounds)
}

/** The error for an invalid body. */
function faultOf(body: string | Uint8Array, bounds?: JsonBounds): string | string[] {
  try {
    read(body, bounds)
  } catch (error) {
    assert.ok(error instanceof DomainError, `${error}`)
    assert.equal(error.code, 'invalid')
    return error.details
  }
  return assert.fail(`taken: ${body.slice(0, 80)}`)
}

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map(part => Buffer.from(part as string)))
const nested = (depth: number, open: string, inner: string, close: string) =>
  open.repeat(depth) + inner + close.repeat(depth)

test('valid JSON is read as JSON.parse reads it', () => {
  const bodies = [
    '{}',
    '[]',
    'null',
    'true',
    '""',
    ' \t\r\n{ "a" : [ 1 , 2.5e3 , -0.0 ] } \n',
    '{"a":{"b":[{"c":"d"},[],{}]},"e":[[["f"]]]}',
    '{"text":"quote \\" backslash \\\\ brace { bracket [ comma , colon :"}',
    '{"Ключ":"Київстар 😀","escaped":"\\ud83d\\ude00\\u0457\\/\\b\\f\\n\\r\\t"}',
    '{"\\\\":1,"\\"":2,"\\\\\\"":3}',
    '{"a\\\\":{"b":1},"a":{"b":2}}',
    '123456789012345678901234567890',
    '1e400',
  ]
  for (const body of bodies) assert.deepEqual(read(body), JSON.parse(body), body)
})

test('a number of very many zeros is read as quickly as any other text of its length', () => {
  const msOf = (body: string) => {
    const before = process.cpuUsage()
    assert.throws(() => readJson(Buffer.from(body)))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  const zeros = '0'.repeat(40_000)
  for (const number of [`0.${zeros}1`, `1.${zeros}1`, `-1.${zeros}1e-2`]) {
    const ms = msOf(`{"amount":${number}}`)
    assert.ok(ms < 100, `${number.slice(0, 4)}…: ${ms} ms`)
  }
})

test('a fraction of more digits than a number holds is refused, naming it, and never rounded', () => {
  const of = (text: string) => () => readJson(Buffer.from(text))
  for (const number of [
    '100.00000000000000001',
    '-5.0000000000000000001',
    '0.1000000000000000055',
    '1.00000000000000001e2',
    '1e-400',
    '1.2345e-323',
  ])
    assert.throws(of(`{"a":[1,{"share":${number}}]}`), {
      details: ['a.1.share must be a number that double precision keeps as it is written'],
    })
  for (const number of [
    '100.00000000000000000',
    '0.1',
    '0.30000000000000004',
    '1.0000000000000000e2',
    '0.0000000000000000',
    '12345678901234567890',
  ])
    assert.deepEqual(readJson(Buffer.from(`{"share":${number}}`)), { share: Number(number) })
})

test('an empty body is no value', () => {
  assert.equal(read(''), undefined)
})

test('a byte-order mark before the text is passed over', () => {
  assert.deepEqual(read(bytes([0xef, 0xbb, 0xbf], '{"a":1}')), { a: 1 })
})

test('a name given twice is refused, naming it with its path', () => {
  const twice: Record<string, string> = {
    '{"clientId":"a","clientId":"b"}': 'clientId must be given once only',
    '{"a":1,"b":2,"a":1}': 'a must be given once only',
    '{"a":{"b":{"c":1,"c":1}}}': 'a.b.c must be given once only',
    '{"a":[0,{"b":1},{"b":1,"c":2,"b":3}]}': 'a.2.b must be given once only',
    '[{"a":1},{"a":1,"a":2}]': '1.a must be given once only',
    '{"a":[[1,2],[3,{"x":1,"x":1}]]}': 'a.1.1.x must be given once only',
    '{"":1,"":2}': ' must be given once only',
    '{"a":"}{\\"","b":1,"b":2}': 'b must be given once only',
  }
  for (const [body, fault] of Object.entries(twice)) assert.deepEqual(faultOf(body), [fault], body)
})

test('all that is wrong with names, numbers and texts is told at once, up to a hundred errors', () => {
  const wrong =
    '{"a":1,"a":2,"a":3,"b":{"__proto__":1,"c":5.00000000000000000001},"d":"\\u0000","e":[{"f":1,"f":"\\ud800"}]}'
  assert.deepEqual(faultOf(wrong), [
    'a must be given once only',
    'b.__proto__ must be omitted',
    'b.c must be a number that double precision keeps as it is written',
    'e.0.f must be given once only',
    'd must be well-formed text without NUL',
    'e.0.f must be well-formed text without NUL',
  ])
  const names = Array.from({ length: 200 }, (_, n) => `"n${n}":1,"n${n}":1`)
  assert.equal(faultOf(`{${names}}`).length, 100)
})

test('two spellings of one name are the same name', () => {
  const spellings = ['"a"', '"\\u0061"', '"\\u0061"'.toUpperCase().replace('\\U', '\\u')]
  for (const first of spellings)
    for (const second of spellings)
      assert.deepEqual(faultOf(`{${first}:1,${second}:2}`), ['a must be given once only'], `${first} ${second}`)
  assert.deepEqual(faultOf('{"a/b":1,"a\\/b":2}'), ['a/b must be given once only'])
})

test('the same name in different objects, and names that differ in case, are no repetition', () => {
  const body = '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"A":3,"c":{"b":1}}'
  assert.deepEqual(read(body), JSON.parse(body))
  assert.deepEqual(read('{"constructor":1,"toString":2,"hasOwnProperty":3}'), {
    constructor: 1,
    toString: 2,
    hasOwnProperty: 3,
  })
})

test('__proto__ is refused at any depth and in any spelling', () => {
  assert.deepEqual(faultOf('{"__proto__":{"role":"ADMIN"}}'), ['__proto__ must be omitted'])
  assert.deepEqual(faultOf('{"a":[{"__proto__":1}]}'), ['a.0.__proto__ must be omitted'])
  assert.deepEqual(faultOf('{"\\u005f_proto__":1}'), ['__proto__ must be omitted'])
  assert.equal(({} as { role?: string }).role, undefined)
})

test('half a surrogate pair is refused, naming its field', () => {
  for (const half of ['\\ud800', '\\udfff', '\\ude00\\ud83d', 'x\\ud83dx', '\\uD83D\\uD83D\\uDE00'])
    assert.deepEqual(faultOf(`{"externalId":"${half}"}`), ['externalId must be well-formed text without NUL'], half)
})

test('NUL is refused, naming every field that holds it', () => {
  assert.deepEqual(faultOf('{"a":"\\u0000","b":{"c":["ok","x\\u0000y"]},"d":"\\\\u0000"}'), [
    'a must be well-formed text without NUL',
    'b.c.1 must be well-formed text without NUL',
  ])
  assert.deepEqual(faultOf('"\\u0000"'), ['body must be well-formed text without NUL'])
})

test('a name that is not well-formed text is refused', () => {
  assert.match(String(faultOf('{"\\u0000":1}')), /must be well-formed text without NUL/)
  assert.match(String(faultOf('{"a":{"\\ud800":1}}')), /must be well-formed text without NUL/)
})

test('a raw NUL or another control character within a string is no JSON', () => {
  for (const char of ['\0', '\n', '\x1f']) assert.equal(faultOf(`{"a":"${char}"}`), 'The body must be valid JSON')
})

test('bytes that are no UTF-8 are refused', () => {
  const broken: Record<string, number[]> = {
    'a lone continuation byte': [0x80],
    'a sequence cut short': [0xe2, 0x82],
    'an overlong slash': [0xc0, 0xaf],
    'an overlong NUL': [0xc0, 0x80],
    'half a surrogate pair': [0xed, 0xa0, 0x80],
    'beyond Unicode': [0xf4, 0x90, 0x80, 0x80],
    'a byte that UTF-8 never has': [0xff],
    'Latin-1': [0xe9],
  }
  for (const [what, sequence] of Object.entries(broken))
    assert.equal(faultOf(bytes('{"a":"', sequence, '"}')), 'The body must be valid UTF-8', what)
  assert.equal(faultOf(Buffer.from('{"a":1}', 'utf16le')), 'The body must be valid JSON')
  assert.equal(faultOf(Buffer.from('\ufeff{"a":1}', 'utf16le')), 'The body must be valid UTF-8')
})

test('what is no JSON is refused without repeating any of it', () => {
  const bodies = [
    '{',
    '}',
    '{"a":}',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '[1,]',
    '01',
    '+1',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    '0x10',
    '// x\n{}',
    '{"a":1} {"b":2}',
    '"\\x41"',
    '"\\u12"',
    'secret=hunter2',
    '<xml/>',
    '\u00a0{}',
  ]
  for (const body of bodies) assert.equal(faultOf(body), 'The body must be valid JSON', body)
})

test('16 levels of nesting are read, 17 are not, whether of objects, lists or both', () => {
  const fault = 'The body must be nested at most 16 levels deep'
  assert.deepEqual(read(nested(16, '[', '1', ']')), JSON.parse(nested(16, '[', '1', ']')))
  assert.equal(faultOf(nested(17, '[', '1', ']')), fault)
  assert.deepEqual(read(nested(16, '{"a":', '1', '}')), JSON.parse(nested(16, '{"a":', '1', '}')))
  assert.equal(faultOf(nested(17, '{"a":', '1', '}')), fault)
  assert.equal(faultOf(nested(8, '[{"a":', '[]', '}]')), fault)
  assert.ok(read(`[${'[],'.repeat(1000)}[]]`), 'lists side by side are not nested')
  assert.ok(read(`{"a":"${'['.repeat(1000)}"}`), 'brackets within a text do not count')
})

test('very deep nesting is refused before it is parsed', () => {
  for (const body of ['['.repeat(65_536), nested(32_000, '[', '', ']'), nested(100_000, '{"a":', '1', '}')])
    assert.equal(faultOf(body), 'The body must be nested at most 16 levels deep')
})

test('each scalar, object and array is a value, and a name is none', () => {
  const counts: Record<string, number> = {
    '': 0,
    '1': 1,
    '""': 1,
    null: 1,
    '[]': 1,
    '{}': 1,
    '[1,2.5e3,-0.0,true,null,"a"]': 7,
    ' [ 1 , [ ] , { } ] ': 4,
    '{"a":1,"b":[true,"c:d,e"],"f":{"g\\"[":{}}}': 7,
    '[{"a":"b"},{"a":"b"}]': 5,
  }
  for (const [body, count] of Object.entries(counts)) assert.equal(countValues(Buffer.from(body), roomy), count, body)
})

test('a body of as many values as its route takes is read, one more is refused', () => {
  const list = (entries: number, entry: string) => `[${Array(entries).fill(entry).join()}]`
  const most = (values: number) => `The body must have at most ${values} values`
  for (const entry of ['1', '""', 'null', '{}', '[]']) {
    assert.ok(read(list(499, entry), { values: 500 }), entry)
    assert.equal(faultOf(list(500, entry), { values: 500 }), most(500), entry)
  }
  assert.ok(read(list(249, '{"a":1}'), { values: 500 }))
  assert.equal(faultOf(list(250, '{"a":1}'), { values: 500 }), most(500))
  assert.ok(read(list(59_999, '{}'), { values: 1_000_000, containers: 60_000 }))
  const fault = 'The body must have at most 60000 objects and arrays'
  assert.equal(faultOf(list(60_000, '{}'), { values: 1_000_000, containers: 60_000 }), fault)
})

test('what is no JSON is refused after a bounded number of values, too', () => {
  assert.equal(faultOf('{},'.repeat(5_000_000), { values: 500 }), 'The body must have at most 500 values')
  assert.equal(faultOf('x '.repeat(1_000), { values: 500 }), 'The body must have at most 500 values')
})

test('the answer to a faulty body stays small, however long its names and however many its faults', () => {
  const name = 'n'.repeat(30_000)
  const bodies = [
    `{"${name}":[${Array(3_000).fill('"\\u0000"').join()}]}`,
    `{"${name}":{"${name}":1,"${name}":2}}`,
    `[${Array(7_000).fill('"\\u0000"').join()}]`,
  ]
  for (const body of bodies) assert.ok(JSON.stringify(faultOf(body)).length < 64 * 1024, body.slice(0, 20))
})

test('a fault shows no control characters of the caller', () => {
  const shown = JSON.stringify([
    faultOf('{"a\\u001b[31m":1,"a\\u001b[31m":2}'),
    faultOf('{"a\\r\\nb":"\\u0000"}'),
    faultOf('{"\\u202e\\u0000":1}'),
  ])
  assert.doesNotMatch(shown, /\\u00|\\r|\\n|\u202e/)
})

test('text is what the database keeps unchanged', () => {
  for (const text of ['', 'a', 'Київ', '😀', '\u00a0\u200b\ufeff\ufffe', '\x01\x7f']) assert.ok(isText(text))
  for (const text of ['\0', 'a\0b', '\ud800', '\udc00a', 'a\udbff']) assert.ok(!isText(text))
})

test('for whatever JSON: either exactly what JSON.parse gives, or a clear fault', () => {
  const names = fc.oneof(fc.constantFrom('a', 'b', '__proto__', '', 'a"b', 'a\\'), fc.string({ unit: 'binary' }))
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, false),
      fc.array(tie('value')),
      fc.array(fc.tuple(names, tie('value'))).map(Object.fromEntries),
    ),
  }))
  fc.assert(
    fc.property(value, fc.boolean(), (given, indented) => {
      const body = JSON.stringify(given, null, indented ? 2 : 0)
      const isFaulty = body.includes('"__proto__":') || /\\u0000|\\ud[89a-f]/.test(body.replaceAll('\\\\', ''))
      if (isFaulty) return
      assert.deepEqual(read(body), JSON.parse(body))
    }),
    { numRuns: 500 },
  )
})

test('whatever bytes come, the only fault is that the request is invalid', () => {
  const fragments = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    '\\u0000',
    '\\ud800',
    '"a":1',
    '1',
    ' ',
    'ї',
  )
  const texts = fc.array(fragments, { maxLength: 40 }).map(parts => Buffer.from(parts.join('')))
  const bytes = fc.uint8Array({ maxLength: 40 }).map(array => Buffer.from(array))
  fc.assert(
    fc.property(fc.oneof(texts, bytes), body => {
      try {
        read(body)
      } catch (error) {
        assert.ok(error instanceof DomainError && error.code === 'invalid', `${error}`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('an object of more fields than any form has is refused, however many there are', () => {
  const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"f${n}":1`).join()}}`
  assert.equal(Object.keys(read(fields(1_000)) as object).length, 1_000)
  assert.throws(() => read(`{"a":${fields(1_001)}}`), { details: ['a must be an object of at most 1000 fields'] })
  assert.throws(() => read(fields(100_000)), { details: ['body must be an object of at most 1000 fields'] })
  assert.equal(Object.keys(read(fields(1_001), { values: 2_000, names: 1_001 }) as object).length, 1_001)
})
