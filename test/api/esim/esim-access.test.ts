/** Who may call the eSIM API, in which order a request is checked, and the rules of all its operations. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { issueCredential, revokeCredential } from '../../../src/access/operations.ts'
import { assertError, assertOrder, bankAt, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 20)
})
after(() => platform.close())

const operations: [string, string][] = [
  ['GET', '/operators'],
  ['GET', '/operators/kyivstar/tariffs'],
  ['POST', '/orders'],
  ['GET', `/orders/${randomUUID()}`],
  ['POST', `/orders/${randomUUID()}/confirm`],
  ['GET', `/orders/${randomUUID()}/qr`],
  ['POST', `/orders/${randomUUID()}/cancel`],
]

for (const [method, path] of operations)
  describe(`${method} ${path.replace(/[0-9a-f-]{36}/, ':orderId')}`, () => {
    test('401 without a token of ours, however it is sent', async () => {
      const token = await platform.bankToken()
      const wrong = [
        undefined,
        '',
        'Bearer',
        'Bearer ',
        'Bearer x',
        token,
        `Basic ${token}`,
        `Bearer ${token}x`,
        `Bearer ${token}=`,
      ]
      wrong.push(`Bearer ${token.slice(0, -2)}`, `Bearer  ${token} x`, `Bearer ${token},${token}`, `Token ${token}`)
      for (const authorization of wrong) {
        const headers = authorization === undefined ? {} : { authorization }
        assertError(await bankAt(platform, '').call(method, path, { token: null, headers }), 401)
      }
      const query = await bankAt(platform, '').call(method, `${path}?access_token=${token}`, { token: null })
      assertError(query, 401)
    })

    test('403 for a merchant’s token', async () => {
      assertError(await bankAt(platform, await platform.merchantToken()).call(method, path), 403)
    })

    test('every role of a bank may', async () => {
      for (const role of ['ADMIN', 'EDITOR', 'VIEWER'] as const) {
        const answer = await bankAt(platform, await platform.bankToken('alpha', role)).call(method, path)
        assert.ok([200, 400, 404].includes(answer.status), answer.text)
      }
    })

    test('401 comes before 403, and both before a fault of form', async () => {
      const wrong = method === 'POST' ? { raw: '{"unknown":' } : {}
      const path_ = `${path.replace(/[0-9a-f-]{36}/, 'x')}?unknown=1`
      assertError(await bankAt(platform, 'x').call(method, path_, wrong), 401)
      assertError(await bankAt(platform, await platform.merchantToken()).call(method, path_, wrong), 403)
      assertError(await bankAt(platform, await platform.bankToken()).call(method, path_, wrong), 400)
    })

    test('401 also for a query that is no text', async () => {
      assertError(await bankAt(platform, 'x').call(method, `${path}?x=%ff`), 401)
      assertError(await bankAt(platform, await platform.bankToken()).call(method, `${path}?x=%ff`), 400)
    })
  })

test('the scheme’s name is read in any case', async () => {
  const token = await platform.bankToken()
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    const headers = { authorization: `${scheme} ${token}` }
    assert.equal((await bankAt(platform, '').call('GET', '/operators', { token: null, headers })).status, 200)
  }
})

test('a revoked credential loses access with its live token, a suspended bank too', async () => {
  const { database, deps } = platform.platform
  const issued = await issueCredential({ database }, { partner: { bank: 'gamma' }, role: 'ADMIN', label: 'x' })
  const { body } = await platform.call('POST', '/getToken/auth', { body: issued })
  const gamma = bankAt(platform, body.access_token)
  assert.equal((await gamma.operators()).status, 200)
  await revokeCredential({ ...deps.access, database }, issued.clientId)
  await until('the token is refused', async () => (await gamma.operators()).status === 401)
  assertError(await gamma.operators(), 401)
})

describe('415 and 413', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/xml',
    'multipart/form-data; boundary=x',
  ]
  for (const type of types)
    test(`a body of type ${type} is 415`, async () => {
      const bank = await openBank(platform)
      const raw = JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: type })
      const headers = { 'content-type': type }
      assertError(await bank.call('POST', '/orders', { raw, headers }), 415, /application\/json/)
      const { orderId } = assertOrder(await bank.reserve(`415-${type}`), { status: 'reserved' }, 201)
      assertError(await bank.call('POST', `/orders/${orderId}/confirm`, { raw: '{}', headers }), 415)
      assertError(await bank.call('POST', `/orders/${orderId}/cancel`, { raw: '{}', headers }), 415)
      assertOrder(await bank.read(orderId), { status: 'reserved' })
    })

  test('the type may carry parameters and any case', async () => {
    const bank = await openBank(platform)
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8']) {
      const raw = JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: type })
      assert.equal((await bank.call('POST', '/orders', { raw, headers: { 'content-type': type } })).status, 201, type)
    }
  })

  test('a body of 1 MiB is 413 on every operation that takes one', async () => {
    const bank = await openBank(platform)
    for (const [method, path] of operations.filter(([method]) => method === 'POST'))
      assertError(await bank.call(method, path, { raw: '{}'.padEnd(1024 * 1024) }), 413)
  })
})

test('an unknown path is 404 in the eSIM error body with or without a token; `path` is as requested, without the query', async () => {
  for (const token of [await platform.bankToken(), 'x']) {
    const bank = bankAt(platform, token)
    for (const path of ['', '/', '/nothing', '/orders/x/y', '/..%2f', '/Orders', '/operators/x/tariffs/y'])
      assertError(await bank.call('GET', `${path}?secret=1`), 404)
  }
  const answer = await platform.call('GET', '/esim/v2/orders')
  assert.equal(answer.status, 404)
})

test('405 with Allow for a known path and another method', async () => {
  const bank = await openBank(platform)
  const wrong: [string, string, RegExp][] = [
    ['DELETE', `/orders/${randomUUID()}`, /\bGET\b/],
    ['GET', '/orders', /^POST$/],
    ['PUT', '/orders', /^POST$/],
    ['GET', `/orders/${randomUUID()}/confirm`, /^POST$/],
    ['POST', `/orders/${randomUUID()}/qr`, /\bGET\b/],
    ['PATCH', `/orders/${randomUUID()}/cancel`, /^POST$/],
  ]
  for (const [method, path, allow] of wrong) {
    const answer = await bank.call(method, path)
    assertError(answer, 405)
    assert.match(answer.headers.get('allow') ?? '', allow)
  }
})

test('every answer carries a request id, the caller’s own where that is well-formed', async () => {
  const bank = await openBank(platform)
  const paths = [
    '/operators',
    '/nothing',
    `/orders/${randomUUID()}`,
    '/orders/x',
    '/operators?x=%ff',
    '/operators/%ff/tariffs',
  ]
  for (const path of paths) {
    const given = await bank.call('GET', path, { headers: { 'x-request-id': 'Bank_1.2-3' } })
    assert.equal(given.headers.get('x-request-id'), 'Bank_1.2-3', path)
    for (const odd of ['', 'a b', 'x'.repeat(129), '<script>']) {
      const own = (await bank.call('GET', path, { headers: { 'x-request-id': odd } })).headers.get('x-request-id')
      assert.match(own ?? '', /^[A-Za-z0-9._-]{1,128}$/, path)
      assert.notEqual(own, odd)
    }
  }
})

describe('the request rate', () => {
  const names = ['ratelimit', 'ratelimit-policy']

  test('switched off, no answer speaks of it', async () => {
    const bank = await openBank(platform)
    for (const answer of [await bank.operators(), await bank.read('x'), await bank.call('GET', '/nothing')])
      for (const name of names) assert.equal(answer.headers.get(name), null)
  })

  test('every answer tells the limit; the burst passes, the next is 429 with Retry-After; another bank is not touched', async () => {
    const limited = await startPlatform({ RATE_LIMIT: '2/20' })
    try {
      const alpha = await openBank(limited)
      const startedAt = performance.now()
      const answers = [
        await alpha.operators(),
        await alpha.read('x'),
        await alpha.reserve('x'),
        await alpha.read(randomUUID()),
      ]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 400, 503, 404],
      )
      while (answers.length < 20) answers.push(await alpha.operators())
      for (const [index, answer] of answers.entries()) {
        assert.notEqual(answer.status, 429, `${index}`)
        assert.equal(answer.headers.get('ratelimit-policy'), '"bank";q=20;w=10')
        const [, remaining] = /^"bank";r=(\d+);t=\d+$/.exec(answer.headers.get('ratelimit') ?? '') ?? []
        const refilled = Math.ceil((performance.now() - startedAt) / 500)
        assert.ok(
          Number(remaining) >= 19 - index && Number(remaining) <= 19 - index + refilled,
          `${index}: ${remaining}`,
        )
      }
      let refused = await alpha.operators()
      while (refused.status !== 429) refused = await alpha.operators()
      assertError(refused, 429)
      assert.match(refused.headers.get('ratelimit') ?? '', /^"bank";r=0;t=\d+$/)
      // Permissions are checked before the form of a request; a refused request takes no profile.
      await limited.addStock('kyivstar', 'eu-10gb', 1)
      const beta = await openBank(limited, await limited.bankToken('beta'))
      assert.equal((await beta.operators()).status, 200)
      const others = [
        await alpha.call('GET', '/nothing'),
        await bankAt(limited, 'x').operators(),
        await alpha.call('PUT', '/orders'),
      ]
      others.push(
        await bankAt(limited, await limited.merchantToken()).operators(),
        await alpha.call('GET', '/operators?x=%ff'),
      )
      for (const other of others)
        for (const name of names) assert.ok(other.headers.get(name), `${other.path} ${other.status}`)
      const seconds = Number(refused.headers.get('retry-after'))
      assert.ok(seconds >= 1 && seconds <= 2)
    } finally {
      await limited.close()
    }
  })
})
