/**
 * Which deliveries are claimed next when receivers answer late, while leases end, deliveries wait and retries are asked
 * for. Some tests lock tables, so that several things happen before the process that delivers looks for deliveries
 * again.
 */
import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../../src/db/database.ts'
import { createLogger } from '../../src/log.ts'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { type Bank, openBank, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

type Request = { sequence: number; attempt: string; response: ServerResponse }

let platform: TestPlatform
let bank: Bank
let bankId: string
let receiver: Server
let received: Request[] = []
const logLines: string[] = []
/** Answers a request at once and returns true, or returns false and leaves the request without an answer. */
let answers = (_request: Request): boolean => false
let endpointId = ''

before(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { sequence } = JSON.parse(Buffer.concat(chunks).toString())
    const one = { sequence, attempt: String(request.headers['perkline-attempt']), response }
    received.push(one)
    answers(one)
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  platform = await startPlatform({}, { logger: createLogger('warn', { write: line => void logLines.push(line) }) })
  bank = await openBank(platform)
  const [row] = await database().query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  bankId = row?.id ?? ''
})
after(async () => {
  receiver.closeAllConnections()
  await platform?.close()
  receiver.close()
})
beforeEach(async () => {
  if (endpointId !== '') await call('DELETE', `/webhook-endpoints/${endpointId}`)
  for (const { response } of received) response.destroy()
  received = []
  answers = () => false
})

const database = () => platform.platform.database
const call = (method: string, path: string, body?: unknown) =>
  platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
async function makeEndpoint(order: 'serial' | 'concurrent'): Promise<void> {
  const { port } = receiver.address() as AddressInfo
  const fields = { url: `http://127.0.0.1:${port}/hook`, eventTypes: ['tariff.*'], order }
  const made = await call('POST', '/webhook-endpoints', fields)
  assert.equal(made.status, 201, made.text)
  endpointId = made.body.endpointId
}
const data = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', available: true }
async function tell(count: number): Promise<void> {
  const event = { type: 'tariff.availability_changed', at: null, banks: [bankId], data } as const
  await database().transaction(transaction => recordEvents(transaction, Array(count).fill(event)))
}
const accept = ({ response }: Request): true => {
  response.writeHead(204).end()
  return true
}
const arrived = (count: number) => until(`${count} requests have arrived`, () => received.length >= count)
const seen = () => received.map(({ sequence, attempt }) => [sequence - (received[0]?.sequence ?? 0), attempt])

/**
 * Locks the table of deliveries and runs `meanwhile` while the process that delivers waits for the lock. Afterwards
 * this process records all deliveries that were accepted by then and claims new ones, in one statement.
 */
const whileItWaits = (meanwhile: (transaction: Queryable) => Promise<void>) =>
  database().transaction(async transaction => {
    await transaction.execute('lock table webhook_deliveries in access exclusive mode')
    await someoneWaitsFor('webhook_endpoints')
    await meanwhile(transaction)
    // Meanwhile the answers arrive, and it is time for the process to look for deliveries again.
    await sleep(400)
  })
/** Whether a statement with these words waits for a lock. */
async function isWaitedFor(words: string): Promise<boolean> {
  const [row] = await database().query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
    [`%${words}%`],
  )
  return (row?.n ?? 0) > 0
}
const someoneWaitsFor = (words: string) => until(`a statement with ${words} waits`, () => isWaitedFor(words))
/** Identifies the statement that claims deliveries by words in its first 1 kB, because the server shows only this part. */
const claim = 'unsynced as materialized'
/** The endpoint's deliveries, and how many attempts of each are in the log. */
const statesOf = () =>
  database().query<{ state: string; attempts: number; logged: number }>(
    `select state, attempts, (select count(*)::int from webhook_attempts a where a.delivery_id = d.delivery_id) as logged
     from webhook_deliveries d where endpoint_id = $1`,
    [endpointId],
  )
const endLeases = (transaction: Queryable) =>
  transaction.execute(
    'update webhook_deliveries set leased_until = now() where endpoint_id = $1 and leased_until is not null',
    [endpointId],
  )

test('a delivery that was accepted after its lease had ended is recorded, and not sent again', async () => {
  await makeEndpoint('serial')
  await tell(1)
  await arrived(1)
  await whileItWaits(async transaction => {
    await endLeases(transaction)
    for (const one of received) accept(one)
  })
  await tell(1)
  await arrived(2)
  assert.deepEqual(seen(), [
    [0, '1'],
    [1, '1'],
  ])
})

