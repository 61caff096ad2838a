/** The portal's session: a token in a cookie that no script can read, and what it permits. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { findEndedTokens } from '../../src/access/ended-token-store.ts'
import { disableUser, endToken } from '../../src/access/operations.ts'
import { type Answer, startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount, browserWith, cookieOf, openBrowser } from '../support/portal.ts'
import { tokensOf } from '../support/token-keys.ts'

let platform: TestPlatform
let sibling: TestPlatform
let bank: Account
let merchant: Account
let staff: Account
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
  sibling = await platform.sibling({ PUBLIC_URL: 'https://portal.example' })
  bank = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'editor')
  staff = await addAccount(platform, 'platform', 'viewer')
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const logIn = (body: object, headers: Record<string, string> = {}, at = platform) =>
  at.call('POST', '/portal/session', { body, headers })
const tokenIn = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)

function assertError(answer: Answer, statusCode: number): void {
  assert.equal(answer.status, statusCode, answer.text)
  const { code, ...fixed } = answer.body
  assert.deepEqual(Object.keys(fixed).sort(), ['error', 'message', 'statusCode'])
  assert.equal(typeof (code ?? answer.headers.get('perkline-error-code')), 'string')
}

suite('POST /portal/session', () => {
  test('200: who is logged in, and the token in the cookie alone', async () => {
    const banks = await platform.platform.database.query<{ bank_id: string }>(
      `select bank_id from banks where code = 'alpha'`,
    )
    const answer = await logIn(bank)
    assert.equal(answer.status, 200, answer.text)
    const { expiresAt, now, failedLogins, ...session } = answer.body
    assert.deepEqual(Object.keys(failedLogins).sort(), ['count', 'since'])
    assert.deepEqual(session, {
      typeAccount: 'bank',
      login: bank.login,
      role: 'ADMIN',
      id: banks[0]?.bank_id,
      name: 'Alpha Bank',
      nameEn: null,
    })
    const inMs = Date.parse(expiresAt) - Date.now()
    assert.ok(inMs > 7_190_000 && inMs <= 7_200_000, expiresAt)
    assert.ok(Math.abs(Date.parse(now) - Date.now()) < 10_000, now)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.ok(!answer.text.includes(tokenIn(cookieOf(answer)).slice(0, 20)), 'the token is in the body')
  })

  test('each kind of account by its name', async () => {
    const names = async (account: Account) => {
      const { body } = await logIn(account)
      return [body.typeAccount, body.role, body.name, typeof body.id]
    }
    assert.deepEqual(await names(merchant), ['retailer', 'editor', 'Гросер', 'string'])
    assert.deepEqual(await names(staff), ['platform', 'viewer', 'Perkline', 'object'])
  })

  test('wrong passwords since the login before are told, also later in the session; never by /auth/login', async () => {
    const account = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    const first = await logIn(account)
    assert.equal(first.body.failedLogins.count, 0)
    for (let index = 0; index < 3; index++) assertError(await logIn({ ...account, password: 'wrong' }), 401)
    const second = await logIn(account)
    assert.equal(second.body.failedLogins.count, 3)
    const since = Date.parse(second.body.failedLogins.since)
    assert.ok(since > Date.parse(first.body.failedLogins.since) && since <= Date.now(), second.text)
    const read = await browserWith(platform, cookieOf(second)).call('GET', '/portal/session')
    assert.deepEqual(read.body.failedLogins, second.body.failedLogins)
    const token = await platform.call('POST', '/auth/login', { body: account })
    assert.deepEqual(Object.keys(token.body).sort(), ['access_token', 'expire'])
    const system = await platform.call('GET', '/portal/session', { token: await platform.bankToken() })
    assert.equal(system.body.failedLogins, null)
  })

  test('the cookie: HttpOnly, SameSite=Strict, the whole site, two hours; Secure where PUBLIC_URL is https', async () => {
    const attributes = (answer: Answer) => {
      const [cookie = '', ...others] = answer.headers.getSetCookie()
      assert.deepEqual(others, [])
      const [pair = '', ...attributes] = cookie.split('; ')
      assert.match(pair, /^(?:__Host-)?perkline_session=[\w-]+\.[\w-]+\.[\w-]+$/)
      return attributes
    }
    const plain = ['Path=/', 'Max-Age=7200', 'HttpOnly', 'SameSite=Strict']
    assert.deepEqual(attributes(await logIn(bank)), plain)
    assert.deepEqual(attributes(await logIn(bank, {}, sibling)), [...plain, 'Secure'])
  })

  test('the same faults as POST /auth/login, one by one', async () => {
    for (const body of [
      { ...bank, password: 'wrong' },
      { ...bank, login: 'nobody' },
      { ...bank, typeAccount: 'retailer' },
      { ...bank, typeAccount: 'everyone' },
      { ...bank, remember: true },
      {},
    ]) {
      const [here, there] = [await logIn(body), await platform.call('POST', '/auth/login', { body })]
      const { code, rules: _, ...contract } = here.body
      assert.deepEqual([here.status, contract], [there.status, there.body])
      assert.equal(code, there.headers.get('perkline-error-code'))
      assert.deepEqual(here.headers.getSetCookie(), [])
    }
  })

  test('429 with the failures of both counted together', async () => {
    const [headers, home] = [{ 'x-forwarded-for': '198.51.100.7' }, { 'x-forwarded-for': '198.51.100.8' }]
    assert.equal((await logIn(merchant, home)).status, 200)
    for (let index = 0; index < 5; index++) {
      const body = { ...merchant, password: `wrong ${index}` }
      const path = index % 2 === 0 ? '/portal/session' : '/auth/login'
      assertError(await platform.call('POST', path, { body, headers }), 401)
    }
    const answer = await logIn(merchant, headers)
    assertError(answer, 429)
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    assert.equal((await logIn(merchant, home)).status, 200, 'where the user got in before nothing changes')
  })

  test('403 from a page of another site, which might log people in as somebody else', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, { origin: 'null' }])
      assertError(await logIn(bank, headers), 403)
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: platform.url }])
      assert.equal((await logIn(bank, headers)).status, 200)
  })
})

suite('GET /portal/session', () => {
  test('200 with the cookie, and with a bearer token', async () => {
    const opened = await logIn(merchant)
    const byCookie = await browserWith(platform, cookieOf(opened)).call('GET', '/portal/session')
    const { now } = byCookie.body
    assert.ok(now >= opened.body.now)
    assert.deepEqual([byCookie.status, byCookie.body], [200, { ...opened.body, now }])
    assert.equal(byCookie.headers.get('cache-control'), 'no-store')
    const byToken = await platform.call('GET', '/portal/session', { token: await platform.merchantToken() })
    assert.deepEqual([byToken.body.typeAccount, byToken.body.role], ['retailer', 'gateway'])
    assert.match(byToken.body.login, /^pk_/)
  })

  test('401 without a session, with an altered, a doubled and an expired one', async () => {
    const cookie = cookieOf(await logIn(merchant))
    const { caller } = (await tokensOf(platform)).read(tokenIn(cookie)) ?? {}
    assert.ok(caller)
    await platform.platform.database.execute(`update token_keys set signs_from = signs_from - interval '3 hours'`)
    const old = (await tokensOf(platform, () => Date.now() - 7_206_000)).issue(caller).token
    for (const wrong of ['', `${cookie}x`, `${cookie}; ${cookie}`, `other=1; x${cookie}`, `perkline_session=${old}`])
      assertError(await browserWith(platform, wrong).call('GET', '/portal/session'), 401)
    for (const right of [`other=1; ${cookie}`, `${cookie};other=1`, ` ${cookie} ; a=b=c`])
      assert.equal((await browserWith(platform, right).call('GET', '/portal/session')).status, 200, right)
  })

  test('401 for a cookie beside any Authorization header: that one counts', async () => {
    const browser = browserWith(platform, cookieOf(await logIn(merchant)))
    for (const authorization of ['Bearer wrong', 'Basic eDp5', ''])
      assertError(await browser.call('GET', '/portal/session', { headers: { authorization } }), 401)
  })

  test('401 once the user is disabled', async () => {
    const account = await addAccount(platform, { bank: 'beta' }, 'EDITOR')
    const browser = browserWith(platform, cookieOf(await logIn(account)))
    assert.equal((await browser.call('GET', '/portal/session')).status, 200)
    await disableUser({ database: platform.platform.database }, account.login)
    await platform.platform.deps.admin.refusals.refresh()
    assertError(await browser.call('GET', '/portal/session'), 401)
  })
})

suite('DELETE /portal/session', () => {
  test('204 clears the cookie, and its token opens nothing any more, here and in other processes', async () => {
    const cookie = cookieOf(await logIn(bank))
    const browser = browserWith(platform, cookie)
    const answer = await browser.call('DELETE', '/portal/session')
    assert.deepEqual([answer.status, answer.text], [204, ''])
    assert.deepEqual(answer.headers.getSetCookie(), ['perkline_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict'])
    assertError(await browser.call('GET', '/portal/session'), 401)
    const token = tokenIn(cookie)
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 401)
    await sibling.platform.deps.admin.refusals.refresh()
    assert.equal((await sibling.call('GET', '/esim/v1/operators', { token })).status, 401)
  })

  test('a person’s bearer token is ended; a system’s is not: 403, and in the cookie it is no session', async () => {
    const account = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    const { body } = await platform.call('POST', '/auth/login', { body: account })
    const token = body.access_token
    assert.equal((await platform.call('DELETE', '/portal/session', { token })).status, 204)
    for (const at of [platform, sibling]) {
      await at.platform.deps.admin.refusals.refresh()
      assert.equal((await at.call('GET', '/esim/v1/operators', { token })).status, 401)
    }
    const system = await platform.bankToken()
    assertError(await platform.call('DELETE', '/portal/session', { token: system }), 403)
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token: system })).status, 200)
    const inCookie = browserWith(platform, `perkline_session=${system}`)
    for (const [method, path] of [
      ['DELETE', '/portal/session'],
      ['GET', '/portal/session'],
      ['GET', '/esim/v1/operators'],
    ] as const)
      assert.equal((await inCookie.call(method, path)).status, 401, path)
  })

  test('only newly ended tokens are read, and none is read twice', async () => {
    const { database } = platform.platform
    const expiresAt = new Date(Date.now() + 60_000)
    await endToken({ database }, { id: 'ended-first', expiresAt })
    const [first] = await findEndedTokens(database, 0)
    assert.ok(first)
    const read = async () => (await findEndedTokens(database, 0)).at(-1)?.number ?? 0
    const last = await read()
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => endToken({ database }, { id: `ended-${index}`, expiresAt })),
    )
    const news = await findEndedTokens(database, last)
    assert.equal(news.length, 20)
    assert.deepEqual(await findEndedTokens(database, await read()), [])
  })

  test('other sessions of the same user live on', async () => {
    const [first, second] = [await logIn(bank), await logIn(bank)].map(answer =>
      browserWith(platform, cookieOf(answer)),
    )
    assert.equal((await first?.call('DELETE', '/portal/session'))?.status, 204)
    assert.equal((await second?.call('GET', '/portal/session'))?.status, 200)
  })

  test('204 without a session, and again', async () => {
    const browser = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
    for (const at of [browser, browser, browserWith(platform, ''), browserWith(platform, 'perkline_session=x')])
      assert.equal((await at.call('DELETE', '/portal/session')).status, 204)
  })

  test('403 from elsewhere: the session goes on', async () => {
    const browser = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
    assertError(await browser.call('DELETE', '/portal/session', { headers: { 'sec-fetch-site': 'cross-site' } }), 403)
    assert.equal((await browser.call('GET', '/portal/session')).status, 200)
  })

  test('expired tokens are not stored as ended', async () => {
    const { database } = platform.platform
    await endToken({ database }, { id: 'long-ago', expiresAt: new Date(Date.now() - 120_000) })
    await endToken({ database }, { id: 'now', expiresAt: new Date(Date.now() + 1000) })
    const rows = await database.query<{ id: string }>(
      `select token_id as id from ended_tokens where token_id in ('long-ago', 'now')`,
    )
    assert.deepEqual(rows, [{ id: 'now' }])
  })
})

suite('a request with the cookie', () => {
  const reserve = (origin: Record<string, string>, cookie: string) =>
    platform.call('POST', '/esim/v1/orders', {
      body: { operatorCode: 'kyivstar', tariffCode: 'empty', externalId: 'x' },
      headers: { cookie, ...origin },
    })

  test('reads what a bearer token reads', async () => {
    const browser = await openBrowser(platform, { bank: 'alpha' }, 'ADMIN')
    assert.equal((await browser.call('GET', '/esim/v1/operators')).status, 200)
    const shop = await openBrowser(platform, { merchant: 'grocer' }, 'viewer')
    assert.equal((await shop.call('GET', '/esim/v1/operators')).status, 403)
  })

  test('changes something only from the platform’s own pages', async () => {
    const { cookie } = await openBrowser(platform, { bank: 'alpha' }, 'ADMIN')
    const own = new URL(platform.url).host
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: platform.url }] as Record<string, string>[])
      assert.equal((await reserve(headers, cookie)).status, 503, JSON.stringify(headers))
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: platform.url },
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: `https://${own}` },
      { origin: `${platform.url}.evil.example` },
    ] as Record<string, string>[])
      assert.equal((await reserve(headers, cookie)).status, 403, JSON.stringify(headers))
  })

  test('behind a proxy the page’s origin is that of PUBLIC_URL', async () => {
    const cookie = cookieOf(await logIn(bank, {}, sibling))
    const change = (origin: string) => sibling.call('DELETE', '/portal/session', { headers: { cookie, origin } })
    assert.equal((await change('https://portal.example.evil.example')).status, 403)
    assert.equal((await change('https://portal.example')).status, 204)
  })

  test('401 comes before 403, so that a page of another site cannot find out whether there is a session', async () => {
    assert.equal((await reserve({ 'sec-fetch-site': 'cross-site' }, 'perkline_session=x')).status, 401)
  })

  test('a bearer token needs no such proof', async () => {
    const token = await platform.bankToken()
    const answer = await platform.call('POST', '/esim/v1/orders', {
      token,
      body: { operatorCode: 'kyivstar', tariffCode: 'empty', externalId: 'y' },
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    assert.equal(answer.status, 503)
  })
})
