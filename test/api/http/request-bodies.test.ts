/** Media types, sizes and odd content of request bodies, for every API (contract/http.md). */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertErrorBody, fromManyAddresses } from '../../support/many-addresses.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, readRaw, requestText, sendRaw } from '../../support/raw-http.ts'

let platform: TestPlatform
let token: string
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  token = await platform.bankToken()
})
after(() => platform.close())

const { call, raw } = fromManyAddresses(() => platform)
const json = { 'content-type': 'application/json' }
const bearer = () => ({ authorization: `Bearer ${token}` })

// 415: the body has another content type

test('415 for another media type, in the body of the API', async () => {
  const types = ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'text/json', ';;;', 'json']
  const more = ['multipart/form-data; boundary=x', 'application/jsonp', 'application/vnd.api+json', 'image/png']
  for (const type of [...types, ...more])
    for (const path of ['/getToken/auth', '/auth/login', '/sandbox/clock', '/esim/v1/orders']) {
      const answer = await raw('POST', path, { ...bearer(), 'content-type': type }, '{"clientId":"a"}')
      assertErrorBody(answer, 415, 'POST', path, `${path} ${type}`)
    }
  assertErrorBody(await raw('POST', '/getToken/auth', {}, '{"clientId":"a"}'), 415, 'POST', '/getToken/auth')
})

test('415 for a body in a content coding, in the body of the API', async () => {
  const json = { 'content-type': 'application/json' }
  const body = gzipSync('{"clientId":"a","secret":"b"}')
  for (const path of ['/getToken/auth', '/auth/login', '/sandbox/clock', '/esim/v1/orders'])
    for (const coding of ['gzip', 'GZIP', 'br', 'deflate, gzip', 'nonsense']) {
      const headers = { ...json, 'content-encoding': coding }
      const answer = await platform.call('POST', path, { token, raw: body, headers })
      assertErrorBody(answer, 415, 'POST', path, `${path} ${coding}`)
      assert.match(answer.text, /Content-Encoding/)
    }
  const identity = { ...json, 'content-encoding': 'identity' }
  const raw = '{"clientId":"a","secret":"b"}'
  assert.equal((await platform.call('POST', '/getToken/auth', { raw, headers: identity })).status, 400)
  const bodiless = { headers: { 'content-encoding': 'gzip' } }
  assert.equal((await platform.call('GET', '/health/live', bodiless)).status, 200)
  const stranger = await platform.call('POST', '/esim/v1/orders', {
    raw: body,
    headers: { ...json, 'content-encoding': 'gzip' },
  })
  assert.equal(stranger.status, 401, 'who is calling comes first')
})

test('application/json is taken in any case and with parameters', async () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;a=b',
  ])
    assertErrorBody(
      await raw('POST', '/getToken/auth', { 'content-type': type }, '{}'),
      400,
      'POST',
      '/getToken/auth',
      type,
    )
})

// 400 for invalid JSON; test/rules/json.test.ts has the table of invalid texts

test('400 for a body that is no JSON, in the body of the API', async () => {
  for (const path of ['/getToken/auth', '/auth/login', '/sandbox/clock', '/esim/v1/orders'])
    for (const body of ['{', 'hello', '{"a":1,}', '{"a":1}{"b":2}', "{'a':1}", '{"a":1,"a":2}', '{"__proto__":1}'])
      assertErrorBody(await raw('POST', path, { ...json, ...bearer() }, body), 400, 'POST', path, `${path} ${body}`)
})

test('400 for bytes that are no UTF-8, half a surrogate pair, NUL and deep nesting', async () => {
  const bodies = [
    Buffer.concat([Buffer.from('{"clientId":"'), Buffer.of(0xff), Buffer.from('","secret":"x"}')]),
    Buffer.from('{"clientId":"\\ud800","secret":"x"}'),
    Buffer.from('{"clientId":"\\u0000","secret":"x"}'),
    Buffer.from(`{"clientId":${'['.repeat(1_000)}${']'.repeat(1_000)}}`),
    Buffer.from('['.repeat(60_000)),
  ]
  for (const body of bodies) {
    const answer = await call('POST', '/getToken/auth', { raw: body })
    assertErrorBody(answer, 400, 'POST', '/getToken/auth', body.toString('utf8', 0, 60))
  }
})

