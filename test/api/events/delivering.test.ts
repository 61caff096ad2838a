/** Many deliveries at once: how they are handed over, claimed, sent and recorded, and what the log shows of them. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { recordAndClaim } from '../../../src/webhooks/delivery-store.ts'
import { handOverAll } from '../../../src/webhooks/hand-over-store.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/** `working` has a worker. `resting` has none: there the tests number events and hand them over themselves. */
let working: TestPlatform
let resting: TestPlatform
let banks: Map<TestPlatform, { bank: Bank; bankId: string }>
let receiver: Server
let url: string
let received: { attempt: string; sequence: number }[] = []
let underWay = 0
let mostUnderWay = 0
let status = (_count: number): number => 204

before(async () => {
  receiver = createServer(async (request, response) => {
    underWay++
    mostUnderWay = Math.max(mostUnderWay, underWay)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { sequence } = JSON.parse(Buffer.concat(chunks).toString())
    received.push({ attempt: String(request.headers['perkline-attempt']), sequence })
    const code = status(received.length)
    await sleep(1)
    underWay--
    response.writeHead(code).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  working = await startPlatform()
  resting = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  const open = async (platform: TestPlatform) => {
    const [row] = await platform.platform.database.query<{ id: string }>(
      `select bank_id as id from banks where code = 'alpha'`,
    )
    return [platform, { bank: await openBank(platform), bankId: row?.id ?? '' }] as const
  }
  banks = new Map([await open(working), await open(resting)])
})
after(async () => {
  await working?.close()
  await resting?.close()
  receiver.closeAllConnections()
  receiver.close()
})

const call = (platform: TestPlatform, method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, {
    token: banks.get(platform)?.bank.token ?? '',
    ...(body !== undefined && { body }),
  })
async function makeEndpoint(platform: TestPlatform, fields: object = {}): Promise<string> {
  const made = await call(platform, 'POST', '/webhook-endpoints', { url, eventTypes: ['tariff.*'], ...fields })
  assert.equal(made.status, 201, made.text)
  return made.body.endpointId
}
const remove = (platform: TestPlatform, endpointId: string) =>
  call(platform, 'DELETE', `/webhook-endpoints/${endpointId}`)
const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
async function tell(platform: TestPlatform, count: number): Promise<void> {
  const event = {
    type: 'tariff.availability_changed',
    at: null,
    banks: [banks.get(platform)?.bankId ?? ''],
    data,
  } as const
  await platform.platform.database.transaction(transaction => recordEvents(transaction, Array(count).fill(event)))
}
const number = async ({ platform: { database } }: TestPlatform) => {
  while ((await sequenceEvents(database, true))?.mayBeMore);
}
function reset(): void {
  received = []
  mostUnderWay = 0
  status = () => 204
}
type Stored = { state: string; attempts: number; leased: boolean; n: number }
const stored = ({ platform: { database } }: TestPlatform, endpointId: string): Promise<Stored[]> =>
  database.query(
    `select state, attempts, leased_until is not null as leased, count(*)::int as n
     from webhook_deliveries where endpoint_id = $1 group by 1, 2, 3 order by 1, 2`,
    [endpointId],
  )

test('many deliveries to a quick receiver: each once, ten at a time at most, and each with its attempt in the log', async () => {
  reset()
  const endpointId = await makeEndpoint(working)
  await tell(working, 400)
  await until('all is delivered', async () =>
    (await stored(working, endpointId)).some(({ n }) => n === 400 && received.length >= 400),
  )
  assert.deepEqual(await stored(working, endpointId), [{ state: 'delivered', attempts: 1, leased: false, n: 400 }])
  assert.equal(new Set(received.map(({ sequence }) => sequence)).size, 400)
  assert.equal(received.length, 400)
  assert.ok(mostUnderWay <= 10, `${mostUnderWay} at a time`)
  const { data } = (await call(working, 'GET', `/webhook-deliveries?endpointId=${endpointId}&limit=100`)).body
  for (const { attempts } of data) {
    assert.deepEqual(
      attempts.map(({ attempt, outcome, statusCode }: any) => [attempt, outcome, statusCode]),
      [[1, 'delivered', 204]],
    )
  }
  await remove(working, endpointId)
})

test('a serial endpoint gets one request at a time, in the order of the feed', async () => {
  reset()
  const endpointId = await makeEndpoint(working, { order: 'serial' })
  await tell(working, 60)
  const startedAtMs = performance.now()
  await until('all is delivered', async () =>
    (await stored(working, endpointId)).some(({ state, n }) => state === 'delivered' && n === 60),
  )
  // The sender looks for due deliveries four times a second. Waiting for that after each delivery would take 15 s.
  const tookMs = performance.now() - startedAtMs
  assert.ok(tookMs < 7_500, `60 deliveries took ${tookMs} ms`)
  const sequences = received.map(({ sequence }) => sequence)
  assert.deepEqual(
    sequences,
    [...sequences].sort((one, other) => one - other),
  )
  assert.equal(mostUnderWay, 1)
  await remove(working, endpointId)
})

test('when a quick receiver begins to fail, what was claimed but not sent uses up no attempt', async () => {
  reset()
  status = count => (count <= 100 ? 204 : 500)
  const endpointId = await makeEndpoint(working)
  await tell(working, 400)
  await until('it is probed', async () => {
    const [row] = await working.platform.database.query<{ failed: number }>(
      'select failed_in_row as failed from webhook_endpoints where endpoint_id = $1',
      [endpointId],
    )
    return (row?.failed ?? 0) >= 20 && underWay === 0
  })
  await until('nothing is leased', async () => (await stored(working, endpointId)).every(({ leased }) => !leased))
  const failed = received.length - 100
  assert.ok(failed >= 20 && failed < 40, `${failed} failed`)
  assert.deepEqual(await stored(working, endpointId), [
    { state: 'delivered', attempts: 1, leased: false, n: 100 },
    { state: 'pending', attempts: 0, leased: false, n: 300 - failed },
    { state: 'pending', attempts: 1, leased: false, n: failed },
  ])
  await remove(working, endpointId)
})

test('many endpoints are handed over together, each what it wants and has room for', async () => {
  const endpoints = await Promise.all(
    [null, ['tariff.*'], ['tariff.availability_changed'], ['order.*']].map(eventTypes =>
      makeEndpoint(resting, { eventTypes }),
    ),
  )
  await tell(resting, 1_200)
  await number(resting)
  while (await handOverAll(resting.platform.database));
  const read = async (endpointId: string) => {
    const { pending, lag } = (await call(resting, 'GET', `/webhook-endpoints/${endpointId}`)).body
    return [pending, lag]
  }
  const [all = [], ...others] = await Promise.all(endpoints.map(read))
  // This endpoint also gets the events about the creation of the other endpoints, so its lag is not compared.
  assert.equal(all[0], 1_000)
  assert.deepEqual(others, [
    [1_000, 200],
    [1_000, 200],
    [0, 0],
  ])
  const [wanting = ''] = endpoints.slice(1)
  await resting.platform.database.execute(
    `update webhook_deliveries set state = 'delivered' where endpoint_id = $1 and sequence <= (select min(sequence) + 299 from webhook_deliveries where endpoint_id = $1)`,
    [wanting],
  )
  while (await handOverAll(resting.platform.database));
  assert.deepEqual(await read(wanting), [900, 0])
  const [{ made, events } = { made: 0, events: 0 }] = await resting.platform.database.query<{
    made: number
    events: number
  }>(
    'select count(*)::int as made, count(distinct event_id)::int as events from webhook_deliveries where endpoint_id = $1',
    [wanting],
  )
  assert.deepEqual([made, events], [1_200, 1_200])
  for (const endpointId of endpoints) await remove(resting, endpointId)
})

test('however many workers hand over events and replays, an endpoint has at most 1,000 unfinished deliveries', async () => {
  const { database } = resting.platform
  const [{ sequence }] = (await database.query<{ sequence: number }>(
    'select coalesce(max(sequence), 0)::int as sequence from events where account_id = $1',
    [banks.get(resting)?.bankId],
  )) as [{ sequence: number }]
  await tell(resting, 1_300)
  await number(resting)
  const work = async () => {
    for (let time = 0; time < 12; time++) await handOverAll(database)
  }
  for (let round = 0; round < 4; round++) {
    const endpoints = await Promise.all(
      Array.from({ length: 4 }, () => makeEndpoint(resting, { startAfter: sequence })),
    )
    for (const endpointId of endpoints) {
      const asked = { from: sequence + 1, only: 'all' }
      assert.equal((await call(resting, 'POST', `/webhook-endpoints/${endpointId}/replay`, asked)).status, 202)
    }
    await Promise.all([work(), work(), work(), work()])
    const pending = endpoints.map(async id => (await stored(resting, id)).map(({ state, n }) => [state, n]))
    assert.deepEqual(await Promise.all(pending), Array(4).fill([['pending', 1_000]]))
    for (const endpointId of endpoints) await remove(resting, endpointId)
  }
})

test('a delivery that had ended cannot be retried while 1,000 others are unfinished', async () => {
  const { database } = resting.platform
  const endpointId = await makeEndpoint(resting)
  await tell(resting, 1_001)
  await number(resting)
  while (await handOverAll(database));
  const [last] = (await call(resting, 'GET', `/webhook-deliveries?endpointId=${endpointId}&limit=1`)).body.data
  const retry = (deliveryId: string) => call(resting, 'POST', `/webhook-deliveries/${deliveryId}/retry`)
  const skip = (deliveryId: string) => call(resting, 'POST', `/webhook-deliveries/${deliveryId}/skip`)
  assert.equal((await skip(last.deliveryId)).status, 200)
  assert.equal((await retry(last.deliveryId)).status, 202, 'there is room')
  assert.equal((await skip(last.deliveryId)).status, 200)
  while (await handOverAll(database));
  const refused = await retry(last.deliveryId)
  assert.deepEqual([refused.status, refused.body.code], [409, 'limit-reached'], refused.text)
  // The newest delivery is unfinished, so a retry of it does not add to the 1,000.
  const [newest] = (await call(resting, 'GET', `/webhook-deliveries?endpointId=${endpointId}&limit=1`)).body.data
  assert.equal((await retry(newest.deliveryId)).status, 202)
  assert.equal((await call(resting, 'GET', `/webhook-endpoints/${endpointId}`)).body.pending, 1_000)
  await remove(resting, endpointId)
})

test('an attempt whose process was killed is in the log as interrupted, once its lease is over', async () => {
  const { database } = resting.platform
  const endpointId = await makeEndpoint(resting)
  await tell(resting, 1)
  await number(resting)
  while (await handOverAll(database));
  const claim = () => recordAndClaim(database, { delivered: [], claims: [{ endpointId, max: 10, held: 0 }] })
  const attempts = async (): Promise<unknown[]> => {
    const { data } = (await call(resting, 'GET', `/webhook-deliveries?endpointId=${endpointId}`)).body
    return data[0].attempts.map(({ attempt, outcome }: any) => [attempt, outcome])
  }
  assert.deepEqual(
    (await claim()).map(({ attempt }) => attempt),
    [1],
  )
  assert.deepEqual([await claim(), await attempts()], [[], []])
  await database.execute('update webhook_deliveries set leased_until = now() where endpoint_id = $1', [endpointId])
  assert.deepEqual(await attempts(), [[1, 'interrupted']])
  const [second] = await claim()
  assert.equal(second?.attempt, 2)
  assert.deepEqual(await attempts(), [[1, 'interrupted']])
  const { deliveryId = '', day = '' } = second ?? {}
  const ended = {
    deliveryId,
    day,
    attempt: 2,
    at: new Date(),
    endpointId,
    durationMs: 1,
    statusCode: 204,
    responseExcerpt: '',
  }
  await recordAndClaim(database, { delivered: [ended], claims: [] })
  assert.deepEqual(await attempts(), [
    [1, 'interrupted'],
    [2, 'delivered'],
  ])
  // The first process was only slow, not killed. When it reports its outcome at last, the log shows that outcome.
  await recordAndClaim(database, { delivered: [{ ...ended, attempt: 1 }], claims: [] })
  assert.deepEqual(await attempts(), [
    [1, 'delivered'],
    [2, 'delivered'],
  ])
  await remove(resting, endpointId)
})

test('two processes that claim deliveries of one endpoint hold at most ten together', async () => {
  reset()
  const { database } = resting.platform
  const endpointId = await makeEndpoint(resting)
  await tell(resting, 60)
  await number(resting)
  await handOverAll(database)
  const [first] = await recordAndClaim(database, { delivered: [], claims: [{ endpointId, max: 1, held: 0 }] })
  assert.ok(first)
  const end = { at: new Date(), durationMs: 1, statusCode: 204, responseExcerpt: null }
  let waiting: ReturnType<typeof recordAndClaim> = Promise.resolve([])
  const other = await database.transaction(async transaction => {
    const claimed = await recordAndClaim(transaction, { delivered: [], claims: [{ endpointId, max: 9, held: 0 }] })
    const delivered = [{ ...first, ...end }]
    waiting = recordAndClaim(database, { delivered, claims: [{ endpointId, max: 50, held: 0 }] })
    await until('it waits', async () => {
      const [row] = await database.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return row?.n === 1
    })
    return claimed
  })
  const own = await waiting
  assert.equal(other.length, 9)
  assert.ok(other.length + own.length <= 10, `${other.length} and ${own.length}`)
  assert.ok((await stored(resting, endpointId)).some(({ state, n }) => state === 'delivered' && n === 1))
  await remove(resting, endpointId)
})
