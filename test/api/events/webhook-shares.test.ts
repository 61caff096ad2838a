/** How accounts share the requests to endpoints that a process makes at a time (contract/limits.md, "Events and webhooks"). */
import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let receiver: Server
/** The requests that are not answered yet, by path. */
const held = new Map<string, ServerResponse[]>()
const heldAt = (path: string) => held.get(path)?.length ?? 0

before(async () => {
  receiver = createServer((request, response) => {
    const path = request.url ?? ''
    held.set(path, [...(held.get(path) ?? []), response])
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  platform = await startPlatform({ WEBHOOK_CONCURRENCY: '8' })
})
after(async () => {
  receiver.closeAllConnections()
  await platform?.close()
  receiver.close()
})

async function makeEndpoint(token: string, path: string): Promise<void> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`
  const body = { url, eventTypes: ['tariff.*'] }
  assert.equal((await platform.call('POST', '/partner/v1/webhook-endpoints', { token, body })).status, 201)
}

async function tell(code: string, count: number): Promise<void> {
  const { database } = platform.platform
  const [row] = await database.query<{ id: string }>('select bank_id as id from banks where code = $1', [code])
  const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
  const event = { type: 'tariff.availability_changed', at: null, banks: [row?.id ?? ''], data } as const
  await recordEvents(database, Array(count).fill(event))
}

test('the slow receivers of one account leave places for another account, and for each of its own endpoints', async () => {
  const alpha = await platform.bankToken()
  const beta = await platform.bankToken('beta')
  await makeEndpoint(alpha, '/alpha/1')
  await makeEndpoint(alpha, '/alpha/2')
  await makeEndpoint(beta, '/beta')
  await tell('alpha', 20)
  await until('both endpoints of alpha get requests', () => heldAt('/alpha/1') + heldAt('/alpha/2') >= 4)
  assert.deepEqual([heldAt('/alpha/1'), heldAt('/alpha/2')], [2, 2], 'half of the places, shared equally')
  await tell('beta', 1)
  await until('beta gets its request while no request of alpha has ended', () => heldAt('/beta') === 1)
  assert.equal(heldAt('/alpha/1') + heldAt('/alpha/2'), 4)
})
