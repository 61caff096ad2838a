/** Short forms of experiments: a clock that jumps, a rotation under load, and an attempt whose outcome is lost. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type Received, type Receiver, startReceiver } from '../../support/receiver.ts'

let platform: TestPlatform
let bank: Bank
let bankId: string
let receiver: Receiver
let received: Received[]
const database = () => platform.platform.database

before(async () => {
  receiver = await startReceiver()
  received = receiver.received
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 1_000)
  bank = await openBank(platform)
  const [row] = await database().query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  bankId = row?.id ?? ''
})
after(async () => {
  await platform?.close()
  receiver?.close()
})

const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
const makeEndpoint = async () =>
  (await call('POST', '/webhook-endpoints', { url: receiver.url, eventTypes: ['tariff.*'] })).body as {
    endpointId: string
    secret: string
  }
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 2_400; tried++) {
    if (await holds()) return
    await sleep(50)
  }
  assert.fail('it did not come true in time')
}
const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
const tell = (count: number) =>
  database().transaction(transaction =>
    recordEvents(
      transaction,
      Array(count).fill({ type: 'tariff.availability_changed', at: null, banks: [bankId], data }),
    ),
  )
const sequenceOf = ({ body }: Received): number => JSON.parse(body).sequence
const idsOf = (requests: readonly Received[]) => new Set(requests.map(({ headers }) => headers['webhook-id']))
function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const mac = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(mac)
}

test('under load a rotation fails no check of either secret within the overlap, and only the new one signs after it', async () => {
  received.length = 0
  const { endpointId, secret: old } = await makeEndpoint()
  const tellFor = async (seconds: number) => {
    for (let n = 0; n < seconds * 10; n++) await Promise.all([tell(20), sleep(100)])
    return (await call('GET', '/events?after=now')).body.nextAfter as number
  }
  const first = (await tellFor(1)) - 200
  const rotated = await call('POST', `/webhook-endpoints/${endpointId}/rotate-secret`, { overlap: 'PT1H' })
  const { secret } = rotated.body
  const beforeRotation = (await call('GET', '/events?after=now')).body.nextAfter as number
  const inOverlap = await tellFor(2)
  await until(() => idsOf(received).size === inOverlap - first)
  assert.equal(received.filter(one => !isSigned(one, old)).length, 0, 'the old secret holds in the overlap')
  const since = received.filter(one => sequenceOf(one) > beforeRotation)
  assert.ok(since.length >= 400)
  assert.equal(since.filter(one => !isSigned(one, secret)).length, 0, 'the new secret holds from the rotation on')

  // The overlap ends while nothing is under way, so nothing depends on how quick this machine is.
  await database().execute(
    'update webhook_secrets set valid_until = now() where endpoint_id = $1 and valid_until is not null',
    [endpointId],
  )
  const last = await tellFor(1)
  await until(() => idsOf(received).size === last - first)
  const later = received.filter(one => sequenceOf(one) > inOverlap)
  assert.ok(later.length >= 200)
  assert.equal(later.filter(one => !isSigned(one, secret)).length, 0, 'the new secret goes on')
  assert.equal(later.filter(one => isSigned(one, old)).length, 0, 'the old secret signs no more')
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('an attempt whose outcome was lost is made again, with the same id and bytes', async () => {
  received.length = 0
  const { endpointId } = await makeEndpoint()
  // A sequence keeps its value when the transaction fails, so it counts the losses.
  await database().execute('create sequence outcomes_lost')
  await database().execute(`create function lose_outcome() returns trigger language plpgsql as $$ begin
    perform nextval('outcomes_lost') from changed where state = 'delivered';
    if found then raise exception 'lost'; end if; return null; end $$`)
  // One statement may record several outcomes. The exception rolls all of them back.
  await database().execute(
    `create trigger lose_outcome after update on webhook_deliveries referencing new table as changed
     for each statement execute function lose_outcome()`,
  )
  await tell(10)
  await until(async () => {
    const [lost] = await database().query<{ count: string }>('select last_value as count from outcomes_lost')
    return Number(lost?.count) >= 10
  })
  await database().execute('drop function lose_outcome cascade')
  // Ends the leases of the deliveries whose outcome was lost, so that they are sent again at once.
  await database().execute('update webhook_deliveries set leased_until = now() where leased_until > now()')
  await until(async () => (await call('GET', `/webhook-endpoints/${endpointId}`)).body.pending === 0)
  const byId = Map.groupBy(received, ({ headers }) => headers['webhook-id'])
  assert.equal(byId.size, 10)
  for (const attempts of byId.values()) {
    assert.ok(attempts.length >= 2)
    assert.equal(new Set(attempts.map(({ body }) => body)).size, 1)
  }
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('1,000 reservations that end at once are told as expiring and as expired when the clock has answered', async () => {
  const ids: string[] = []
  for (let n = 0; n < 1_000; n += 50) {
    const made = await Promise.all(Array.from({ length: 50 }, (_, one) => bank.reserve(`ends-${n + one}`)))
    ids.push(...made.map(({ body }) => body.orderId))
  }
  const { body: end } = await call('GET', '/events?after=now')
  const moved = await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT15M' } })
  assert.equal(moved.status, 200, moved.text)
  const events: { type: string; data: { orderId: string } }[] = []
  for (let after = end.nextAfter, hasMore = true; hasMore; ) {
    const { body } = await call('GET', `/events?after=${after}&limit=1000&type=order.*`)
    events.push(...body.data)
    ;({ nextAfter: after, hasMore } = body)
  }
  const byOrder = Map.groupBy(events, ({ data }) => data.orderId)
  for (const id of ids)
    assert.deepEqual(
      byOrder.get(id)?.map(({ type }) => type),
      ['order.expiring', 'order.expired'],
    )
  assert.equal(events.length, 2_000)
})