test('an attempt that was accepted after the next one had begun does not free a serial endpoint', async () => {
  await makeEndpoint('serial')
  await tell(2)
  await arrived(1)
  await endLeases(database())
  await arrived(2)
  const [first, second] = received as [Request, Request]
  await whileItWaits(async () => void accept(first))
  await sleep(500)
  const expected = [
    [0, '1'],
    [0, '2'],
  ]
  assert.deepEqual(seen(), expected)
  accept(second)
  await arrived(3)
  assert.deepEqual(seen(), [...expected, [1, '1']])
})

type Logged = { deliveryId: string; state: string; attempts: { attempt: number; outcome: string }[] }
const logged = async (): Promise<Logged[]> =>
  (await call('GET', `/webhook-deliveries?endpointId=${endpointId}`)).body.data
const outcomesOf = ({ attempts }: Logged) => attempts.map(({ attempt, outcome }) => [attempt, outcome])
async function askForRetry(): Promise<void> {
  const [{ deliveryId }] = (await logged()) as [Logged]
  assert.equal((await call('POST', `/webhook-deliveries/${deliveryId}/retry`)).status, 202)
}
const answer = ({ response }: Request, status: number) => void response.writeHead(status).end()

for (const [status, outcome] of [
  [204, 'delivered'],
  [500, 'http-error'],
] as const)
  test(`a retry asked for during an attempt that ends with ${status} is made after it, once`, async () => {
    await makeEndpoint('concurrent')
    await tell(1)
    await arrived(1)
    await askForRetry()
    await askForRetry()
    await sleep(500)
    assert.deepEqual(seen(), [[0, '1']], 'one attempt at a time')
    answer(received[0] as Request, status)
    await arrived(2)
    answer(received[1] as Request, 204)
    await until('it is delivered', async () => (await logged())[0]?.state === 'delivered')
    await sleep(500)
    assert.deepEqual(seen(), [
      [0, '1'],
      [0, '2'],
    ])
    assert.deepEqual(((await logged()) as [Logged]).map(outcomesOf), [
      [
        [1, outcome],
        [2, 'delivered'],
      ],
    ])
  })

test('a retry asked for during the last attempt is made after it, and is not repeated', async () => {
  await makeEndpoint('concurrent')
  await tell(1)
  await arrived(1)
  answer(received[0] as Request, 500)
  await until('it is recorded', async () => (await logged())[0]?.attempts.length === 1)
  // Nine attempts have failed, so the next one is the last of the schedule.
  const isLast = 'update webhook_deliveries set failures = 9, next_attempt_at = now() where endpoint_id = $1'
  await database().execute(isLast, [endpointId])
  await arrived(2)
  await askForRetry()
  answer(received[1] as Request, 500)
  await arrived(3)
  answer(received[2] as Request, 500)
  await until('it has failed', async () => (await logged())[0]?.state === 'failed')
  assert.equal(received.length, 3)
})

test('a delivery that was skipped after a retry was asked for stays delivered when its attempt is accepted', async () => {
  await makeEndpoint('concurrent')
  await tell(1)
  await arrived(1)
  await askForRetry()
  const [{ deliveryId }] = (await logged()) as [Logged]
  assert.equal((await call('POST', `/webhook-deliveries/${deliveryId}/skip`)).status, 200)
  answer(received[0] as Request, 204)
  await until('it is delivered', async () => (await logged())[0]?.state === 'delivered')
  await sleep(500)
  assert.equal(received.length, 1)
})