test('400 for no body at all where one is needed', async () => {
  for (const headers of [{}, json, { ...json, 'content-length': '0' }])
    for (const path of ['/getToken/auth', '/auth/login', '/sandbox/clock', '/esim/v1/orders'])
      assertErrorBody(await raw('POST', path, { ...bearer(), ...headers }), 400, 'POST', path)
})

// 413: the body is too long

test('a body of exactly 64 KiB is read, one byte more is 413, declared or in chunks', async () => {
  const spaces = (length: number) => `{"clientId":"a"${' '.repeat(length - 16)}}`
  const path = '/getToken/auth'
  assertErrorBody(await raw('POST', path, json, spaces(65_536)), 400, 'POST', path)
  assertErrorBody(await raw('POST', path, json, spaces(65_537)), 413, 'POST', path)
  const inChunks = (body: string) => {
    const half = Math.floor(body.length / 2)
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const head = requestText('POST', path, { ...json, 'transfer-encoding': 'chunked' })
    return sendRaw(platform.url, `${head}${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`)
  }
  assertErrorBody(await inChunks(spaces(65_536)), 400, 'POST', path)
  assertErrorBody(await inChunks(spaces(65_537)), 413, 'POST', path)
})

test('413 for a body of 2 MiB on every API, and the process goes on', async () => {
  const body = `{"clientId":"${'a'.repeat(2 * 1024 * 1024)}"}`
  for (const path of ['/getToken/auth', '/auth/login', '/sandbox/clock', '/esim/v1/orders'])
    assertErrorBody(await raw('POST', path, { ...json, ...bearer() }, body), 413, 'POST', path)
  assert.equal((await call('GET', '/health/live')).status, 200)
})

describe('a body that is refused before it has come', () => {
  const long = 4 * 1024 * 1024
  const inChunks = { 'transfer-encoding': 'chunked' }
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  for (const [what, status, path, headers, begin, rest] of [
    ['too long by what is declared', 413, '/getToken/auth', { 'content-length': String(long) }, '', ' '.repeat(long)],
    [
      'too long by what has come',
      413,
      '/getToken/auth',
      inChunks,
      chunk(' '.repeat(70_000)),
      `${chunk(' '.repeat(long))}0\r\n\r\n`,
    ],
    [
      'of another type',
      415,
      '/getToken/auth',
      { 'content-type': 'text/plain', 'content-length': String(long) },
      '',
      ' '.repeat(long),
    ],
    [
      'of another type, for an upload',
      415,
      '/admin/profiles',
      { 'content-type': 'text/plain', 'content-length': String(long) },
      '',
      ' '.repeat(long),
    ],
  ] as const)
    test(`${what}: ${status} also for who only listens when all is sent, and the connection stays`, async () => {
      const socket = await openRaw(platform.url)
      const operator = { authorization: `Bearer ${platform.config.operatorKey}` }
      socket.write(requestText('POST', path, { ...json, ...operator, ...headers }) + begin)
      assert.equal((await readRaw(socket)).status, status)
      socket.write(rest)
      socket.write(requestText('GET', '/health/live'))
      assert.equal((await readRaw(socket)).status, 200)
      socket.destroy()
    })
})

test('a declared length that is huge is refused before any of it has come', async () => {
  const socket = await openRaw(platform.url)
  socket.write(requestText('POST', '/getToken/auth', { ...json, 'content-length': '99999999999' }))
  assertErrorBody(await readRaw(socket), 413, 'POST', '/getToken/auth')
  socket.destroy()
})

// Unusual values in every field, as the name of a field, and as the whole body

