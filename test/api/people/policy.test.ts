/** The policy of an account (contract/people.md, "Policy of an account"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { callerWith, codeOf, openPerson, type Person } from '../../support/people.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { browserWith, cookieOf } from '../../support/portal.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ TRUSTED_PROXIES: '127.0.0.1' })
})
after(() => platform.close())

const accountOf = ({ typeAccount, login, password }: Person) => ({ typeAccount, login, password })
const at = (address: string) => ({ 'x-forwarded-for': address })
const openSession = (person: Person, headers = {}): Promise<Answer> =>
  platform.call('POST', '/portal/session', { body: accountOf(person), headers })
const logIn = (person: Person, otp?: string): Promise<Answer> =>
  platform.call('POST', '/auth/login', { body: { ...accountOf(person), ...(otp && { otp }) } })

suite('a policy', () => {
  const policy = { mfa: 'optional', sessionMinutes: 120, addresses: { people: [], systems: [] } }

  test('the defaults, and what is refused', async () => {
    const manager = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    assert.deepEqual((await manager.call('GET', '/portal/security-policy')).body, policy)
    const wrong = [
      { ...policy, mfa: 'never' },
      { ...policy, sessionMinutes: 14 },
      { ...policy, sessionMinutes: 121 },
      { ...policy, addresses: { people: ['10.0.0.0/33'], systems: [] } },
      { ...policy, addresses: { people: [], systems: ['example.com'] } },
      { ...policy, addresses: { people: [], systems: Array(101).fill('10.0.0.0/8') } },
      { ...policy, addresses: { people: ['10.0.0.0/8'], systems: [] } },
      { mfa: 'optional' },
    ]
    for (const body of wrong)
      assert.equal((await manager.call('PUT', '/portal/security-policy', body)).status, 400, JSON.stringify(body))
  })

  test('PLATFORM_MFA=off is off for the platform’s people as long as they have set no policy', async () => {
    const off = await startPlatform({ PLATFORM_MFA: 'off' })
    try {
      const staff = await openPerson(off, 'platform', 'admin')
      assert.equal((await staff.call('GET', '/portal/security-policy')).body.mfa, 'off')
      const begun = await staff.call('POST', '/portal/mfa/totp')
      assert.deepEqual([begun.status, begun.body.code], [409, 'conflict'])
      await off.platform.database.execute('update portal_users set has_factor = true where user_id = $1', [
        staff.userId,
      ])
      const { typeAccount, login, password } = staff
      const body = { typeAccount, login, password }
      assert.equal((await off.call('POST', '/auth/login', { body })).status, 200)
      assert.equal((await off.call('POST', '/portal/session', { body })).status, 200)
    } finally {
      await off.close()
    }
  })

  test('sessionMinutes bounds tokens, and expire tells it', async () => {
    const manager = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    const body = { ...policy, sessionMinutes: 15 }
    assert.deepEqual((await manager.call('PUT', '/portal/security-policy', body)).body, body)
    const login = await logIn(manager)
    assert.equal(login.body.expire, '900')
    const claims = JSON.parse(Buffer.from(login.body.access_token.split('.')[1], 'base64url').toString())
    assert.equal(claims.exp - claims.iat, 900)
    assert.match((await openSession(manager)).headers.get('set-cookie') ?? '', /Max-Age=900;/)
  })

  test('a change from a state that somebody else has changed since: 412, and nothing is overwritten', async () => {
    const manager = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    const colleague = await openPerson(platform, { merchant: 'voltshop' }, 'admin_user')
    const path = '/portal/security-policy'
    const policy = { mfa: 'optional', sessionMinutes: 90, addresses: { people: [], systems: [] } }
    const { headers } = await manager.call('GET', path)
    const seen = { 'if-match': String(headers.get('etag')) }
    const saved = await colleague.call('PUT', path, policy, seen)
    assert.equal(saved.status, 200, saved.text)
    const late = await manager.call('PUT', path, { ...policy, sessionMinutes: 30 }, seen)
    assert.deepEqual([late.status, late.body.code], [412, 'stale'])
    const unquoted = { 'if-match': String(saved.headers.get('etag')).replaceAll('"', '') }
    const refused = await manager.call('PUT', path, { ...policy, sessionMinutes: 30 }, unquoted)
    assert.equal(refused.status, 412)
    assert.match(refused.body.message, /or If-Match is not the quoted tag of a version: read it again$/)
    const read = await manager.call('GET', path)
    assert.deepEqual([read.body, read.headers.get('etag')], [policy, saved.headers.get('etag')])
    const current = { 'if-match': String(saved.headers.get('etag')) }
    const both = await Promise.all(
      [40, 50].map(sessionMinutes => manager.call('PUT', path, { ...policy, sessionMinutes }, current)),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412], 'one of two at once')
    assert.equal((await manager.call('PUT', path, policy)).status, 200, 'without the header as ever')
  })

  test('required: without a factor nothing but setting one up', async () => {
    const manager = await openPerson(platform, { bank: 'gamma' }, 'ADMIN')
    const person = await openPerson(platform, { bank: 'gamma' }, 'EDITOR')
    const sibling = await platform.sibling()
    try {
      const body = { ...policy, mfa: 'required' }
      assert.equal((await manager.call('PUT', '/portal/security-policy', body)).status, 200)
      const needed = await logIn(person)
      assert.deepEqual([needed.status, needed.headers.get('perkline-error-code')], [401, 'mfa-needed'])
      const live = await person.call('GET', '/retailers')
      assert.deepEqual([live.status, live.headers.get('perkline-error-code')], [401, 'mfa-needed'])
      const entered = await openSession(person)
      assert.equal(entered.status, 200)
      const browser = browserWith(platform, cookieOf(entered))
      assert.equal((await browser.call('GET', '/portal/session')).status, 200)
      assert.equal((await browser.call('GET', '/portal/sessions')).status, 200)
      assert.equal((await browser.call('GET', '/portal/home')).body.code, 'mfa-needed')
      assert.equal((await browserWith(sibling, cookieOf(entered)).call('GET', '/portal/home')).status, 401)
      const { secret } = (await browser.call('POST', '/portal/mfa/totp')).body
      const confirmed = await browser.call('POST', '/portal/mfa/totp/confirm', { body: { code: codeOf(secret, -1) } })
      assert.equal(confirmed.status, 200, confirmed.text)
      assert.equal((await browser.call('GET', '/portal/home')).status, 200)
      assert.equal((await logIn(person, codeOf(secret))).status, 200)
      // The policy does not apply to the account's systems.
      assert.equal((await platform.call('GET', '/retailers', { token: await platform.bankToken('gamma') })).status, 200)
    } finally {
      await sibling.close()
    }
  })

  test('address lists: at the issue of tokens and at every request, in every process; the way back', async () => {
    const manager = await openPerson(platform, { merchant: 'grocer' }, 'admin_user')
    const system = await platform.merchantToken()
    const sibling = await platform.sibling()
    try {
      const lists = { people: ['203.0.113.0/24', '2001:db8::/32'], systems: ['192.0.2.7'] }
      const body = { ...policy, addresses: lists }
      assert.equal((await manager.call('PUT', '/portal/security-policy', body)).status, 400)
      assert.equal((await manager.call('PUT', '/portal/security-policy', { ...body, force: true })).status, 200)
      const outside = await manager.call('GET', '/portal/users')
      assert.deepEqual([outside.status, outside.body.code], [403, 'address-not-allowed'])
      let there = await sibling.call('GET', '/cashbacks/for-merchant', { token: system })
      for (const endsAt = Date.now() + 10_000; there.status === 200 && Date.now() < endsAt; )
        there = await sibling.call('GET', '/cashbacks/for-merchant', { token: system })
      assert.deepEqual([there.status, there.headers.get('perkline-error-code')], [403, 'address-not-allowed'])
      for (const address of ['203.0.113.9', '2001:db8::1'])
        assert.equal((await manager.call('GET', '/portal/users', undefined, at(address))).status, 200)
      const wrong = await platform.call('POST', '/auth/login', { body: { ...accountOf(manager), password: 'wrong' } })
      const login = await logIn(manager)
      assert.deepEqual([login.status, login.body], [401, wrong.body])
      const inside = at('203.0.113.9')
      assert.equal(
        (await platform.call('POST', '/auth/login', { body: accountOf(manager), headers: inside })).status,
        200,
      )

      const operator = callerWith(platform, platform.config.operatorKey)
      const read = await operator('GET', '/admin/security-policy?merchant=grocer')
      assert.deepEqual(read.body.addresses, lists)
      const off = await operator('POST', '/admin/security-policy/addresses-off', { merchant: 'grocer' })
      assert.deepEqual([off.status, off.body.addresses], [200, { people: [], systems: [] }])
      assert.equal((await manager.call('GET', '/portal/users')).status, 200)
      assert.equal((await logIn(manager)).status, 200)
    } finally {
      await sibling.close()
    }
  })

  test('a system outside gets no token, answered as for a wrong secret', async () => {
    const manager = await openPerson(platform, { bank: 'beta' }, 'ADMIN')
    const issued = (await manager.call('POST', '/portal/credentials', { role: 'VIEWER' })).body
    const body = { ...policy, addresses: { people: [], systems: ['192.0.2.0/24'] } }
    assert.equal((await manager.call('PUT', '/portal/security-policy', body)).status, 200)
    const outside = await platform.call('POST', '/getToken/auth', { body: issued })
    const wrong = await platform.call('POST', '/getToken/auth', { body: { ...issued, secret: 'wrong' } })
    assert.deepEqual([outside.status, outside.body], [400, wrong.body])
    const inside = await platform.call('POST', '/getToken/auth', { body: issued, headers: at('192.0.2.9') })
    assert.equal(inside.status, 200)
  })
})
