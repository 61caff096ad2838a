/** How many requests one account or address may send to each API (contract/limits.md, "Requests"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createLocalRateLimiter, type Decision } from '../../../src/http/limits/rate-limit.ts'
import { addressPrefixes, addressUnit } from '../../../src/text/addresses.ts'
import { assertRefused } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

/** How many requests may come at once. After these, only one more request each second is allowed. */
const burst = 5
const settings = { API_RATE_LIMIT: `1/${burst}`, TRUSTED_PROXIES: '127.0.0.1' }

const statuses = (answers: Answer[]) => answers.map(({ status }) => status)
/**
 * Sends requests until the burst is used up, whatever the answers are.
 * @returns the refusal
 */
async function untilRefused(ask: () => Promise<Answer>): Promise<Answer> {
  for (let asked = 0; asked < 50; asked++) {
    const answer = await ask()
    if (answer.status === 429) {
      assert.ok(asked >= burst, `refused after ${asked}`)
      return answer
    }
  }
  return assert.fail('50 requests were let through')
}

suite('the limit of each account', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await startPlatform(settings)
  })
  after(() => platform.close())
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('beyond the burst it is 429 with Retry-After, over all credentials of the account; others are not touched', async () => {
    const [one, two, other] = [await platform.bankToken(), await platform.bankToken(), await platform.bankToken('beta')]
    let turn = 0
    const refused = await untilRefused(() => platform.call('GET', '/retailers', { token: turn++ % 2 ? one : two }))
    assertRefused(refused, 429)
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    assert.equal(refused.headers.get('ratelimit-policy'), `"account";q=${burst};w=${burst}`)
    assert.match(refused.headers.get('ratelimit') ?? '', /^"account";r=0;t=\d+$/)
    assert.equal((await platform.call('GET', '/retailers', { token: other })).status, 200)
  })

  test('each API has a bucket of its own', async () => {
    const token = await platform.bankToken('gamma')
    await untilRefused(() => platform.call('GET', '/retailers', { token }))
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 200)
    await untilRefused(() => platform.call('GET', '/portal/home', { token }))
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 200)
  })

  test('it comes after 401 and 403, and before the form', async () => {
    const token = await platform.merchantToken()
    const path = '/cashbacks/for-merchant'
    await untilRefused(() => platform.call('GET', `${path}?page=x`, { token }))
    assert.equal((await platform.call('POST', path, { token, raw: '{' })).status, 429)
    const headers = { 'idempotency-key': '' }
    assert.equal((await platform.call('POST', path, { token, body: {}, headers })).status, 429)
    assert.equal((await platform.call('GET', '/retailers', { token })).status, 403)
    assert.equal((await platform.call('GET', path, { token: 'none' })).status, 401)
  })

  test('the end of a session counts for its account; without a session the address counts', async () => {
    const token = await platform.bankToken('beta')
    const end = (headers = {}) => platform.call('DELETE', '/portal/session', headers)
    const byToken = await untilRefused(() => end({ token, headers: from('192.0.2.1') }))
    assert.match(byToken.headers.get('ratelimit-policy') ?? '', /^"account"/)
    const byAddress = await end({ headers: from('192.0.2.1') })
    assert.equal(byAddress.status, 204)
    assert.match(byAddress.headers.get('ratelimit-policy') ?? '', /^"address"/)
  })

  test('the operator’s key is one account', async () => {
    const token = platform.config.operatorKey
    assertRefused(await untilRefused(() => platform.call('GET', '/admin/partners', { token })), 429)
  })

  test('without a token the address counts, of IPv6 its /64; health, the portal’s pages and the documentation do not', async () => {
    const login = (address: string) => platform.call('POST', '/auth/login', { raw: '{}', headers: from(address) })
    assertRefused(await untilRefused(() => login('2001:db8::1')), 429)
    assert.equal((await login('2001:db8::ffff:2')).status, 429)
    assert.equal((await login('2001:db8:0:1::1')).status, 400)
    for (const path of ['/health/live', '/health/ready', '/swagger/json', '/esim/v1/swagger/json', '/app/']) {
      const answers = await Promise.all(
        Array.from({ length: 3 * burst }, () => platform.call('GET', path, { headers: from('2001:db8::1') })),
      )
      assert.ok(!statuses(answers).includes(429), path)
    }
  })
})

test('processes share the buckets of accounts and APIs by their keys', () => {
  const limiter = createLocalRateLimiter({ perSecond: 1, burst: 1 }, () => 0)
  const take = (key: string) => (limiter.take(key) as Decision).allowed
  assert.deepEqual(['portal:bank:1', 'cashback:bank:1', 'portal:bank:1'].map(take), [true, true, false])
})

test('an address that is not seen any more takes no memory', () => {
  let nowMs = 0
  const buckets = new Map<string, number>()
  const limiter = createLocalRateLimiter({ perSecond: 1, burst: 2 }, () => nowMs, buckets)
  for (let index = 0; index < 100_000; index++) {
    nowMs += 1
    limiter.take(`address:2001:db8:${index.toString(16)}`)
  }
  assert.ok(buckets.size <= 10_000, `${buckets.size}`)
})

test('addresses count as those do who have them: IPv4 by itself, IPv6 by /64', () => {
  const units: Record<string, string> = {
    '192.0.2.7': '192.0.2.7',
    '::ffff:192.0.2.7': '192.0.2.7',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:0DB8:0000:0000:ffff::2': '2001:db8:0:0::/64',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '::1': '0:0:0:0::/64',
    '1::': '1:0:0:0::/64',
    '192.0.2.7:50123': '192.0.2.7',
    '[2001:db8:1:2::3]:50123': '2001:db8:1:2::/64',
  }
  for (const [address, unit] of Object.entries(units)) assert.equal(addressUnit(address), unit, address)
  assert.deepEqual(addressPrefixes('192.0.2.7'), ['192.0.2.0/24', '192.0.2.7'])
  assert.deepEqual(addressPrefixes('2001:db8:1:2::1'), ['2001:db8:1::/48', '2001:db8:1:2::/64'])
})
