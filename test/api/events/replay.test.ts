/**
 * A replay keeps its pace no matter how many workers hand it over, and it finds events by the instants that they
 * report.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordEvents } from '../../../src/events/event-writing.ts'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { handOverAll } from '../../../src/webhooks/hand-over-store.ts'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
let bankId: string
const database = () => platform.platform.database

before(async () => {
  // No worker runs: the tests themselves number events and hand them over to endpoints.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  bank = await openBank(platform)
  const [row] = await database().query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  bankId = row?.id ?? ''
})
after(() => platform?.close())

const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
async function makeEndpoint(): Promise<string> {
  const { body } = await call('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/hook' })
  return body.endpointId
}
const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
async function tell(count: number, at: Date | null = null): Promise<void> {
  const event = { type: 'tariff.availability_changed', at, banks: [bankId], data } as const
  await database().transaction(transaction => recordEvents(transaction, Array(count).fill(event)))
  while ((await sequenceEvents(database(), true))?.mayBeMore);
}

test('however many workers hand a replay over, it makes at most 50 deliveries a second', async () => {
  await tell(400)
  const endpointId = await makeEndpoint()
  const { body } = await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: 1, only: 'all' })
  assert.ok(body.deliveries >= 400, JSON.stringify(body))
  const endsAtMs = performance.now() + 4_000
  const work = async () => {
    while (performance.now() < endsAtMs) {
      await handOverAll(database())
      await sleep(20)
    }
  }
  await Promise.all([work(), work(), work()])
  const [seen] = await database().query<{ most: number; made: number }>(
    `select max(within)::int as most, max(made)::int as made from (
       select count(*) over (order by created_at range between current row and interval '999 milliseconds' following) as within,
         count(*) over () as made from webhook_deliveries where replay_id = $1) as windows`,
    [body.replayId],
  )
  assert.ok((seen?.most ?? 0) <= 50, `${seen?.most} in one second`)
  assert.ok((seen?.made ?? 0) > 50, `${seen?.made} in four seconds`)
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('a date alone is that whole day, and a range that ends before it begins is refused', async () => {
  await tell(3)
  const endpointId = await makeEndpoint()
  const replay = (body: object) => call('POST', `/webhook-endpoints/${endpointId}/replay`, { only: 'all', ...body })
  const { body } = await call('GET', '/events?limit=1000')
  const today = new Date().toISOString().slice(0, 10)
  assert.equal((await replay({ from: today, to: today })).body.deliveries, body.data.length)
  for (const [from, to] of [
    [5, 2],
    ['2026-11-23T10:00:00Z', '2026-11-22T10:00:00Z'],
  ]) {
    const refused = await replay({ from, to })
    assert.deepEqual([refused.status, refused.body.message], [400, ['to must not be before from']])
  }
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('a replay by instants finds an event however late it was recorded', async () => {
  await database().execute(`update database_mode set mode = 'live'`)
  const at = new Date(Date.now() - 30 * 3_600_000)
  await tell(2, at)
  await tell(1)
  const endpointId = await makeEndpoint()
  const replay = (body: object) => call('POST', `/webhook-endpoints/${endpointId}/replay`, { only: 'all', ...body })
  const instant = at.toISOString()
  assert.equal((await replay({ from: instant, to: instant })).body.deliveries, 2)
  const { body } = await replay({ from: new Date(at.getTime() - 60_000).toISOString(), to: instant })
  assert.equal(body.deliveries, 2)
  await handOverAll(database())
  const log = await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)
  assert.equal(log.body.data.length, 2)
  await database().execute(`update database_mode set mode = 'sandbox'`)
})
