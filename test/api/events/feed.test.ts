/**
 * The feed as partners read it: pages, filters, long polls, and how they learn that it has started anew or lost its
 * beginning.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
let merchant: string

before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 50)
  bank = await openBank(platform)
  merchant = await platform.merchantToken('grocer')
})
after(() => platform?.close())

const feed = (query = '', token = bank.token) => platform.call('GET', `/partner/v1/events${query}`, { token })
const settle = () => platform.call('POST', '/sandbox/clock', { body: { advance: 'PT0.001S' } })
async function sell(externalId: string): Promise<string> {
  const { orderId } = (await bank.reserve(externalId)).body
  assert.equal((await bank.confirm(orderId)).status, 200)
  return orderId
}

describe('the feed', () => {
  test('page by page every event comes once, with the same bytes as alone', async () => {
    for (let n = 0; n < 10; n++) await sell(`page-${n}`)
    await settle()
    const all = (await feed()).body
    assert.ok(all.lastSequence >= 10)
    assert.equal(all.oldestSequence, 1)
    assert.equal(all.hasMore, false)
    const seen = []
    let page = (await feed('?limit=3')).body
    while (true) {
      seen.push(...page.data)
      if (!page.hasMore) break
      page = (await feed(`?limit=3&after=${page.nextAfter}&feedId=${page.feedId}`)).body
    }
    assert.deepEqual(seen, all.data)
    const one = await platform.call('GET', `/partner/v1/events/${seen[2].id}`, { token: bank.token })
    assert.equal(one.text, JSON.stringify(seen[2]))
    assert.equal(one.headers.get('cache-control'), 'no-store')
    assert.equal((await platform.call('GET', `/partner/v1/events/${seen[2].id}`, { token: merchant })).status, 404)
    assert.equal(
      (await platform.call('GET', `/partner/v1/events/${crypto.randomUUID()}`, { token: bank.token })).status,
      404,
    )
  })

  test('filters name what was looked at; unknown types and parameters are 400', async () => {
    const confirmed = (await feed('?type=order.confirmed')).body
    assert.equal(confirmed.data.length, 10)
    assert.equal(confirmed.nextAfter, confirmed.lastSequence)
    const some = (await feed('?type=order.*,credential.issued&type=order.confirmed&limit=11')).body
    assert.equal(some.data.length, 11)
    for (const query of [
      '?type=order',
      '?type=order.made',
      '?after=-1',
      '?after=x',
      '?limit=0',
      '?limit=1001',
      '?wait=31',
      '?x=1',
      '?feedId=x',
    ])
      assert.equal((await feed(query)).status, 400, query)
    const end = (await feed('?after=now&wait=30')).body
    assert.deepEqual([end.data, end.nextAfter], [[], end.lastSequence])
  })

  test('a long poll is answered when an event that fits is there', async () => {
    const { nextAfter } = (await feed('?after=now')).body
    const began = performance.now()
    const waiting = feed(`?after=${nextAfter}&wait=20&type=order.cancelled`)
    await sell('poll-1')
    const { orderId } = (await bank.reserve('poll-2')).body
    await bank.cancel(orderId)
    const { body } = await waiting
    assert.deepEqual(
      body.data.map((event: { type: string }) => event.type),
      ['order.cancelled'],
    )
    assert.ok(performance.now() - began < 5_000)
    const empty = (await feed('?after=now')).body
    assert.deepEqual((await feed(`?after=${empty.nextAfter}&wait=1`)).body.data, [])
  })

  test('a request whose access was taken away while it waited gets nothing', async () => {
    const issued = await platform.call('POST', '/admin/credentials', {
      token: platform.config.operatorKey,
      body: { bank: 'alpha', role: 'ADMIN', label: 'leaving' },
    })
    const { clientId, secret } = issued.body
    const token = (await platform.call('POST', '/getToken/auth', { body: { clientId, secret } })).body.access_token
    const { nextAfter } = (await feed('?after=now', token)).body
    const waiting = feed(`?after=${nextAfter}&wait=20&type=order.confirmed`, token)
    await sleep(300)
    const revoked = await platform.call('POST', `/admin/credentials/${clientId}/revoke`, {
      token: platform.config.operatorKey,
    })
    assert.equal(revoked.status, 200, revoked.text)
    await sell('after-revocation')
    const { status, body } = await waiting
    assert.deepEqual([status, body.code], [401, 'unauthenticated'])
  })

  test('four requests of an account wait, the fifth is 429; a HEAD has nothing to wait for', async () => {
    const { nextAfter } = (await feed('?after=now')).body
    const polls = Array.from({ length: 5 }, () => feed(`?after=${nextAfter}&wait=2`))
    const path = `/partner/v1/events?after=${nextAfter}&wait=2`
    const head = await platform.call('HEAD', path, { token: bank.token })
    assert.equal(head.status, 200)
    const statuses = (await Promise.all(polls)).map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 200, 200, 200, 429])
  })

  test('another feed is 409, events over their retention are 410', async () => {
    const { lastSequence, feedId } = (await feed('?after=now')).body
    const positions = [lastSequence + 1, '9007199254740992', '9'.repeat(40)].map(after => `?after=${after}`)
    const withType = `?after=${'9'.repeat(20)}&type=order.*`
    for (const query of [...positions, withType, `?feedId=${crypto.randomUUID()}`]) {
      const { status, body } = await feed(query)
      assert.deepEqual(
        [status, body.code, body.feedId, body.lastSequence],
        [409, 'feed-restarted', feedId, lastSequence],
      )
    }
    await platform.platform.database.execute('update feeds set removed_through = 3 where feed_id = $1', [feedId])
    const gone = await feed('?after=2')
    assert.deepEqual([gone.status, gone.body.code, gone.body.oldestSequence], [410, 'events-removed', 4])
    assert.equal((await feed('?after=3')).status, 200)
    await platform.platform.database.execute('update feeds set removed_through = 0 where feed_id = $1', [feedId])
  })

  test('types are told to everybody, events by role', async () => {
    const viewer = await platform.bankToken('alpha', 'VIEWER')
    const { body } = await platform.call('GET', '/partner/v1/event-types', { token: viewer })
    assert.ok(body.data.find(({ type }: { type: string }) => type === 'order.expired').schema.properties.orderId)
    assert.equal((await feed('', viewer)).status, 403)
    assert.equal((await feed('', await platform.bankToken('alpha', 'EDITOR'))).status, 200)
    assert.equal((await feed('', merchant)).status, 200)
    assert.equal((await platform.call('GET', '/partner/v1/events')).status, 401)
  })

  test('readers that wait when the feeds restart get 409', async () => {
    const { nextAfter, feedId } = (await feed('?after=now')).body
    const polls = [
      feed(`?after=${nextAfter}&feedId=${feedId}&wait=2`),
      feed(`?after=${nextAfter}&feedId=${feedId}&type=campaign.*&wait=2`),
      feed(`?after=${nextAfter}&wait=2`),
    ]
    await sleep(300)
    const restarted = await platform.call('POST', '/admin/events/restart-feeds', { token: platform.config.operatorKey })
    assert.equal(restarted.status, 200, restarted.text)
    const present = (await feed('?after=now')).body
    assert.notEqual(present.feedId, feedId)
    for (const { status, body } of await Promise.all(polls.slice(0, 2)))
      assert.deepEqual([status, body.code, body.feedId], [409, 'feed-restarted', present.feedId])
    const [, , withoutId] = await Promise.all(polls)
    assert.equal(withoutId?.body.feedId, present.feedId)
  })
})
