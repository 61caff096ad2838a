/** Request ids, methods, paths, and input that is not HTTP, for every API (contract/http.md). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertErrorBody, fromManyAddresses } from '../../support/many-addresses.ts'
import { documents, snapshotUrl } from '../../support/openapi.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, type RawAnswer, requestText, sendRaw } from '../../support/raw-http.ts'

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

const idOf = (answer: Answer | RawAnswer) =>
  answer.headers instanceof Headers ? answer.headers.get('x-request-id') : answer.headers['x-request-id']

// x-request-id

test('the caller’s x-request-id is taken over when it is 1 to 128 of the allowed characters', async () => {
  for (const id of ['a', 'Order-42_retry.1', '0'.repeat(128)])
    assert.equal(idOf(await call('GET', '/health/live', { headers: { 'x-request-id': id } })), id)
})

test('another x-request-id is replaced by one of ours', async () => {
  for (const id of ['', 'a b', 'a/b', '"a"', 'ї', 'a'.repeat(129), '{{7*7}}', 'a,b']) {
    const answer = await raw('GET', '/health/live', { 'x-request-id': id })
    assert.match(idOf(answer) ?? '', /^[0-9a-f-]{36}$/, id)
  }
  const twice = await sendRaw(
    platform.url,
    'GET /health/live HTTP/1.1\r\nhost: a\r\nx-request-id: a\r\nx-request-id: b\r\n\r\n',
  )
  assert.match(idOf(twice) ?? '', /^[0-9a-f-]{36}$/)
})

test('every answer carries an x-request-id, each its own', async () => {
  const answers = await Promise.all([
    raw('GET', '/health/live'),
    raw('GET', '/swagger'),
    raw('GET', '/esim/v1/swagger/json'),
    raw('GET', '/esim/v1/operators', bearer()),
    raw('HEAD', '/esim/v1/operators', bearer()),
    raw('GET', '/esim/v1/operators'),
    raw('GET', '/nowhere'),
    raw('DELETE', '/esim/v1/orders'),
    raw('OPTIONS', '*'),
    raw('POST', '/getToken/auth', json, '{'),
    raw('POST', '/getToken/auth', { 'content-type': 'text/plain' }, 'x'),
    raw('POST', '/getToken/auth', json, ' '.repeat(70_000)),
    raw('POST', '/getToken/auth', { ...json, expect: 'the-impossible' }, '{}'),
    raw('GET', '/esim/v1/orders/%zz'),
    raw('GET', '/health/live', { x: 'x'.repeat(20_000) }),
    sendRaw(platform.url, 'GET /health/live HTTP/1.1\r\n\r\n'),
    sendRaw(platform.url, 'what?\r\n\r\n'),
  ])
  for (const answer of answers) assert.ok(idOf(answer), `${answer.status} ${answer.text.slice(0, 100)}`)
  assert.equal(new Set(answers.map(idOf)).size, answers.length)
})

// 404

const unknownPaths = [
  '/nowhere',
  '/cashbacks',
  '/cashbacks/for-bank/nowhere',
  '/getToken',
  '/getToken/auth/',
  '/getToken/nowhere',
  '/esim/v1',
  '/esim/v1/',
  '/esim/v1/nowhere',
  '/esim/v1/operators/',
  '/esim/v1/orders/a/b/c',
  '/esim/v2/operators',
  '//esim/v1/operators',
  '/ESIM/V1/operators',
  '/esim/v1/../operators',
  '/swagger/static/nowhere.js',
  '/swagger/static/..%2f..%2fpackage.json',
  '/esim/v1/swagger/static/nowhere.js',
  '/__proto__',
  '/esim/v1/constructor',
]
for (const path of unknownPaths)
  test(`404 in the body of its API for the unknown path ${path}, with a token or without`, async () => {
    for (const headers of [{}, bearer(), { authorization: 'Bearer nonsense' }])
      assertErrorBody(await raw('GET', path, headers), 404, 'GET', path)
  })

test('404 for an unknown path whatever the method, the body and the query', async () => {
  for (const path of ['/nowhere', '/esim/v1/nowhere', '/getToken/nowhere']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      assertErrorBody(await raw(method, path), 404, method, path)
    const bodies: [Record<string, string>, string][] = [
      [json, '{'],
      [json, '{"a":1,"a":1}'],
      [json, ' '.repeat(70_000)],
      [{ 'content-type': 'text/plain' }, 'x'],
      [{ 'content-type': ';;;' }, 'x'],
      [{}, 'x'],
    ]
    for (const [headers, body] of bodies)
      assertErrorBody(await raw('POST', path, headers, body), 404, 'POST', path, `${path} ${body.slice(0, 20)}`)
    assertErrorBody(await raw('GET', `${path}?a=%ff`), 404, 'GET', path)
  }
})

// 405

const knownPaths: Record<string, string> = {
  '/getToken/auth': 'POST',
  '/auth/login': 'POST',
  '/sandbox/clock': 'DELETE, GET, HEAD, POST',
  '/health/live': 'GET, HEAD',
  '/health/ready': 'GET, HEAD',
  '/cashbacks/for-bank': 'GET, HEAD',
  '/cashbacks/for-merchant': 'GET, HEAD, POST',
  // `banks` is in the place of a campaign's id, but the methods of a campaign do not apply.
  '/cashbacks/for-merchant/banks': 'GET, HEAD',
  '/esim/v1/operators': 'GET, HEAD',
  '/esim/v1/operators/x/tariffs': 'GET, HEAD',
  '/esim/v1/orders': 'POST',
  '/esim/v1/orders/x': 'GET, HEAD',
  '/esim/v1/orders/x/confirm': 'POST',
  '/esim/v1/orders/x/cancel': 'POST',
  '/esim/v1/orders/x/qr': 'GET, HEAD',
  [`/esim/v1/orders/${'x'.repeat(2_000)}`]: 'GET, HEAD',
}
for (const [path, allow] of Object.entries(knownPaths))
  test(`405 with Allow: ${allow} for another method at ${path.slice(0, 40)}`, async () => {
    const others = METHODS.filter(method => method !== 'CONNECT' && !allow.split(', ').includes(method))
    const answers = await Promise.all(others.map(async method => ({ method, answer: await raw(method, path) })))
    for (const { method, answer } of answers) {
      assert.equal(answer.status, 405, `${method} ${answer.text.slice(0, 200)}`)
      assert.equal(answer.headers.allow, allow, method)
      if (method !== 'HEAD') assertErrorBody(answer, 405, method, path)
    }
    const withBody = await raw('PUT', path, { 'content-type': 'text/plain' }, 'x')
    assert.equal(withBody.status, 405)
  })

test('405 at every path of the documents, and at their pages, names all its methods', async () => {
  for (const { file, page } of documents) {
    const { paths } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    for (const [path, operations] of Object.entries<object>({
      ...paths,
      [page]: { get: {} },
      [`${page}/`]: { get: {} },
    })) {
      const { status, headers } = await raw('TRACE', path.replaceAll(/{.*?}/g, 'x'))
      const named = String(headers.allow).split(', ')
      const methods = Object.keys(operations).map(method => method.toUpperCase())
      assert.deepEqual([status, named.filter(method => method !== 'HEAD')], [405, methods.sort()], path)
    }
  }
})

test('HEAD is answered as GET is, without the body', async () => {
  for (const path of ['/esim/v1/operators', '/health/live', '/swagger', '/nowhere']) {
    const [get, head] = await Promise.all([raw('GET', path, bearer()), raw('HEAD', path, bearer())])
    assert.deepEqual([head.status, head.headers['content-type']], [get.status, get.headers['content-type']])
    assert.equal(head.headers['content-length'], get.headers['content-length'])
    assert.equal(head.text, '')
  }
  assert.equal((await raw('HEAD', '/esim/v1/operators')).status, 401)
})

// Input that can't be read as a request

test('431 as clear JSON for headers that are too long, one or many', async () => {
  const long = { 'x-long': 'x'.repeat(20_000) }
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`x-${index}`, 'x']))
  for (const [target, headers] of [
    ['/esim/v1/operators', long],
    ['/esim/v1/operators', many],
    ['/esim/v1/operators', { authorization: `Bearer ${'x'.repeat(20_000)}` }],
    [`/esim/v1/operators?${'x'.repeat(20_000)}`, {}],
  ] as const) {
    const answer = await raw('GET', target, headers)
    assert.equal(answer.status, 431)
    assert.deepEqual(answer.body, {
      statusCode: 431,
      message: 'The headers must be shorter than 16 KiB',
      error: 'Request Header Fields Too Large',
    })
  }
})

test('400 as clear JSON for what is no HTTP, without repeating it', async () => {
  const requests = [
    'hunter2\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: a\r\nhunter2\r\n\r\n',
    'GET /hunter2 HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
    'GET /\0hunter2 HTTP/1.1\r\nhost: a\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03hunter2',
  ]
  for (const request of requests) {
    const answer = await sendRaw(platform.url, Buffer.from(request, 'latin1'))
    assert.equal(answer.status, 400, JSON.stringify(request))
    assert.deepEqual([answer.body.statusCode, answer.body.error], [400, 'Bad Request'])
    assert.ok(!answer.text.includes('hunter2'))
  }
})

/** The text of a request that reserves a profile. */
const reservation = (externalId: string, extra = '') => {
  const body = JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId })
  return (
    `POST /esim/v1/orders HTTP/1.1\r\nhost: x\r\n${extra}authorization: Bearer ${token}\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  )
}

/** Sends these bytes, waits until the platform closes the connection, and returns the statuses of all answers. */
async function statusesOf(bytes: string): Promise<(string | undefined)[]> {
  const socket = await openRaw(platform.url)
  let received = ''
  socket.on('data', data => {
    received += data
  })
  socket.write(bytes)
  await once(socket, 'close')
  return [...received.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
}

test('a request behind one with a streamed answer is answered, too', async () => {
  await platform.addStock('kyivstar', 'eu-10gb', 1)
  const file = `GET /partner/v1/orders.csv HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`
  assert.deepEqual(await statusesOf(file + reservation('behind a stream', 'connection: close\r\n')), ['200', '201'])
})

test('invalid bytes behind a request do not disturb it: it gets its own answer first', async () => {
  const head = (extra: string) => reservation('pipelined', extra)
  await platform.addStock('kyivstar', 'eu-10gb', 1)
  assert.deepEqual(await statusesOf(`${head('')}x\r\n\r\n`), ['201', '501'])
  assert.deepEqual(await statusesOf(`${head('')}GET / HTTP/1.1\r\nHost : x\r\n\r\n`), ['200', '400'])
  assert.deepEqual(await statusesOf(`${head('connection: close\r\n')}x`), ['200'])
})

test('a body that breaks in the same packet as its headers is refused at once', async () => {
  for (const path of ['/esim/v1/orders', '/getToken/auth', '/partner/v1/webhook-endpoints', '/portal/session']) {
    const start = performance.now()
    assert.deepEqual(await statusesOf(brokenBody('POST', path, `authorization: Bearer ${token}\r\n`)), ['400'], path)
    assert.ok(performance.now() - start < 5_000, 'long before a body must have arrived')
  }
})

test('a request has one answer, though its body breaks', async () => {
  assert.deepEqual(await statusesOf(brokenBody('POST', '/esim/v1/orders')), ['401'])
  assert.deepEqual(await statusesOf(brokenBody('POST', '/nowhere')), ['404'])
  const authorization = `authorization: Bearer ${token}\r\n`
  assert.deepEqual(await statusesOf(brokenBody('GET', '/esim/v1/operators', authorization)), ['200'])
})

/** A request whose chunked body has no proper chunk. */
const brokenBody = (method: string, path: string, headers = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`

test('CONNECT is answered as another method that no API has', async () => {
  const { status, headers } = await sendRaw(platform.url, 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n')
  assert.equal(status, 501)
  assert.ok(headers['x-request-id'])
})

test('400 for a chunked body that cannot be read, in the body of the API', async () => {
  const answer = await sendRaw(
    platform.url,
    `POST /esim/v1/orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n` +
      'transfer-encoding: chunked\r\n\r\nzz\r\n',
  )
  assert.equal(answer.status, 400)
  assert.equal(answer.body.path, '/esim/v1/orders')
  assert.equal(answer.headers['perkline-error-code'], 'invalid')
})

test('the connection of an upload that breaks off is closed at once', async () => {
  const socket = await openRaw(platform.url)
  const closed = once(socket.resume(), 'close')
  const { operatorKey } = platform.config
  socket.write(
    `POST /admin/customers?bank=alpha HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${operatorKey}\r\ncontent-type: text/csv\r\n` +
      `content-length: 2000000\r\n\r\nclientId,msisdn\n${'x'.repeat(100_000)}`,
  )
  await sleep(200)
  socket.end()
  const outcome = await Promise.race([closed.then(() => 'closed'), sleep(5_000, 'open', { ref: false })])
  assert.equal(outcome, 'closed')
})

test('400 for HTTP/1.1 without Host, in the body of the API; HTTP/1.0 needs none', async () => {
  const answer = await sendRaw(platform.url, 'GET /esim/v1/operators HTTP/1.1\r\n\r\n')
  assertErrorBody(answer, 400, 'GET', '/esim/v1/operators')
  assert.equal((await sendRaw(platform.url, 'GET /health/live HTTP/1.0\r\n\r\n')).status, 200)
})

test('Expect: 100-continue is answered, an unknown expectation passed over', async () => {
  for (const expect of ['100-continue', 'the-impossible'])
    assertErrorBody(await raw('POST', '/getToken/auth', { ...json, expect }, '{}'), 400, 'POST', '/getToken/auth')
})

test('an address in absolute form is answered as its path is', async () => {
  assert.equal((await raw('GET', `${platform.url}/esim/v1/operators`, bearer())).status, 200)
  const path = '/esim/v1/nowhere'
  assertErrorBody(await raw('GET', `${platform.url}${path}?a=b`), 404, 'GET', path)
})

test('a target that is no path is unknown', async () => {
  for (const method of ['GET', 'OPTIONS']) assert.equal((await raw(method, '*')).status, 404)
  assert.equal((await raw('GET', platform.url)).status, 200)
})

// Path and query

test('400 for a path that is not percent-encoded UTF-8, in the body of its API, with the path as requested', async () => {
  for (const wrong of ['%', '%z', '%zz', '%ff', '%c3', '%c0%af', '%ed%a0%80', 'a%2'])
    for (const path of [`/esim/v1/orders/${wrong}`, `/esim/v1/operators/${wrong}/tariffs`, `/${wrong}`]) {
      const answer = await raw('GET', path, bearer())
      assertErrorBody(answer, 400, 'GET', path)
      assert.match(String(answer.body.message), /path must be/)
    }
})

test('400 for a query that is no well-formed text, after the caller is known', async () => {
  for (const wrong of ['%', '%zz', '%ff', '%c0%af', '%ed%a0%80', '%00', 'a=%00']) {
    const path = '/esim/v1/operators'
    assertErrorBody(await raw('GET', `${path}?${wrong}`, bearer()), 400, 'GET', path, wrong)
    assertErrorBody(await raw('GET', `${path}?${wrong}`), 401, 'GET', path, wrong)
    // The same holds for a path that has no parameters.
    assertErrorBody(await raw('GET', `/health/live?${wrong}`), 400, 'GET', '/health/live', wrong)
  }
})

test('a query that is no well-formed text names the parameters, also where a path has none', async () => {
  const cases: [query: string, named: string[]][] = [
    ['externalId=%00', ['externalId']],
    ['externalId=%ff&status=confirmed&x%20y=%zz&externalId=%', ['externalId', 'x y']],
    ['%ff=1', ['%ff']],
    ['=%ff', ['the parameter without a name']],
  ]
  for (const path of ['/partner/v1/orders', '/esim/v1/operators', '/health/live'])
    for (const [query, named] of cases) {
      const { status, body } = await raw('GET', `${path}?${query}`, bearer())
      const message = named.map(name => `${name} must be well-formed text without NUL`)
      assert.deepEqual([status, body.message], [400, message], query)
    }
})

test('the path in an error is as requested, encodings and all, without the query', async () => {
  const cases = {
    '/esim/v1/orders/a%20b?token=hunter2': '/esim/v1/orders/a%20b',
    '/esim/v1/operators/%D0%9A/tariffs?x': '/esim/v1/operators/%D0%9A/tariffs',
    '/%65sim/v1/orders/x?a?b': '/%65sim/v1/orders/x',
  }
  for (const [target, path] of Object.entries(cases)) {
    const answer = await raw('GET', target, bearer())
    assert.ok(answer.status === 400 || answer.status === 404, target)
    assert.equal(answer.body.path, path)
    assert.ok(!answer.text.includes('hunter2'))
  }
})

test('a path that a proxy blocks cannot be reached by another spelling', async () => {
  const operator = { authorization: `Bearer ${platform.config.operatorKey}` }
  for (const path of ['/admin/users', '/sandbox/clock', '/health/live', '/admin/%75sers'])
    assert.equal((await raw('GET', path, operator)).status, 200, path)
  const spellings = ['/%61dmin/users', '/admi%6e/users', '/%61dmin/openapi.json', '/%73andbox/clock', '/%68ealth/live']
  for (const path of spellings) {
    const answer = await raw('GET', path, operator)
    assert.equal(answer.status, 404, path)
    assert.equal(answer.body.message, 'There is nothing at this path')
  }
})

test('NUL in a path names nothing', async () => {
  const operator = { authorization: `Bearer ${platform.config.operatorKey}` }
  assert.equal((await raw('GET', '/esim/v1/operators/%00/tariffs', bearer())).status, 404)
  assert.equal((await raw('GET', '/esim/v1/orders/%00', bearer())).status, 400)
  for (const path of ['/admin/users/%00/disable', '/admin/credentials/a%00/revoke', '/admin/credentials/%00/rotate'])
    assert.ok([400, 404].includes((await raw('POST', path, operator)).status), path)
})

test('pieces of what is no HTTP behind a request that waits do not pile up', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  const socket = await openRaw(platform.url)
  const token = await platform.bankToken()
  socket.write(requestText('GET', '/partner/v1/events?type=campaign.*&wait=1', { authorization: `Bearer ${token}` }))
  for (let piece = 0; piece < 30; piece++) {
    await sleep(10)
    socket.write('no HTTP\r\n\r\n')
  }
  const received = (await socket.toArray()).join('')
  process.off('warning', note)
  assert.match(received, /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 400 /)
  assert.deepEqual(warnings, [])
})