test('a replay during an attempt is a delivery of its own: each has its own outcome', async () => {
  await makeEndpoint('concurrent')
  await tell(1)
  await arrived(1)
  const { sequence } = received[0] as Request
  const range = { from: sequence, to: sequence, only: 'all' }
  assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/replay`, range)).status, 202)
  await arrived(2)
  assert.deepEqual(seen(), [
    [0, '1'],
    [0, '1'],
  ])
  answer(received[1] as Request, 500)
  answer(received[0] as Request, 204)
  await until('both are recorded', async () => (await logged()).every(({ attempts }) => attempts.length === 1))
  const [replayed, original] = (await logged()) as [Logged, Logged]
  assert.deepEqual([original.state, outcomesOf(original)], ['delivered', [[1, 'delivered']]])
  assert.deepEqual([replayed.state, outcomesOf(replayed)], ['pending', [[1, 'http-error']]])
})

/**
 * Makes the endpoint look as if it had failed often. The next probe is an hour away, so only deliveries that somebody
 * asks for are sent.
 */
const hasFailedOften = () =>
  database().execute(
    `update webhook_endpoints set failed_in_row = 25, failing_since = now(), probe_at = now() + interval '1 hour', probes = 5
     where endpoint_id = $1`,
    [endpointId],
  )

test('a retry of a delivery that had ended is made once, also at an endpoint that is probed', async () => {
  await makeEndpoint('concurrent')
  await tell(1)
  await arrived(1)
  answer(received[0] as Request, 204)
  await until('it is delivered', async () => (await logged())[0]?.state === 'delivered')
  await hasFailedOften()
  await askForRetry()
  await arrived(2)
  answer(received[1] as Request, 500)
  await until('it is recorded', async () => (await logged())[0]?.attempts.length === 2)
  assert.equal((await logged())[0]?.state, 'failed')
})

test('a retry of a waiting delivery uses up no attempt of an endpoint that is probed', async () => {
  await makeEndpoint('concurrent')
  await hasFailedOften()
  await tell(1)
  await until('it waits', async () => (await logged()).length === 1)
  // Puts the delivery into the state before its last attempt.
  await database().execute('update webhook_deliveries set failures = 9 where endpoint_id = $1', [endpointId])
  await askForRetry()
  await arrived(1)
  answer(received[0] as Request, 500)
  await until('it is recorded', async () => (await logged())[0]?.attempts.length === 1)
  const [row] = await database().query('select state, failures from webhook_deliveries where endpoint_id = $1', [
    endpointId,
  ])
  assert.deepEqual(row, { state: 'pending', failures: 9 })
})

test('an endpoint that had failed for long is sent all that waits as soon as it is enabled', async () => {
  await makeEndpoint('concurrent')
  await hasFailedOften()
  await tell(5)
  await until('they wait', async () => (await logged()).length === 5)
  assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/disable`)).status, 200)
  assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/enable`)).status, 200)
  // None is answered, so these are five different deliveries.
  await arrived(5)
})

// This test must be the last one, because the clock of this process goes back at its end.
test('a claim whose answer the process reads too late is given back, and then sent once', async t => {
  await database().execute('create table claims_seen (n serial, attempts int, is_leased boolean)')
  await database().execute(`
    create function note_claim() returns trigger language plpgsql as
    'begin insert into claims_seen (attempts, is_leased) values (new.attempts, new.leased_until is not null); return null; end'`)
  await database().execute(
    'create trigger note_claim after update on webhook_deliveries for each row execute function note_claim()',
  )
  t.after(() => database().execute('drop trigger note_claim on webhook_deliveries'))
  await makeEndpoint('concurrent')
  answers = accept
  // Only the claim writes attempts, so only the claim waits for this lock.
  await database().transaction(async transaction => {
    await transaction.execute('lock table webhook_attempts in access exclusive mode')
    await tell(1)
    await someoneWaitsFor(claim)
    // Simulates a process that was frozen: its clock shows a later time when it reads the answer to its claim.
    const now = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => now() + 11_000)
  })
  await arrived(1)
  await until('it is recorded', async () => {
    const [row] = await database().query<{ n: number }>(
      `select count(*)::int as n from webhook_deliveries where endpoint_id = $1 and state = 'delivered'`,
      [endpointId],
    )
    return row?.n === 1
  })
  assert.deepEqual(seen(), [[0, '1']])
  const steps = await database().query('select attempts, is_leased as "isLeased" from claims_seen order by n')
  assert.deepEqual(steps, [
    { attempts: 1, isLeased: true },
    { attempts: 0, isLeased: false },
    { attempts: 1, isLeased: true },
    { attempts: 1, isLeased: false },
  ])
})

test('a delivery whose recording failed is recorded by the next statement, and not sent again', async () => {
  await makeEndpoint('concurrent')
  await tell(1)
  await arrived(1)
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('lock table webhook_deliveries in access exclusive mode')
    for (const one of received) accept(one)
    await someoneWaitsFor(claim)
    await until('the statement has reached its limit for locks', async () => !(await isWaitedFor('webhook_attempts')))
  } finally {
    await client.end()
  }
  await until('it is recorded', async () => (await statesOf()).some(({ state }) => state === 'delivered'))
  assert.deepEqual(await statesOf(), [{ state: 'delivered', attempts: 1, logged: 1 }])
  assert.equal(received.length, 1)
})

test('deliveries of an endpoint whose secret cannot be decrypted use up no attempt', async () => {
  await makeEndpoint('concurrent')
  const breakSecret =
    'update webhook_secrets set sealed = overlay(sealed placing $2 from 20 for 1) where endpoint_id = $1 returning sealed'
  await database().execute(breakSecret, [endpointId, Buffer.from('x')])
  logLines.length = 0
  await tell(3)
  await until('the error was logged', () =>
    logLines.some(line => line.includes(`The secrets of the endpoint ${endpointId} cannot be decrypted`)),
  )
  await until('they are given back', async () => (await statesOf()).every(({ attempts }) => attempts === 0))
  assert.deepEqual(await statesOf(), Array(3).fill({ state: 'pending', attempts: 0, logged: 0 }))
  assert.equal(received.length, 0)
})
