/**
 * What HTTP itself requires: exactly one Host, known versions and codings, conditions, and the location of new objects.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  campaignDirectory,
  campaignForm,
  createBankCampaign,
  createCampaign,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openRaw, requestText, sendRaw } from '../../support/raw-http.ts'

let platform: TestPlatform
let merchant: Partner
let alpha: Partner
let bank: Bank
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  merchant = await openMerchant(platform)
  alpha = await openCampaignBank(platform)
  bank = await openBank(platform, alpha.token)
})
after(() => platform.close())

const first = (text: string) => sendRaw(platform.url, text).then(({ status }) => status)

suite('a request that HTTP does not allow', () => {
  for (const host of [
    'Host: a\r\nHost: a',
    'host: a\r\nHOST: b',
    'Host: a b@/',
    'Host: a/b',
    'Host: [::1',
    'Host: a:x',
  ])
    test(`400 for ${JSON.stringify(host)}`, async () => {
      const answer = await sendRaw(platform.url, `GET /esim/v1/operators HTTP/1.1\r\n${host}\r\n\r\n`)
      assert.equal(answer.status, 400)
      assert.match(answer.body.message, /^The header Host must be /)
      assert.equal(answer.body.path, '/esim/v1/operators')
    })

  for (const host of ['a', 'a.example:8080', '127.0.0.1', '[::1]:8080', 'my_service', 'xn--p1ai', ''])
    test(`${JSON.stringify(host)} is a Host`, async () =>
      assert.equal(await first(`GET /health/live HTTP/1.1\r\nHost: ${host}\r\n\r\n`), 200))

  test('400 for two fields Authorization, of which another reader might take the other one', async () => {
    const fields = [merchant.token, alpha.token].map(token => `Authorization: Bearer ${token}\r\n`).join('')
    const answer = await sendRaw(platform.url, `GET /cashbacks/for-merchant HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
    assert.deepEqual([answer.status, answer.body.message], [400, 'The header Authorization must be given once only'])
  })

  test('505 for another version of HTTP, 501 for an unknown method or coding', async () => {
    assert.equal(await first('GET /health/live HTTP/2.0\r\nHost: a\r\n\r\n'), 505)
    assert.equal(await first('GET /health/live HTTP/9.9\r\nHost: a\r\n\r\n'), 505)
    assert.equal(await first('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 505)
    for (const method of ['FOO', 'get', 'BREW'])
      assert.equal(await first(`${method} /health/live HTTP/1.1\r\nHost: a\r\n\r\n`), 501, method)
    const coded = requestText('POST', '/auth/login', {
      'content-type': 'application/json',
      'transfer-encoding': 'gzip, chunked',
    })
    assert.equal(await first(`${coded}2\r\n{}\r\n0\r\n\r\n`), 501)
  })
})

suite('Expect: 100-continue', () => {
  /** Returns the first status of the answer: 100, or the final status if the server does not send 100. */
  async function firstStatus(path: string, headers: Record<string, string>): Promise<number> {
    const socket = await openRaw(platform.url)
    socket.write(requestText('POST', path, { expect: '100-continue', 'content-type': 'application/json', ...headers }))
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return Number(bytes.toString('latin1').split(' ')[1])
  }
  const length = (bytes: number) => ({ 'content-length': String(bytes) })
  const bearer = () => ({ authorization: `Bearer ${merchant.token}` })

  test('100 for a body that is taken', async () => {
    assert.equal(await firstStatus('/auth/login', length(2)), 100)
    assert.equal(await firstStatus('/cashbacks/for-merchant', { ...bearer(), ...length(1_000_000) }), 100)
  })

  test('no 100 for a body that is refused: 401, 403, 413, 415 come before its first byte', async () => {
    assert.equal(await firstStatus('/cashbacks/for-merchant', length(1_000)), 401)
    assert.equal(await firstStatus('/portal/cashbacks', { ...bearer(), ...length(1_000) }), 403)
    assert.equal(await firstStatus('/auth/login', length(1_000_000)), 413)
    assert.equal(await firstStatus('/auth/login', { ...length(10), 'content-type': 'text/plain' }), 415)
  })
})

suite('connections', () => {
  test('a client that stops in the middle of a header and never closes holds no descriptor', async () => {
    const open = () =>
      new Promise<number>((resolve, reject) =>
        platform.platform.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      )
    const others = await open()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openRaw(platform.url)))
    for (const socket of sockets) {
      // This client keeps its side open when the server closes the other one.
      socket.allowHalfOpen = true
      socket.pause()
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nx-slow: ')
    }
    await until('all are accepted', async () => (await open()) >= 20)
    await until('none is held any more', async () => (await open()) <= others)
    for (const socket of sockets) socket.destroy()
  })
})

