/** All errors of a request's form are reported at once (contract/http.md, "Request bodies"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let token: string
let endpointId: string
const url = 'http://127.0.0.1:9/hook'
const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token, ...(body !== undefined && { body }) })
/** The messages of a refused request, sorted. */
async function messagesOf(method: string, path: string, body?: unknown): Promise<string[]> {
  const { status, text, body: refusal } = await call(method, path, body)
  assert.equal(status, 400, text)
  assert.ok(Array.isArray(refusal.message), text)
  return refusal.message.toSorted()
}

before(async () => {
  platform = await startPlatform()
  token = await platform.bankToken('alpha')
  endpointId = (await call('POST', '/webhook-endpoints', { url })).body.endpointId
})
after(() => platform?.close())

const instant = 'must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999'
const listed = ' (GET /partner/v1/event-types lists them)'
const only = 'only must be one of failed, all'

test('a replay names every wrong field', async () => {
  const path = `/webhook-endpoints/${endpointId}/replay`
  const wrong = { from: 'x', to: '2026-02-30', types: ['order.*', 'q', 'z'], only: 'some', more: 1 }
  const all = [
    'from must be a sequence or an instant',
    'more must be omitted',
    only,
    'to must be a sequence or an instant',
    `types.1 must be a type of event or a group, not q${listed}`,
    `types.2 must be a type of event or a group, not z${listed}`,
  ]
  assert.deepEqual(await messagesOf('POST', path, wrong), all)
  const { status, body } = await platform.call('POST', `/admin${path}`, {
    token: platform.config.operatorKey,
    body: wrong,
  })
  assert.deepEqual([status, body.message.toSorted()], [400, all])
  const reversed = ['to must not be before from', `types.0 must be a type of event or a group, not q${listed}`]
  assert.deepEqual(await messagesOf('POST', path, { from: 5, to: 2, types: ['q'], only: 'all' }), reversed)
  assert.deepEqual(await messagesOf('POST', path, { from: true, types: 5 }), [
    'from must be a sequence or an instant',
    'only must be given',
    'types must be an array',
  ])
  for (const body of [[], null, undefined])
    assert.deepEqual(await messagesOf('POST', path, body), ['body must be an object'])
  assert.deepEqual(await messagesOf('POST', `${path}?x=1`, { from: 1, only: 'all' }), ['x must be omitted'])
  assert.equal((await call('POST', path, { from: 1, only: 'all' })).status, 202)
})

test('an endpoint names each unknown type by its place, and shows no characters that turn the text', async () => {
  const eventTypes = ['order.*', 'q', 'campaign.created', 'a\u202eb\u0007c']
  const wrong = [
    `eventTypes.1 must be a type of event or a group, not q${listed}`,
    `eventTypes.3 must be a type of event or a group, not a?b?c${listed}`,
  ]
  assert.deepEqual(await messagesOf('POST', '/webhook-endpoints', { url, eventTypes }), wrong)
  assert.deepEqual(await messagesOf('PATCH', `/webhook-endpoints/${endpointId}`, { eventTypes }), wrong)
})

test('a wrong position is named beside a wrong URL', async () => {
  const { lastSequence } = (await call('GET', '/events?after=now')).body
  const [late, wrongUrl] = await messagesOf('POST', '/webhook-endpoints', { url: 'nope', startAfter: 999_999 })
  assert.match(late ?? '', /^startAfter must be at most \d+$/)
  assert.ok(Number(late?.split(' ').at(-1)) >= lastSequence)
  assert.equal(wrongUrl, 'url must be a URL that begins with https:// or http://')
})

test('a list names every wrong parameter', async () => {
  const orders = [
    `createdFrom ${instant}`,
    `createdTo ${instant}`,
    `endedTo ${instant}`,
    'limit must be at least 1',
    'status.0 must be one of reserved, confirmed, cancelled, expired',
  ]
  const query = 'createdFrom=x&createdTo=2026-02-30&status=q&endedTo=y'
  assert.deepEqual(await messagesOf('GET', `/orders?${query}&limit=0`), orders)
  assert.deepEqual(
    await messagesOf('GET', `/orders.csv?${query}`),
    orders.filter(message => !message.startsWith('limit')),
  )
  assert.deepEqual(await messagesOf('GET', '/events?after=x&type=q,order.*&type=z&limit=0'), [
    'after must be a sequence or now',
    'limit must be at least 1',
    `type must be a type of event or a group, not q${listed}`,
    `type must be a type of event or a group, not z${listed}`,
  ])
  assert.deepEqual(await messagesOf('GET', '/webhook-deliveries?from=x&to=y&type=q&state=w&eventId=1'), [
    'eventId must be a UUID',
    `from ${instant}`,
    'state must be one of pending, delivered, failed, skipped',
    `to ${instant}`,
    `type must be a type of event or a group, not q${listed}`,
  ])
})
