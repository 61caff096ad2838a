/**
 * A process freezes for longer than its leases, as on a suspended machine, after it has claimed deliveries. Another process
 * makes the attempts again. When the first one thaws, it must not change what the other one is doing.
 */
import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { expectAnswer } from '../support/careful-client.ts'
import { eventually } from '../support/patroni.ts'
import { startProcess } from '../support/process.ts'
import { startWorld, type World } from '../support/world.ts'

const patienceMs = 120_000
const deliveries = 60
/** After so many answers the process has seen that the receiver is quick, and claims more deliveries than it can send at once. */
const quickAnswers = 20
const atOnce = 10
const tariffCode = 'frozen'
/**
 * How long the process is frozen: longer than `maxWaitMs` (webhooks/lanes.ts) and `maxClaimMs` (webhooks/worker.ts). After
 * these times a process gives back deliveries that it has claimed but not sent.
 */
const frozenMs = 11_000

type Request = { sequence: number; attempt: number; response: ServerResponse }
let world: World
let receiver: Server
const received: Request[] = []
const unanswered: Request[] = []
/** Decides whether a request is answered at once. */
let isHeld = (_request: Request): boolean => false

before(async () => {
  world = await startWorld({ processes: 1, profiles: 1, seed: 8_304 })
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { sequence, data } = JSON.parse(Buffer.concat(chunks).toString())
    // The platform also sends events about the shop's own tariff.
    if (data.tariffCode !== tariffCode) return response.writeHead(204).end()
    const one = { sequence, attempt: Number(request.headers['perkline-attempt']), response }
    received.push(one)
    if (isHeld(one)) unanswered.push(one)
    else response.writeHead(204).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
})
after(async () => {
  receiver?.closeAllConnections()
  receiver?.close()
  await world?.close()
})

type Stored = { sequence: number; state: string; attempts: number; isLeased: boolean }

test('the attempts of the other process go on and count, and the endpoint is not blamed', async () => {
  const { database, processes, settings, tokens } = world
  const [frozen] = processes
  const body = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, eventTypes: ['tariff.*'] }
  const path = '/partner/v1/webhook-endpoints'
  const { endpointId } = await expectAnswer(processes, { method: 'POST', path, token: tokens.alpha, body }, 201)
  const stored = () =>
    database.query<Stored>(
      `select sequence, state, attempts, leased_until is not null as "isLeased" from webhook_deliveries
       where endpoint_id = $1 and event_id in (select event_id from events where body like '%' || $2 || '%') order by sequence`,
      [endpointId, tariffCode],
    )
  isHeld = () => received.length > quickAnswers
  const [bank] = await database.query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  const data = { operatorCode: 'kyivstar', tariffCode, available: true }
  const event = { type: 'tariff.availability_changed', at: null, banks: [bank?.id ?? ''], data } as const
  await database.transaction(transaction => recordEvents(transaction, Array(deliveries).fill(event)))
  await eventually('requests are under way', async () => unanswered.length === atOnce, patienceMs)
  // Give the process time to read which further deliveries it has claimed.
  await sleep(300)
  frozen?.freeze()
  const frozenAtMs = performance.now()
  // A statement may still end, because its bytes were sent before.
  await sleep(1_000)
  const begun = new Set(unanswered.map(({ sequence }) => sequence))
  const claimedOnly = (await stored()).filter(({ sequence, isLeased }) => isLeased && !begun.has(sequence))
  assert.ok(begun.size === atOnce && claimedOnly.length > 0, `${begun.size} sent, ${claimedOnly.length} claimed`)
  const ofFrozen = unanswered.splice(0)

  // The other process delivers everything except eight deliveries, for which the receiver does not answer: four that
  // the frozen process had sent, and four that it had only claimed.
  const slow = new Set([...begun].slice(0, 4).concat(claimedOnly.slice(0, 4).map(({ sequence }) => sequence)))
  isHeld = ({ sequence, attempt }) => slow.has(sequence) && attempt === 2
  processes.push(await startProcess(settings))
  // End the leases only now. Otherwise the other process would begin earlier, and its waiting requests could exceed their limit
  // of 15 seconds.
  await sleep(Math.max(0, frozenMs - (performance.now() - frozenAtMs)))
  await database.execute('update webhook_deliveries set leased_until = now() where leased_until > now()')
  await eventually(
    'the other process has delivered the rest',
    async () =>
      unanswered.length === slow.size &&
      (await stored()).every(({ sequence, state }) => state === 'delivered' || slow.has(sequence)),
    patienceMs,
  )

  for (const { response } of ofFrozen) response.writeHead(500).end()
  frozen?.thaw()
  await eventually(
    'the thawed process has recorded what it had sent',
    async () => {
      const [row] = await database.query<{ n: number }>(
        `select count(*)::int as n from webhook_attempts join webhook_deliveries using (delivery_id, day)
       where endpoint_id = $1 and sequence = any($2) and attempt = 1 and outcome = 'interrupted'`,
        [endpointId, [...begun]],
      )
      return row?.n === 0
    },
    patienceMs,
  )
  // The process that was frozen also releases the deliveries that it had claimed but not begun to send, and claims again.
  await sleep(2_000)
  for (const one of (await stored()).filter(({ sequence }) => slow.has(sequence)))
    assert.deepEqual(one, { sequence: one.sequence, state: 'pending', attempts: 2, isLeased: true })
  const [health] = await database.query(
    'select failed_in_row as "inRow", failing_since as since from webhook_endpoints where endpoint_id = $1',
    [endpointId],
  )
  assert.deepEqual(health, { inRow: 0, since: null })

  for (const { response } of unanswered) response.writeHead(204).end()
  await eventually(
    'all is delivered',
    async () => (await stored()).every(({ state }) => state === 'delivered'),
    patienceMs,
  )
  const last = new Map((await stored()).map(({ sequence, attempts }) => [sequence, attempts]))
  assert.equal(last.size, deliveries)
  assert.deepEqual([...new Set(last.values())].toSorted(), [1, 2])
  const requests = received.map(({ sequence, attempt }) => `${sequence}, attempt ${attempt}`)
  assert.equal(new Set(requests).size, requests.length, 'no attempt was sent twice')
  assert.ok(received.every(({ sequence, attempt }) => attempt <= (last.get(sequence) ?? 0)))
})
