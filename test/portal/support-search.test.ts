/**
 * Support finds an order by the customer's number or by the ICCID: exact matches only, each bank only its own orders,
 * and nothing is logged.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { createLogger } from '../../src/log.ts'
import { type Bank, openBank } from '../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Browser, openBrowser } from '../support/portal.ts'

const logged: string[] = []
let platform: TestPlatform
let bank: Bank
let viewer: Browser
let alpha: Browser
let beta: Browser
const [, ...profiles] = [...profileLines({ count: 20, seed: 77 })].map(line => {
  const [iccid = '', msisdn = ''] = line.split(',')
  return { iccid, msisdn }
})

before(async () => {
  const logger = createLogger('trace', { write: line => void logged.push(line) })
  platform = await startPlatform({}, { logger })
  viewer = await openBrowser(platform, 'platform', 'viewer')
  alpha = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
  beta = await openBrowser(platform, { bank: 'beta' }, 'ADMIN')
  bank = await openBank(platform)
  const csv = [...profileLines({ count: 20, seed: 77 })].join('')
  const loaded = await platform.call('POST', '/admin/profiles?operator=kyivstar&tariff=eu-10gb', {
    token: platform.config.operatorKey,
    raw: csv,
    headers: { 'content-type': 'text/csv' },
  })
  assert.equal(loaded.status, 200, loaded.text)
})
after(() => platform.close())

const search = (browser: Browser, body: object): Promise<Answer> =>
  browser.call('POST', browser === viewer ? '/admin/orders/search' : '/portal/esim/orders/search', { body })
const found = async (browser: Browser, body: object): Promise<string[]> => {
  const answer = await search(browser, body)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.nextCursor, null)
  return answer.body.data.map(({ orderId }: { orderId: string }) => orderId)
}
const iccidOf = (msisdn: string): string => {
  const profile = profiles.find(each => each.msisdn === msisdn)
  assert.ok(profile)
  return profile.iccid
}

suite('an order', () => {
  test('is found by its number, with or without +, and by its ICCID: by the operator and by its own bank', async () => {
    const { orderId, msisdn } = (await bank.reserve('found-1')).body
    const bodies = [{ msisdn }, { msisdn: msisdn.slice(1) }, { iccid: iccidOf(msisdn) }]
    for (const state of ['reserved', 'confirmed']) {
      if (state === 'confirmed') assert.equal((await bank.confirm(orderId)).status, 200)
      for (const body of bodies)
        for (const browser of [viewer, alpha])
          assert.deepEqual(await found(browser, body), [orderId], JSON.stringify(body))
    }
    const { body } = await search(viewer, bodies[0] ?? {})
    assert.deepEqual([body.data[0].bank.code, body.data[0].msisdn, body.data[0].status], ['alpha', msisdn, 'confirmed'])
    assert.equal('iccid' in body.data[0], false)
  })

  test('is not found by another bank, nor by a part of the number or the ICCID', async () => {
    const { msisdn } = (await bank.reserve('found-2')).body
    const iccid = iccidOf(msisdn)
    for (const body of [{ msisdn }, { iccid }]) assert.deepEqual(await found(beta, body), [])
    for (const body of [{ msisdn: msisdn.slice(0, -1) }, { iccid: iccid.slice(0, -1) }])
      assert.deepEqual(await found(viewer, body), [])
  })

  test('is not found once it has given its profile back: the number may be another customer’s then', async () => {
    const { orderId, msisdn } = (await bank.reserve('found-3')).body
    assert.equal((await bank.cancel(orderId)).status, 200)
    for (const browser of [viewer, alpha]) assert.deepEqual(await found(browser, { msisdn }), [])
  })
})

test('a profile that the operator has withdrawn is not found as an order', async () => {
  const iccid = profiles.at(-1)?.iccid ?? ''
  const withdrawn = await platform.call('POST', '/admin/profiles/withdraw', {
    token: platform.config.operatorKey,
    body: { iccids: [iccid] },
  })
  assert.equal(withdrawn.body.withdrawn, 1)
  assert.deepEqual(await found(viewer, { iccid }), [])
})

test('400 for neither, both, and what is no number or ICCID; the answer does not repeat it', async () => {
  const [one] = profiles
  for (const body of [
    {},
    one ?? {},
    { msisdn: '12 34' },
    { msisdn: '+0123' },
    { iccid: '123' },
    { iccid: '8x', other: 1 },
  ])
    for (const browser of [viewer, alpha]) {
      const answer = await search(browser, body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      for (const value of Object.values(body))
        assert.ok(!answer.text.includes(String(value)) || String(value).length < 3)
    }
})

test('a merchant, nobody, and a page of another site search nothing', async () => {
  const merchant = await openBrowser(platform, { merchant: 'grocer' }, 'admin_user')
  const body = { msisdn: '+380671234567' }
  assert.equal((await merchant.call('POST', '/portal/esim/orders/search', { body })).status, 403)
  assert.equal((await merchant.call('POST', '/admin/orders/search', { body })).status, 403)
  for (const path of ['/portal/esim/orders/search', '/admin/orders/search'])
    assert.equal((await platform.call('POST', path, { body })).status, 401)
  const foreign = { 'sec-fetch-site': 'cross-site' }
  assert.equal((await alpha.call('POST', '/portal/esim/orders/search', { body, headers: foreign })).status, 403)
})

test('a viewer of the platform still changes nothing', async () => {
  const answer = await viewer.call('POST', '/admin/profiles/withdraw', { body: { iccids: ['1'] } })
  assert.equal(answer.status, 403)
})

test('both searches go by an index, whatever the number of profiles and orders', async () => {
  const plans = []
  const { database } = platform.platform
  await database.execute('analyze profiles')
  await database.execute('analyze orders')
  for (const condition of [`msisdn = '+99900770000001'`, `iccid_hash = '\\x00'`]) {
    const rows = await database.transaction(async transaction => {
      await transaction.execute('set local enable_seqscan = off')
      return transaction.query<{ 'QUERY PLAN': string }>(
        `explain select * from orders where profile_id = any(array(select profile_id from profiles where ${condition} limit 100))
           and status in ('reserved', 'confirmed', 'withdrawn') and (status <> 'reserved' or reserved_until > now()) offset 0`,
      )
    })
    plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
  }
  for (const plan of plans) assert.match(plan, /orders_live_profile_key/)
  assert.match(plans[0] ?? '', /profiles_msisdn_index/)
  assert.match(plans[1] ?? '', /profiles_iccid_hash_key/)
})

test('neither number nor ICCID is in the log', () => {
  const log = logged.join('')
  assert.ok(log.includes('/admin/orders/search'))
  for (const { iccid, msisdn } of profiles) assert.ok(!log.includes(iccid) && !log.includes(msisdn.slice(1)))
})
