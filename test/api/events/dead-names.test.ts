/**
 * Endpoints whose names no name server can resolve delay no other endpoint and no request (contract/webhooks.md,
 * "When").
 */
import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, mock, test } from 'node:test'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/** More names than libuv has threads. If names were resolved by `dns.lookup`, each dead name would block a thread. */
const deadNames = 9
let platform: TestPlatform
let bank: Bank
let receiver: Server
let received = 0

before(async () => {
  receiver = createServer((request, response) => {
    request.resume()
    received++
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 5)
  bank = await openBank(platform)
})
after(async () => {
  mock.restoreAll()
  await platform?.close()
  receiver.closeAllConnections()
  receiver.close()
})

const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
async function makeEndpoint(url: string): Promise<string> {
  const made = await call('POST', '/webhook-endpoints', { url, eventTypes: ['order.cancelled'] })
  assert.equal(made.status, 201, made.text)
  return made.body.endpointId
}
const outcomesAt = async (endpointId: string): Promise<string[]> => {
  const [{ deliveryId }] = (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data
  const { attempts } = (await call('GET', `/webhook-deliveries/${deliveryId}`)).body
  return attempts.map(({ outcome }: { outcome: string }) => outcome)
}
const pendingAt = async (endpointId: string): Promise<number> =>
  (await call('GET', `/webhook-endpoints/${endpointId}`)).body.pending

test('nine dead names: the tenth endpoint gets its event, requests are answered, and the attempts end as dns', async () => {
  const answer = Promise.withResolvers<string[]>()
  answer.promise.catch(() => {})
  let asked = 0
  mock.method(Resolver.prototype, 'resolve4', () => {
    asked++
    return answer.promise
  })
  mock.method(Resolver.prototype, 'resolve6', () => answer.promise)
  const dead = await Promise.all(
    Array.from({ length: deadNames }, (_, n) => makeEndpoint(`http://dead-${n}.example/hook`)),
  )
  await makeEndpoint(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`)
  await bank.cancel((await bank.reserve('dead-names')).body.orderId)
  await until('every name is asked for', () => asked === deadNames)
  await until('the tenth endpoint has its event', () => received === 1)
  assert.equal((await call('GET', '/events')).status, 200)
  for (const endpointId of dead) assert.equal(await pendingAt(endpointId), 1)
  answer.reject(Object.assign(new Error('queryA ETIMEOUT'), { code: 'ETIMEOUT' }))
  for (const endpointId of dead)
    await until('the attempt has ended', async () => (await outcomesAt(endpointId))[0] === 'dns')
})