suite('401', () => {
  const challenge = (headers: Record<string, string>) =>
    platform
      .call('GET', '/cashbacks/for-bank', { headers })
      .then(({ headers, body }) => [headers.get('www-authenticate'), body.message])

  test('tells a token that is not valid from none', async () => {
    assert.deepEqual(await challenge({}), ['Bearer', 'A bearer token is needed'])
    assert.deepEqual(await challenge({ authorization: 'Basic YTpi' }), ['Bearer', 'A bearer token is needed'])
    assert.deepEqual(await challenge({ authorization: `Bearer ${alpha.token}x` }), [
      'Bearer error="invalid_token"',
      'The bearer token is not valid or has expired',
    ])
    const { headers } = await platform.call('GET', '/admin/stock', { token: 'x' })
    assert.equal(headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  })
})

suite('conditions and places', () => {
  test('a campaign’s detail is always answered, because it changes without a new version', async () => {
    const id = await createCampaign(platform)
    const { name } = (await merchant.call('GET', `/cashbacks/for-merchant/${id}`)).body
    const details: [Partner, string][] = [
      [merchant, `/cashbacks/for-merchant/${id}`],
      [alpha, `/portal/cashbacks/${id}`],
    ]
    for (const [partner, path] of details) {
      const etag = (await partner.call('GET', path)).headers.get('etag') ?? ''
      for (const known of [etag, '*']) {
        const again = await partner.call('GET', path, { headers: { 'if-none-match': known } })
        assert.deepEqual([again.status, again.headers.get('etag'), again.body.name], [200, etag, name], known)
        assert.equal(again.headers.get('cache-control'), 'no-store')
      }
    }
  })

  test('the list of merchants is answered with 304 until one of them changes', async () => {
    const read = (headers: Record<string, string> = {}) => alpha.call('GET', '/retailers', { headers })
    const full = await read()
    const etag = full.headers.get('etag') ?? ''
    const polled = (headers: Headers) => [headers.get('cache-control'), headers.get('vary')]
    assert.deepEqual(polled(full.headers), ['private, no-cache', 'accept-encoding, authorization, cookie'])
    const again = await read({ 'if-none-match': etag })
    assert.deepEqual([again.status, again.text], [304, ''])
    assert.deepEqual(polled(again.headers), polled(full.headers))
    await platform.applyDirectory(campaignDirectory.replace('nameEn: Grocer', 'nameEn: Greengrocer'))
    assert.equal((await read({ 'if-none-match': etag })).status, 200)
  })

  test('201 says where the new order or campaign is', async () => {
    const created = await merchant.call('POST', '/cashbacks/for-merchant', { body: campaignForm(platform) })
    assert.equal(created.headers.get('location'), `/cashbacks/for-merchant/${created.body.id}`)
    assert.equal((await merchant.call('GET', created.headers.get('location') ?? '')).status, 200)
    const own = await createBankCampaign(platform, alpha)
    assert.equal((await alpha.call('GET', `/portal/cashbacks/${own}`)).status, 200)
    await platform.applyDirectory(
      `${campaignDirectory}esim:\n  operators:\n    - code: kyivstar\n      nameUk: К\n      country: UA\n      tariffs:\n        - { code: eu-10gb, name: E, price: 1, currency: UAH, validityDays: 1 }\n`,
    )
    await platform.addStock('kyivstar', 'eu-10gb', 5)
    const order = await bank.reserve('placed')
    assert.deepEqual([order.status, order.headers.get('location')], [201, `/esim/v1/orders/${order.body.orderId}`])
    const repeat = await bank.reserve('placed')
    assert.deepEqual([repeat.status, repeat.headers.get('location')], [200, null])
  })

  test('404 for a slash too many, whatever comes before it', async () => {
    for (const path of [
      '/retailers/',
      '/cashbacks/for-merchant/',
      '/esim/v1/orders/',
      '/portal/cashbacks/',
      '/cashbacks/for-bank/',
    ])
      for (const partner of [merchant, alpha]) assert.equal((await partner.call('GET', path)).status, 404, path)
  })

  test('400 for parameters that nobody knows, also of operations without a token', async () => {
    for (const path of ['/getToken/auth', '/auth/login', '/portal/session', '/sandbox/clock'])
      assert.equal((await platform.call('POST', `${path}?nothing=1`, { body: {} })).status, 400, path)
    const issued = await platform.call('POST', '/admin/credentials', {
      token: platform.config.operatorKey,
      body: { bank: 'alpha', role: 'ADMIN' },
    })
    const { clientId, secret } = issued.body
    assert.equal((await platform.call('POST', '/getToken/auth', { body: { clientId, secret } })).status, 200)
    assert.equal((await platform.call('POST', '/getToken/auth?cb=1', { body: { clientId, secret } })).status, 400)
  })
})

suite('long answers', () => {
  test('details with many terminals, and the documents, are compressed', async () => {
    const terminals = Array.from({ length: 2_000 }, (_, index) => ({ terminal_id: `T-${index}` }))
    const id = await createCampaign(platform, { terminalsPlatform: false, terminals })
    const raw = (path: string, token: string) =>
      sendRawBytes(
        requestText('GET', path, { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip', connection: 'close' }),
      )
    for (const path of [`/cashbacks/for-merchant/${id}`, '/swagger/json', '/esim/v1/swagger/json']) {
      const { head, bytes } = await raw(path, merchant.token)
      assert.match(head, /content-encoding: gzip/i, path)
      assert.match(head, /vary: accept-encoding/i, path)
      assert.ok(JSON.parse(gunzipSync(bytes).toString()), path)
    }
  })

  test('HEAD does not run the audit', async () => {
    const { status } = await platform.call('HEAD', '/admin/audit', { token: platform.config.operatorKey })
    assert.equal(status, 405)
    const { body } = await platform.call('GET', '/admin/audit/last', { token: platform.config.operatorKey })
    assert.equal(body.last, null)
  })

  test('HEAD has the headers of GET, and no body', async () => {
    const names = ['content-type', 'content-encoding', 'vary', 'etag']
    const terminals = Array.from({ length: 2_000 }, (_, index) => ({ terminal_id: `T-${index}` }))
    const id = await createCampaign(platform, { terminalsPlatform: false, terminals })
    const long = `/cashbacks/for-merchant/${id}`
    for (const path of [long, '/swagger/json', '/retailers', '/cashbacks/for-bank', '/esim/v1/operators', '/nowhere'])
      for (const encoding of ['identity', 'gzip']) {
        const token = path === long ? merchant.token : bank.token
        const [get, head] = [await ask(token, 'GET', path, encoding), await ask(token, 'HEAD', path, encoding)]
        const what = `${path} with ${encoding}`
        assert.equal(head.bytes.length, 0, what)
        assert.deepEqual(head.values(names), get.values(names), what)
        // The length of a compressed text is known only after the compression, so HEAD may omit it.
        const [length] = head.values(['content-length'])
        if (length !== undefined) assert.deepEqual([length], get.values(['content-length']), what)
      }
  })

  test('304 has no body, and no length of one', async () => {
    for (const path of ['/retailers', '/cashbacks/for-bank']) {
      const [tag = ''] = (await ask(bank.token, 'GET', path, 'identity')).values(['etag'])
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(bank.token, method, path, 'identity', { 'if-none-match': tag })
        assert.match(answer.head, /^HTTP\/1.1 304/)
        assert.deepEqual(
          [answer.bytes.length, answer.values(['content-length'])],
          [0, [undefined]],
          `${method} ${path}`,
        )
      }
    }
  })

  async function ask(token: string, method: string, path: string, encoding: string, more: Record<string, string> = {}) {
    const own = { authorization: `Bearer ${token}`, 'accept-encoding': encoding, connection: 'close' }
    const { head, bytes } = await sendRawBytes(requestText(method, path, { ...own, ...more }))
    const values = (names: string[]) => names.map(name => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim())
    return { head, bytes, values }
  }

  async function sendRawBytes(request: string): Promise<{ head: string; bytes: Buffer }> {
    const socket = await openRaw(platform.url)
    const chunks: Buffer[] = []
    socket.on('data', chunk => chunks.push(chunk))
    socket.write(request)
    await once(socket, 'end')
    const all = Buffer.concat(chunks)
    const end = all.indexOf('\r\n\r\n')
    return { head: all.toString('latin1', 0, end), bytes: all.subarray(end + 4) }
  }
})

suite('where PUBLIC_URL is https', () => {
  let secure: TestPlatform
  before(async () => {
    secure = await platform.sibling({ PUBLIC_URL: 'https://perkline.example' })
  })
  after(() => secure.platform.close())

  test('every answer asks browsers to stay with https', async () => {
    const policy = 'max-age=31536000'
    for (const path of ['/health/live', '/nowhere', '/cashbacks/for-bank', '/swagger', '/app/', '/esim/v1/orders/%'])
      assert.equal((await secure.call('GET', path)).headers.get('strict-transport-security'), policy, path)
    assert.equal((await sendRaw(secure.url, 'x\r\n\r\n')).headers['strict-transport-security'], policy)
    assert.equal((await platform.call('GET', '/health/live')).headers.get('strict-transport-security'), null)
  })

  test('the session’s cookie is bound to the host', async () => {
    const body = { typeAccount: 'bank', login: 'olena', password: 'correct horse battery' }
    const added = await secure.call('POST', '/admin/users', {
      token: secure.config.operatorKey,
      body: { bank: 'alpha', role: 'ADMIN', login: body.login, password: body.password },
    })
    assert.equal(added.status, 201, added.text)
    const { headers } = await secure.call('POST', '/portal/session', { body })
    const [cookie = ''] = headers.getSetCookie()
    assert.match(cookie, /^__Host-perkline_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/)
    const pair = cookie.split(';', 1)[0] ?? ''
    assert.equal((await secure.call('GET', '/portal/session', { headers: { cookie: pair } })).status, 200)
    const unbound = pair.replace('__Host-', '')
    assert.equal((await secure.call('GET', '/portal/session', { headers: { cookie: unbound } })).status, 401)
  })
})
