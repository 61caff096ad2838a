/** Ids in paths may have capitals: they name the same object, and everything works as with the id in lower case. */
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { readEntries } from '../../support/audit-log.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'

let platform: TestPlatform
let bank: Bank
let receiver: Receiver

before(async () => {
  receiver = await startReceiver()
  // After the test of the keys, this process has only an old key. `error` hides the warning about it.
  platform = await startPlatform({ LOG_LEVEL: 'error' })
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
})
after(async () => {
  await platform?.close()
  receiver?.close()
})

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, headers, ...(body !== undefined && { body }) })
const operator = () => ({ token: platform.config.operatorKey })
async function makeEndpoint(): Promise<string> {
  const { status, text, body } = await call('POST', '/webhook-endpoints', {
    url: receiver.url,
    eventTypes: ['order.*'],
  })
  assert.equal(status, 201, text)
  return body.endpointId
}
const audited = async () => {
  const { body } = await platform.call('GET', '/admin/audit', operator())
  return body.checks.find(({ code }: { code: string }) => code === 'endpoint-secrets')
}
/** Starts a process that has a new first key. @returns a function that rotates the keys, and returns the last line of the answer */
async function openRotation(t: TestContext): Promise<() => Promise<{ error?: string; result?: object }>> {
  const keys = [randomBytes(32), ...platform.config.masterKeys].map(key => key.toString('base64'))
  const sibling = await platform.sibling({ MASTER_KEY: keys.join(',') })
  t.after(() => sibling.close())
  return async () => {
    const { text } = await sibling.call('POST', '/admin/keys/rotate', operator())
    return JSON.parse(text.trim().split('\n').at(-1) ?? '')
  }
}

for (const [who, rotate] of Object.entries({
  partner: (id: string) => call('POST', `/webhook-endpoints/${id}/rotate-secret`, { overlap: 'PT0S' }),
  operator: (id: string) =>
    platform.call('POST', `/admin/webhook-endpoints/${id}/rotate-secret`, { ...operator(), body: { overlap: 'PT0S' } }),
}))
  test(`the secret that a ${who} makes under the id in capitals signs`, async () => {
    const endpointId = await makeEndpoint()
    const { status, text, body } = await rotate(endpointId.toUpperCase())
    assert.equal(status, 200, text)
    const { received } = receiver
    received.length = 0
    await bank.cancel((await bank.reserve(`by-${who}`)).body.orderId)
    await until('the event arrives', async () => received.length > 0)
    const [{ headers, body: event }] = received as [(typeof received)[0]]
    const mac = createHmac('sha256', Buffer.from(body.secret.slice('whsec_'.length), 'base64'))
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${event}`)
      .digest('base64')
    assert.equal(headers['webhook-signature'], `v1,${mac}`)
    await call('DELETE', `/webhook-endpoints/${endpointId.toUpperCase()}`)
  })

test('the same request with the id in another case is the same request', async () => {
  const endpointId = await makeEndpoint()
  const key = { 'idempotency-key': 'same' }
  const first = await call('PATCH', `/webhook-endpoints/${endpointId}`, { description: 'ours' }, key)
  assert.equal(first.status, 200, first.text)
  const again = await call('PATCH', `/webhook-endpoints/${endpointId.toUpperCase()}`, { description: 'ours' }, key)
  assert.deepEqual([again.status, again.text], [200, first.text])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const other = await makeEndpoint()
  assert.equal((await call('PATCH', `/webhook-endpoints/${other}`, { description: 'ours' }, key)).status, 422)
  for (const id of [endpointId, other]) await call('DELETE', `/webhook-endpoints/${id}`)
})

test('the audit log has the id of a delivery in lower case', async () => {
  const endpointId = await makeEndpoint()
  await bank.cancel((await bank.reserve('retried')).body.orderId)
  const deliveries = async () =>
    (await call('GET', `/webhook-deliveries?endpointId=${endpointId}&state=delivered`)).body.data
  await until('it is delivered', async () => (await deliveries()).length > 0)
  const [{ deliveryId }] = await deliveries()
  const { status, text } = await call('POST', `/webhook-deliveries/${deliveryId.toUpperCase()}/retry`)
  assert.equal(status, 202, text)
  const entries = await readEntries(platform, bank.token, '&action=delivery.retried')
  assert.ok(JSON.stringify(entries).includes(deliveryId), JSON.stringify(entries))
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('the audit and the rotation of keys name an endpoint whose secret does not open', async t => {
  const [endpointId, other] = [await makeEndpoint(), await makeEndpoint()]
  assert.deepEqual((await audited()).ok, true)
  await platform.platform.database.execute(
    `update webhook_secrets s set sealed = (select sealed from webhook_secrets o where o.endpoint_id = $2) where s.endpoint_id = $1`,
    [endpointId, other],
  )
  const { ok, detail } = await audited()
  assert.equal(ok, false)
  assert.ok(detail.includes(endpointId) && !detail.includes(other), detail)
  const rotateKeys = await openRotation(t)
  const { error = '' } = await rotateKeys()
  assert.ok(error.includes(endpointId) && !error.includes(other), error)
  // The operator does what the error says.
  const options = { ...operator(), body: { overlap: 'PT0S' } }
  await platform.call('POST', `/admin/webhook-endpoints/${endpointId}/rotate-secret`, options)
  const end = await rotateKeys()
  assert.ok(end.result, JSON.stringify(end))
})
