/** Endpoints get events: signed, repeated until they accept them, and not too many at once. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Bank, openBank } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { requireProgram } from '../../support/require-program.ts'
import { makeCertificate } from '../../support/smtp.ts'

type Received = { headers: IncomingHttpHeaders; body: string }
let platform: TestPlatform
let bank: Bank
let receiver: Server
let url: string
let received: Received[] = []
/** How many requests of a test get an immediate answer; later ones wait for `release`. */
let answersAtOnce = Number.POSITIVE_INFINITY
let release = Promise.withResolvers<void>()
let answer: { status: number; headers?: Record<string, string>; body?: string } = { status: 204 }

before(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    if (received.length > answersAtOnce) await release.promise
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 100)
  bank = await openBank(platform)
})
after(async () => {
  await platform?.close()
  receiver.closeAllConnections()
  receiver.close()
})

const call = (method: string, path: string, body?: unknown, token = bank.token): Promise<Answer> =>
  platform.call(method, `/partner/v1${path}`, { token, ...(body !== undefined && { body }) })
const deliver = async () => (await platform.call('POST', '/sandbox/webhooks/deliver')).body.attempted as number
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 200; tried++) {
    if (await holds()) return
    await sleep(50)
  }
  assert.fail('it did not come true in time')
}
async function cancelled(externalId: string): Promise<string> {
  const { orderId } = (await bank.reserve(externalId)).body
  await bank.cancel(orderId)
  return orderId
}
async function makeEndpoint(fields: object = {}) {
  const made = await call('POST', '/webhook-endpoints', { url, eventTypes: ['order.*'], ...fields })
  assert.equal(made.status, 201, made.text)
  return made.body
}
const remove = (endpointId: string) => call('DELETE', `/webhook-endpoints/${endpointId}`)
function reset(status = 204): void {
  received = []
  answer = { status }
  answersAtOnce = Number.POSITIVE_INFINITY
  release.resolve()
  release = Promise.withResolvers<void>()
}

// Removes what a failed test left behind, because the next tests would fail because of it.
afterEach(async () => {
  reset()
  for (const { endpointId } of (await call('GET', '/webhook-endpoints')).body.data) await remove(endpointId)
})

