/**
 * A request for the present end of a feed gets a position after every change that was made before it, no matter how far
 * the worker is.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
const url = 'https://bank.example/hook'

before(async () => {
  // No worker runs, so events are numbered only by requests.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  await platform.addStock('kyivstar', 'eu-10gb', 20)
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
const newest = async () => (await call('GET', '/events?limit=1000')).body.data.at(-1)

test('after=now tells of the end behind what was done before', async () => {
  const orderId = await cancelled('feed-now')
  const { nextAfter, lastSequence } = (await call('GET', '/events?after=now')).body
  const last = await newest()
  assert.equal(last.data.orderId, orderId)
  assert.deepEqual([nextAfter, lastSequence], [last.sequence, last.sequence])
})

test('an endpoint that starts now, or resumes now, stands behind what was done before', async () => {
  const first = await cancelled('start-now')
  const made = (await call('POST', '/webhook-endpoints', { url, startAfter: 'now' })).body
  const atStart = await newest()
  assert.equal(atStart.data.orderId, first)
  assert.deepEqual([made.position, made.lag], [atStart.sequence, 0])
  const path = `/webhook-endpoints/${made.endpointId}`
  await call('POST', `${path}/disable`)
  const second = await cancelled('resume-now')
  const enabled = (await call('POST', `${path}/enable`, { resume: 'now' })).body
  const atResume = await newest()
  assert.equal(atResume.data.orderId, second)
  assert.deepEqual([enabled.position, enabled.lag], [atResume.sequence, 0])
})

test('the operator sees the newest events with their data', async () => {
  const orderId = await cancelled('tail')
  await call('GET', '/events?after=now')
  const tail = await platform.call('GET', '/admin/events?bank=alpha&limit=1', { token: platform.config.operatorKey })
  assert.deepEqual(tail.body.data, [await newest()])
  assert.equal(tail.body.data[0].data.orderId, orderId)
})