const uuid = '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'
const oddValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 70,
  [],
  {},
  [['x']],
  { $gt: '' },
  '',
  ' ',
  '\u0007',
  '\u202e\u200b\ufeff',
  'ї'.repeat(200),
  '😀'.repeat(300),
  'x'.repeat(10_000),
  "'; drop table orders; --",
  '{{7*7}}<script>',
  '%s%n%00\\0',
  '../../../../../../etc/passwd',
  'NaN',
  '-0',
  'P1DT',
  '0000-00-00T00:00:00Z',
  uuid,
]
const bodies: Record<string, Record<string, unknown>> = {
  'POST /getToken/auth': { clientId: 'pk_nobody', secret: 'nothing' },
  'POST /auth/login': { typeAccount: 'bank', login: 'nobody', password: 'nothing' },
  'POST /sandbox/clock': { now: 'x' },
  'POST /sandbox/clock?': { advance: 'x' },
  'POST /esim/v1/orders': { operatorCode: 'nobody', tariffCode: 'nothing', externalId: 'x' },
  [`POST /esim/v1/orders/${uuid}/confirm`]: { customerEmail: 'a@b.example' },
  [`POST /esim/v1/orders/${uuid}/cancel`]: { x: 1 },
  'POST /admin/credentials': { bank: 'nobody', role: 'ADMIN', label: 'x' },
  'POST /admin/credentials/nobody/rotate': { overlap: 'PT24H' },
  'POST /admin/users': { bank: 'nobody', login: 'x', role: 'ADMIN', password: 'long enough a password' },
  'POST /admin/profiles/withdraw': { iccids: [] },
  'POST /admin/directory': { directory: 'x', files: {} },
}
for (const [operation, body] of Object.entries(bodies))
  test(`odd values in every field of ${operation} are 4xx`, async () => {
    const [method = '', path = ''] = operation.split(' ')
    const key = path.startsWith('/admin') ? platform.config.operatorKey : token
    const cases = Object.keys(body).flatMap(field => oddValues.map(value => ({ ...body, [field]: value })))
    for (const odd of [...cases, ...oddValues.map(value => ({ ...body, [String(value)]: value })), ...oddValues]) {
      const answer = await call(method, path, { token: key, body: odd })
      const isFine = answer.status >= 400 && answer.status < 500
      assert.ok(isFine, `${JSON.stringify(odd).slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 200)}`)
      assert.ok(answer.text.length < 64 * 1024)
    }
  })

test('large bodies of clients that disconnect delay other requests no more than bodies of clients that stay', async () => {
  const [leaving, other] = [await platform.merchantToken(), await platform.merchantToken('voltshop')]
  const path = '/cashbacks/for-merchant'
  const body = JSON.stringify({ x: Array(400_000).fill(1_234_567) })
  const timeOf = async (token: string, raw: string) => {
    const start = performance.now()
    assert.equal((await platform.call('POST', path, { token, raw, headers: json })).status, 400)
    return performance.now() - start
  }
  const headers = { ...json, authorization: `Bearer ${leaving}`, 'content-length': String(Buffer.byteLength(body)) }
  const sendAndLeave = () =>
    new Promise<void>(resolve => {
      const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
      socket.once('close', () => resolve()).on('error', () => {})
      socket.write(requestText('POST', path, headers) + body, () => socket.end())
      setTimeout(() => socket.destroy(), 500)
    })
  const measure = async () => {
    const one = await timeOf(other, body)
    for (let count = 0; count < 12; count++) await Promise.all([sendAndLeave(), sendAndLeave()])
    const behind = await timeOf(other, JSON.stringify({ x: 'y'.repeat(300 * 1024) }))
    return { one, behind, isFair: behind < 8 * one }
  }
  await timeOf(other, body)
  // If the server read the bodies of clients that left, the request would wait for 24 of them. Several tries are
  // allowed, because a busy machine delays single ones.
  const tries = [await measure()]
  while (tries.length < 4 && !tries.some(({ isFair }) => isFair)) tries.push(await measure())
  assert.ok(
    tries.some(({ isFair }) => isFair),
    tries.map(({ one, behind }) => `${behind} ms, but a large body takes ${one} ms`).join('; '),
  )
})

test('odd authorization headers are 401', async () => {
  const odd = ['', 'Bearer', 'Bearer ', 'Bearer  ', 'Basic YTpi', `Token ${token}`, `Bearer${token}`, `Bearer:${token}`]
  const more = [`Bearer ${token} x`, `Bearer "${token}"`, `${token}`, 'Bearer null', 'Bearer \x80\xff', 'Bearer ..']
  for (const authorization of [...odd, ...more]) {
    const path = '/esim/v1/operators'
    const answer = await raw('GET', path, { authorization })
    assertErrorBody(answer, 401, 'GET', path, authorization)
    assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer(?: error="invalid_token")?$/)
  }
})