describe('endpoints', () => {
  test('an event is sent as it stands in the feed, with a signature that its secret proves', async () => {
    reset()
    const { endpointId, secret, ...endpoint } = await makeEndpoint()
    assert.equal(endpoint.status, 'enabled')
    const orderId = await cancelled('signed')
    await until(() => received.length === 1)
    const [{ headers, body }] = received as [Received]
    const event = JSON.parse(body)
    assert.equal(event.data.orderId, orderId)
    assert.equal(headers['webhook-id'], event.id)
    assert.equal(headers['perkline-endpoint-id'], endpointId)
    assert.equal(headers['perkline-attempt'], '1')
    assert.equal(headers['user-agent'], 'Perkline-Webhooks/1')
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const mac = createHmac('sha256', key).update(`${event.id}.${headers['webhook-timestamp']}.${body}`).digest('base64')
    assert.equal(headers['webhook-signature'], `v1,${mac}`)
    assert.equal((await call('GET', `/events/${event.id}`)).text, body)
    await until(
      async () =>
        (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data[0]?.state === 'delivered',
    )
    const [delivery] = (await call('GET', `/webhook-deliveries?endpointId=${endpointId}&state=delivered`)).body.data
    assert.equal(delivery.eventId, event.id)
    assert.deepEqual(
      delivery.attempts.map((one: { outcome: string }) => one.outcome),
      ['delivered'],
    )
    assert.equal((await call('GET', `/webhook-deliveries/${delivery.deliveryId}`)).body.deliveryId, delivery.deliveryId)
    await until(async () => (await call('GET', `/webhook-endpoints/${endpointId}`)).body.lag === 0)
    await remove(endpointId)
  })

  test('nothing is sent while the account is suspended, and everything that waited once it is active again', async t => {
    const token = await platform.bankToken('gamma')
    const gamma = await openBank(platform, token)
    const asOperator = (path: string, body: object) =>
      platform.call('POST', `/admin${path}`, { token: platform.config.operatorKey, body })
    const setStatus = (status: string) =>
      asOperator('/directory', { directory: `banks: [{ code: gamma, status: ${status} }]` })
    reset(500)
    const eventTypes = ['order.*', 'credential.*']
    const made = await call('POST', '/webhook-endpoints', { url, eventTypes }, token)
    assert.equal(made.status, 201, made.text)
    t.after(() => call('DELETE', `/webhook-endpoints/${made.body.endpointId}`, undefined, token))
    await gamma.cancel((await gamma.reserve('suspended')).body.orderId)
    await until(() => received.length === 1)
    assert.equal((await setStatus('suspended')).status, 200)
    reset()
    assert.equal((await asOperator('/credentials', { bank: 'gamma', role: 'EDITOR' })).status, 201)
    // This is longer than the wait for the second attempt, which must not be made.
    await sleep(7_000)
    assert.equal(await deliver(), 0)
    assert.deepEqual(received, [])
    assert.equal((await setStatus('active')).status, 200)
    await until(() => received.length === 2)
    const types = received.map(({ body }) => JSON.parse(body).type)
    assert.deepEqual(types.sort(), ['credential.issued', 'order.cancelled'])
  })

  test('the first probe comes 30 seconds after the 20th failure, however many requests were on their way', async () => {
    reset(500)
    const { endpointId } = await makeEndpoint()
    // The disabled endpoint collects all deliveries, so that after `enable` ten requests are always under way.
    await call('POST', `/webhook-endpoints/${endpointId}/disable`)
    await Promise.all(Array.from({ length: 45 }, (_, n) => cancelled(`probed-${n}`)))
    answersAtOnce = 15
    await call('POST', `/webhook-endpoints/${endpointId}/enable`)
    // 15 requests have failed and ten are under way. Five of these bring the failures to 20, and five more follow.
    await until(() => received.length === 25)
    const releasedAtMs = Date.now()
    release.resolve()
    const probe = async () => {
      const [row] = await platform.platform.database.query<{ probe_at: Date | null; failed_in_row: number }>(
        'select probe_at, failed_in_row from webhook_endpoints where endpoint_id = $1',
        [endpointId],
      )
      return row
    }
    await until(async () => (await probe())?.failed_in_row === 25)
    const inMs = ((await probe())?.probe_at?.getTime() ?? 0) - releasedAtMs
    // The later failures are not failed probes: after a failed probe, the wait would be 60 seconds.
    assert.ok(inMs >= 29_900 && inMs < 60_000, `${inMs} ms`)
    await remove(endpointId)
  })

  test('it is tried again after a failure, and given up after ten', async () => {
    reset(500)
    const { endpointId } = await makeEndpoint()
    await cancelled('failing')
    await until(() => received.length === 1)
    const list = async () => (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data[0]
    await until(async () => (await list()).attempts.length === 1)
    const first = await list()
    const wait = Date.parse(first.nextAttemptAt) - Date.parse(first.attempts[0].at)
    assert.ok(wait >= 4_500 && wait <= 6_500, String(wait))
    for (let n = 2; n <= 10; n++) assert.equal(await deliver(), 1, String(n))
    const last = await list()
    assert.deepEqual([last.state, last.attempts.length, last.nextAttemptAt], ['failed', 10, null])
    assert.ok(new Set(received.map(({ body }) => body)).size === 1)
    assert.deepEqual(
      received.map(({ headers }) => headers['perkline-attempt']),
      Array.from({ length: 10 }, (_, n) => String(n + 1)),
    )
    answer = { status: 200 }
    assert.equal((await call('POST', `/webhook-deliveries/${last.deliveryId}/retry`)).status, 202)
    await until(async () => (await list()).state === 'delivered')
    const replay = await call('POST', `/webhook-endpoints/${endpointId}/replay`, {
      from: 1,
      only: 'all',
      types: ['order.*'],
    })
    assert.equal(replay.status, 202, replay.text)
    await until(
      async () =>
        (await call('GET', `/webhook-deliveries?replayId=${replay.body.replayId}&state=delivered`)).body.data.length ===
        replay.body.deliveries,
    )
    await remove(endpointId)
    assert.equal((await call('GET', `/webhook-endpoints/${endpointId}`)).status, 404)
  })

  test('a serial endpoint waits for its oldest delivery, until that is skipped', async () => {
    reset(503)
    const { endpointId } = await makeEndpoint({ order: 'serial' })
    await cancelled('serial-1')
    await cancelled('serial-2')
    const list = async () => (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data
    await until(async () => (await list()).length === 2 && received.length >= 1)
    await deliver()
    const [second, first] = (await list()).sort((one: any, other: any) => other.sequence - one.sequence)
    assert.equal(second.attempts.length, 0)
    reset(200)
    const skipped = await call('POST', `/webhook-deliveries/${first.deliveryId}/skip`)
    assert.deepEqual([skipped.status, skipped.body.state], [200, 'skipped'])
    assert.equal((await call('POST', `/webhook-deliveries/${first.deliveryId}/skip`)).status, 200)
    await until(async () => (await list()).some((one: any) => one.state === 'delivered'))
    assert.equal(received.length, 1)
    await remove(endpointId)
  })

  test('the sandbox’s delivery waits for an endpoint that another statement has locked for a moment', async () => {
    reset(503)
    const { endpointId } = await makeEndpoint()
    await cancelled('locked')
    const list = async () => (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data
    await until(async () => (await list())[0]?.attempts.length === 1)
    const isLocked = Promise.withResolvers<void>()
    const holding = platform.platform.database.transaction(async transaction => {
      await transaction.query('select from webhook_endpoints where endpoint_id = $1 for update', [endpointId])
      isLocked.resolve()
      await sleep(500)
    })
    await isLocked.promise
    assert.equal(await deliver(), 1)
    await holding
    await remove(endpointId)
  })

  test('the sandbox’s delivery waits for a place at an endpoint that has ten requests under way', async () => {
    reset()
    answersAtOnce = 0
    const { endpointId } = await makeEndpoint()
    await Promise.all(Array.from({ length: 15 }, (_, n) => cancelled(`busy-${n}`)))
    await until(async () => (await call('GET', `/webhook-endpoints/${endpointId}`)).body.pending === 15)
    await until(() => received.length === 10)
    // Postpones the five waiting deliveries, so that the worker leaves them to the sandbox’s delivery.
    const postpone = `update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where endpoint_id = $1 and leased_until is null`
    assert.equal(await platform.platform.database.execute(postpone, [endpointId]), 5)
    const attempted = deliver()
    await sleep(500)
    assert.equal(received.length, 10, 'ten at a time at most')
    release.resolve()
    assert.equal(await attempted, 5)
    assert.equal(received.length, 15)
    await remove(endpointId)
  })

  test('redirects are not followed, and 410 disables', async () => {
    reset()
    answer = { status: 302, headers: { location: url } }
    const { endpointId } = await makeEndpoint()
    await cancelled('moved')
    const list = async () => (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data[0]
    await until(async () => (await list())?.attempts.length === 1)
    const { attempts, nextAttemptAt } = await list()
    assert.deepEqual([attempts[0].outcome, typeof nextAttemptAt], ['redirect', 'string'])
    assert.equal(received.length, 1)
    answer = { status: 410 }
    await deliver()
    const gone = (await call('GET', `/webhook-endpoints/${endpointId}`)).body
    assert.deepEqual([gone.status, gone.disabledReason, gone.pending], ['disabled', 'gone', 1])
    const { deliveryId, state, ...waiting } = await list()
    assert.deepEqual([state, waiting.nextAttemptAt], ['pending', null], 'nothing is sent before it is enabled')
    assert.equal((await call('POST', `/webhook-deliveries/${deliveryId}/retry`)).status, 409)
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: 1, only: 'all' })).status, 409)
    reset()
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/enable`)).body.status, 'enabled')
    await until(() => received.length === 1)
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1S' } })
    const told = (await call('GET', '/events?type=endpoint.*')).body.data
      .filter(({ data }: any) => data.endpointId === endpointId)
      .map(({ type, data }: any) => [type, data.reason])
    assert.deepEqual(told, [
      ['endpoint.disabled', 'gone'],
      ['endpoint.enabled', null],
    ])
    await remove(endpointId)
  })

  test('the event about a disabled endpoint is never before the failure that it names', async () => {
    reset(410)
    const gone = await makeEndpoint()
    await cancelled('gone-at-once')
    const isDisabled = async ({ endpointId }: { endpointId: string }) =>
      (await call('GET', `/webhook-endpoints/${endpointId}`)).body.status === 'disabled'
    await until(() => isDisabled(gone))
    // Here the failure is recorded while the request to disable the endpoint waits for the endpoint's lock.
    const raced = await makeEndpoint()
    const disabling = await platform.platform.database.transaction(async transaction => {
      const lock = 'select from webhook_endpoints where endpoint_id = $1 for update'
      await transaction.query(lock, [raced.endpointId])
      const answered = call('POST', `/webhook-endpoints/${raced.endpointId}/disable`)
      await sleep(300)
      const fail = 'update webhook_endpoints set failing_since = clock_timestamp() where endpoint_id = $1'
      await transaction.execute(fail, [raced.endpointId])
      return { answered }
    })
    assert.equal((await disabling.answered).status, 200)
    await deliver()
    const events = (await call('GET', '/events?type=endpoint.disabled')).body.data
    for (const { endpointId } of [gone, raced]) {
      const { timestamp, data } = events.find((one: any) => one.data.endpointId === endpointId)
      assert.ok(timestamp >= data.failingSince, `${timestamp}, failing since ${data.failingSince}`)
      await remove(endpointId)
    }
  })

  test('an endpoint that fails is disabled after five days, and works again once enabled', async () => {
    reset(500)
    const { endpointId } = await makeEndpoint()
    for (let n = 0; n < 4; n++) await cancelled(`down-${n}`)
    await until(async () => (await call('GET', `/webhook-endpoints/${endpointId}`)).body.pending === 4)
    for (let n = 0; n < 6; n++) await deliver()
    const failing = (await call('GET', `/webhook-endpoints/${endpointId}`)).body
    assert.ok(failing.failingSince)
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1H' } })
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'P5D' } })
    const after = (await call('GET', `/webhook-endpoints/${endpointId}`)).body
    assert.deepEqual([after.status, after.disabledReason], ['disabled', 'failing'])
    reset()
    await call('POST', `/webhook-endpoints/${endpointId}/enable`, {})
    await until(async () => (await call('GET', `/webhook-endpoints/${endpointId}`)).body.pending === 0)
    assert.ok(new Set(received.map(({ headers }) => headers['webhook-id'])).size >= 4)
    await remove(endpointId)
  })

  test('secrets overlap, changes need the version that was seen, tests are no events', async () => {
    reset()
    const { endpointId, secret } = await makeEndpoint()
    const path = `/webhook-endpoints/${endpointId}`
    const etag = (await call('GET', path)).headers.get('etag') as string
    const rotated = await call('POST', `${path}/rotate-secret`, { overlap: 'PT1H' })
    assert.equal(rotated.status, 200, rotated.text)
    assert.notEqual(rotated.body.secret, secret)
    const tested = await call('POST', `${path}/test`, { type: 'order.confirmed' })
    assert.equal(tested.status, 202, tested.text)
    await until(() => received.length === 1)
    const [{ headers, body }] = received as [Received]
    assert.equal(String(headers['webhook-signature']).split(' ').length, 2)
    const event = JSON.parse(body)
    assert.deepEqual([event.test, event.sequence, event.type], [true, 0, 'order.confirmed'])
    assert.equal((await call('GET', `/events/${event.id}`)).status, 404)
    const change = (ifMatch: string) =>
      platform.call('PATCH', `/partner/v1${path}`, {
        token: bank.token,
        body: { description: 'x' },
        headers: { 'if-match': ifMatch },
      })
    assert.equal((await change(etag)).status, 412)
    const changed = await change((await call('GET', path)).headers.get('etag') as string)
    assert.deepEqual([changed.status, changed.body.description], [200, 'x'])
    assert.equal((await call('POST', `${path}/rotate-secret`, { overlap: 'P8D' })).status, 400)
    await remove(endpointId)
  })

  test('the operator sees, disables and enables; restarted feeds tell their readers', async () => {
    reset()
    const { endpointId } = await makeEndpoint()
    const admin = (method: string, path: string, body?: unknown) =>
      platform.call(method, `/admin${path}`, {
        token: platform.config.operatorKey,
        ...(body !== undefined && { body }),
      })
    const disabled = await admin('POST', `/webhook-endpoints/${endpointId}/disable`)
    assert.deepEqual(
      [disabled.status, disabled.body.disabledReason, disabled.body.account],
      [200, 'operator', 'bank alpha'],
    )
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/enable`)).status, 409)
    assert.equal((await admin('GET', '/webhook-endpoints?bank=alpha')).body.data[0].endpointId, endpointId)
    assert.equal((await admin('POST', `/webhook-endpoints/${endpointId}/enable`)).body.status, 'enabled')
    const status = (await admin('GET', '/events/status')).body
    assert.deepEqual([status.endpoints.enabled >= 1, status.lagSeconds < 60], [true, true])
    const { feedId } = (await call('GET', '/events?after=now')).body
    const tail = (await admin('GET', '/events?bank=alpha&limit=3')).body.data
    assert.equal(tail.length, 3)
    assert.ok((await admin('POST', '/events/restart-feeds')).body.feeds >= 5)
    assert.equal((await call('GET', `/events?feedId=${feedId}`)).body.code, 'feed-restarted')
    await remove(endpointId)
    await until(async () => {
      const { data } = (await call('GET', `/audit-log?object=endpoint:${endpointId}`)).body
      return data.length === 4
    })
  })

  test('what of an answer cannot be seen or turns the text is shown as U+FFFD', async () => {
    reset()
    answer = { status: 500, body: 'a\u202eb\u200bc\u2066d\u{e0041}e\u001bf\ue000g 👩‍💻 ✔️ Київ' }
    const { endpointId } = await makeEndpoint()
    const { deliveryId } = (await call('POST', `/webhook-endpoints/${endpointId}/test`)).body
    let excerpt: string | undefined
    await until(async () => {
      const { attempts } = (await call('GET', `/webhook-deliveries/${deliveryId}`)).body
      excerpt = attempts[0]?.responseExcerpt
      return excerpt !== undefined
    })
    assert.equal(excerpt, 'a�b�c�d�e�f�g 👩‍💻 ✔️ Київ')
    const { data } = (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body
    assert.equal(data[0].attempts[0].responseExcerpt, excerpt)
  })

  test('a receiver that would speak another protocol gets a failed attempt, and holds no place', async () => {
    const other = createServer()
    other.on('connection', socket =>
      socket.once('data', () => socket.write('HTTP/1.1 101 Other\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n')),
    )
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { endpointId } = await makeEndpoint({ url: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` })
    const { deliveryId } = (await call('POST', `/webhook-endpoints/${endpointId}/test`, {})).body
    const attempts = async () => (await call('GET', `/webhook-deliveries/${deliveryId}`)).body.attempts
    await until(async () => (await attempts()).length === 1)
    const [{ outcome, statusCode }] = await attempts()
    assert.deepEqual([outcome, statusCode], ['http-error', 101])
    await remove(endpointId)
    other.closeAllConnections()
    other.close()
  })

  test('a receiver whose certificate nobody vouches for gets nothing', async t => {
    if (!requireProgram(t, 'openssl')) return
    const pretender = createSecureServer(makeCertificate() ?? assert.fail(), (_request, response) => {
      received.push({ headers: {}, body: 'it got it' })
      response.end()
    })
    await new Promise<void>(resolve => pretender.listen(0, '127.0.0.1', resolve))
    const { port } = pretender.address() as AddressInfo
    const { endpointId } = await makeEndpoint({ url: `https://127.0.0.1:${port}/` })
    const { deliveryId } = (await call('POST', `/webhook-endpoints/${endpointId}/test`, {})).body
    const attempts = async () => (await call('GET', `/webhook-deliveries/${deliveryId}`)).body.attempts
    await until(async () => (await attempts()).length === 1)
    const [{ outcome, statusCode }] = await attempts()
    assert.deepEqual([outcome, statusCode, received], ['tls', null, []])
    await remove(endpointId)
    pretender.close()
  })
})

test('the document describes each request to an endpoint, with its headers, also one of a test', async () => {
  reset()
  const { endpointId } = await makeEndpoint()
  await cancelled('described')
  for (const type of ['order.expired', undefined])
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/test`, { type })).status, 202)
  await until(() => received.length === 3)
  const { webhooks, components } = (await platform.call('GET', '/partner/v1/swagger/json')).body
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  for (const { headers, body } of received) {
    const event = JSON.parse(body)
    const { requestBody, parameters } = webhooks[event.type].post
    const { schema } = requestBody.content['application/json']
    assert.ok(ajv.validate({ ...schema, additionalProperties: false }, event), `${event.type}: ${ajv.errorsText()}`)
    const names = (parameters as { $ref: string }[]).map(({ $ref }) => $ref.replace('#/components/parameters/', ''))
    const sent = Object.keys(headers).filter(name => /^(webhook|perkline)-/.test(name))
    assert.deepEqual(names.sort(), sent.sort())
    for (const name of names)
      assert.ok(ajv.validate(components.parameters[name].schema, headers[name]), `${name}: ${ajv.errorsText()}`)
  }
  await remove(endpointId)
})

test('nothing is sent unsigned when the secrets of an endpoint are gone', async () => {
  reset()
  const { endpointId } = await makeEndpoint()
  // This simulates an endpoint that is deleted after its deliveries were claimed. The worker keeps the secrets that it
  // has read. The operation `test` and the sandbox's delivery read them each time, so only these two could send
  // something unsigned.
  await platform.platform.database.execute('delete from webhook_secrets where endpoint_id = $1', [endpointId])
  await call('POST', `/webhook-endpoints/${endpointId}/test`)
  await cancelled('unsigned')
  await deliver()
  assert.deepEqual(received, [])
  await remove(endpointId)
})
