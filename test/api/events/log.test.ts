/** The log of deliveries, replays between two instants, and lists with cursors, as partners request them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
const url = 'http://127.0.0.1:9/hook'

before(async () => {
  // No worker runs, so no event is handed over to an endpoint unless a test does it.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  await platform.addStock('kyivstar', 'eu-10gb', 40)
  bank = await openBank(platform)
})
after(() => platform?.close())

const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
async function cancelled(externalId: string): Promise<string> {
  const { orderId } = (await bank.reserve(externalId)).body
  assert.equal((await bank.cancel(orderId)).status, 200)
  return orderId
}
const makeEndpoint = async () => (await call('POST', '/webhook-endpoints', { url })).body.endpointId as string
const sequences = async (query: string): Promise<number[]> =>
  (await call('GET', `/webhook-deliveries?${query}`)).body.data.map(({ sequence }: { sequence: number }) => sequence)
async function newest() {
  await call('GET', '/events?after=now')
  return (await call('GET', '/events?limit=1000')).body.data.at(-1)
}

test('the log of what was handed over at once is in the order of the feed, page by page', async () => {
  const endpointId = await makeEndpoint()
  for (let n = 0; n < 12; n++) await cancelled(`log-${n}`)
  await platform.call('POST', '/sandbox/webhooks/deliver')
  const all = await sequences(`endpointId=${endpointId}`)
  assert.ok(all.length >= 12, String(all.length))
  assert.deepEqual(
    all,
    [...all].sort((one, other) => other - one),
  )
  const first = (await call('GET', `/webhook-deliveries?endpointId=${endpointId}&limit=5`)).body
  const rest = await sequences(`endpointId=${endpointId}&limit=100&cursor=${first.nextCursor}`)
  assert.deepEqual([...first.data.map(({ sequence }: { sequence: number }) => sequence), ...rest], all)
  assert.equal((await call('DELETE', `/webhook-endpoints/${endpointId}`)).status, 204)
})

test('the log knows types and groups, and no others', async () => {
  assert.equal((await call('GET', '/webhook-deliveries?type=nope')).status, 400)
  assert.equal((await call('GET', '/webhook-deliveries?type=order')).status, 400)
  const exact = await sequences('type=order.cancelled')
  assert.ok(exact.length >= 12)
  assert.deepEqual(await sequences('type=order.*'), exact)
  assert.deepEqual(await sequences('type=test.ping'), [])
})

test('a filter without an index looks at 10,000 deliveries a request, and its cursor goes on behind them', async () => {
  const endpointId = await makeEndpoint()
  // The ids rise with `n`, and the newest delivery is read first. So the only delivered one comes after 10,000 others.
  await platform.platform.database.execute(
    `insert into webhook_deliveries (delivery_id, day, account_type, account_id, endpoint_id, event_id, sequence, type, state, created_at)
     select uuid_at(now(), n), (now() at time zone 'UTC')::date, e.account_type, e.account_id, e.endpoint_id, gen_random_uuid(), n,
       'test.ping', case when n = 1 then 'delivered' else 'skipped' end, now()
     from webhook_endpoints e cross join generate_series(1, 10001) as n where e.endpoint_id = $1`,
    [endpointId],
  )
  const find = async (query: string) => (await call('GET', `/webhook-deliveries?${query}`)).body
  const first = await find('state=delivered')
  assert.deepEqual([first.data, typeof first.nextCursor], [[], 'string'])
  const second = await find(`state=delivered&cursor=${first.nextCursor}`)
  assert.deepEqual([second.data.map(({ sequence }: { sequence: number }) => sequence), second.nextCursor], [[1], null])
  const full = await find('state=skipped&limit=2')
  assert.deepEqual([full.data.length, typeof full.nextCursor], [2, 'string'])
  assert.deepEqual((await find(`state=delivered&endpointId=${endpointId}`)).data.length, 1)
  assert.equal((await call('DELETE', `/webhook-endpoints/${endpointId}`)).status, 204)
})

test('a replay by instants goes by the timestamp of the events, both ends included', async () => {
  const endpointId = await makeEndpoint()
  const path = `/webhook-endpoints/${endpointId}/replay`
  const replayed = async (body: object) => (await call('POST', path, { only: 'all', ...body })).body
  await cancelled('instant-before')
  const { orderId } = (await bank.reserve('instant-1')).body
  await bank.cancel(orderId)
  const event = await newest()
  const stored = (await call('GET', '/events?limit=1000')).body.data as { sequence: number; timestamp: string }[]
  const same = stored.filter(({ timestamp }) => timestamp === event.timestamp)
  const answer = await replayed({ from: event.timestamp, to: event.timestamp })
  assert.equal(answer.deliveries, same.length)
  await platform.call('POST', '/sandbox/webhooks/deliver')
  assert.deepEqual(
    await sequences(`replayId=${answer.replayId}`),
    same.map(({ sequence }) => sequence).sort((one, other) => other - one),
  )
  const later = new Date(Date.parse(event.timestamp) + 1).toISOString()
  assert.equal((await replayed({ from: later })).deliveries, 0)
  const until = stored.filter(({ timestamp }) => timestamp <= event.timestamp).length
  assert.equal((await replayed({ from: 1, to: event.timestamp })).deliveries, until)
})

test('a replay by instants follows a clock that was moved', async () => {
  const endpointId = await makeEndpoint()
  await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT5H' } })
  await cancelled('moved-1')
  const { timestamp } = await newest()
  const replay = (body: object) => call('POST', `/webhook-endpoints/${endpointId}/replay`, { only: 'all', ...body })
  assert.equal((await replay({ from: timestamp, to: timestamp })).body.deliveries, 1)
  assert.equal((await replay({ from: timestamp, types: ['order.confirmed'] })).body.deliveries, 0)
})

test('a replay without types sends what its endpoint is for', async () => {
  const endpointId = await makeEndpoint()
  await cancelled('typed-1')
  const { sequence } = await newest()
  assert.equal(
    (await call('PATCH', `/webhook-endpoints/${endpointId}`, { eventTypes: ['order.confirmed'] })).status,
    200,
  )
  const replay = async (body: object) =>
    (await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: sequence, only: 'all', ...body })).body
  assert.equal((await replay({})).deliveries, 0)
  assert.equal((await replay({ types: ['order.cancelled'] })).deliveries, 1)
})

test('a deleted endpoint replays nothing: 409, and one that never was: 404', async () => {
  const endpointId = await makeEndpoint()
  const replay = (id: string) => call('POST', `/webhook-endpoints/${id}/replay`, { from: 1, only: 'all' })
  assert.equal((await call('DELETE', `/webhook-endpoints/${endpointId}`)).status, 204)
  const gone = await replay(endpointId)
  assert.deepEqual([gone.status, gone.body.code], [409, 'conflict'])
  assert.equal((await replay(crypto.randomUUID())).status, 404)
  const merchant = await platform.merchantToken('grocer')
  const theirs = await platform.call('POST', `/partner/v1/webhook-endpoints/${endpointId}/replay`, {
    token: merchant,
    body: { from: 1, only: 'all' },
  })
  assert.equal(theirs.status, 404)
})

test('endpoints are a list with a limit and a cursor', async () => {
  await makeEndpoint()
  const { data, nextCursor } = (await call('GET', '/webhook-endpoints')).body
  assert.equal(nextCursor, null)
  const ids = data.map(({ endpointId }: { endpointId: string }) => endpointId)
  const first = (await call('GET', '/webhook-endpoints?limit=1')).body
  const rest = (await call('GET', `/webhook-endpoints?limit=500&cursor=${first.nextCursor}`)).body
  const paged = [...first.data, ...rest.data].map(({ endpointId }) => endpointId)
  assert.deepEqual([paged, rest.nextCursor], [ids, null])
  for (const query of ['?limit=0', '?limit=501', '?limit=x', '?other=1', '?cursor=x'])
    assert.equal((await call('GET', `/webhook-endpoints${query}`)).status, 400, query)
})

test('a cursor goes on with the same set of statuses, however it is written', async () => {
  const { nextCursor } = (await call('GET', '/orders?status=reserved,cancelled&limit=1')).body
  for (const statuses of [
    'status=cancelled,reserved',
    'status=cancelled&status=reserved',
    'status=reserved,cancelled,reserved',
  ])
    assert.equal((await call('GET', `/orders?${statuses}&limit=1&cursor=${nextCursor}`)).status, 200, statuses)
  assert.equal((await call('GET', `/orders?status=cancelled&cursor=${nextCursor}`)).status, 400)
})
