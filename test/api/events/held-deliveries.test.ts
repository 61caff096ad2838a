/**
 * Which deliveries are claimed next when receivers answer late, while leases end and deliveries wait. The tests lock
 * tables, so that several things happen before the process that delivers looks for deliveries again.
 */
import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../../../src/db/database.ts'
import { recordEvents } from '../../../src/events/event-writing.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

type Request = { sequence: number; attempt: string; response: ServerResponse }

let platform: TestPlatform
let bank: Bank
let bankId: string
let receiver: Server
let received: Request[] = []
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
  platform = await startPlatform()
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
    await until('it waits', async () => {
      const [row] = await database().query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_endpoints%'`,
      )
      return (row?.n ?? 0) > 0
    })
    await meanwhile(transaction)
    // Meanwhile the answers arrive, and it is time for the process to look for deliveries again.
    await sleep(200)
  })
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
