/**
 * Experiments with feeds and webhooks whose processes are killed. events-killed.test.ts has their short forms, `npm run chaos -- events`
 * the long ones.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../../src/db/database.ts'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { expectAnswer } from './careful-client.ts'
import { range } from './esim.ts'
import * as stream from './event-stream.ts'
import { startGuideReceiver } from './guide-receiver.ts'
import { eventually } from './patroni.ts'
import { keepServer, startWorld, type World } from './world.ts'

/** How long to wait for a result. This is long enough for a busy machine. */
const patienceMs = 300_000
const endpoints = '/partner/v1/webhook-endpoints'
const maxBacklog = 20_000
/** Allows enough connections for 64 writers, two processes and the disturbance. */
const serverSettings = { max_connections: '140' }

export type StreamOptions = {
  writers: number
  eventsEach: number
  maxDelayMs: number
  /** Writers continue at least until this many events are committed and the disturbance is over. */
  events: number
}

/**
 * Writes and reads while something happens to the processes or the database, and proves that readers saw what was committed.
 *
 * @param disturb runs once, while the writers and readers work
 */
export async function streamUnder(options: StreamOptions, disturb: (world: World) => Promise<void>) {
  const world = await startWorld({ processes: 2, profiles: 1, seed: 8_300, serverSettings })
  let reading: stream.Reader[] = []
  try {
    const token = world.tokens.alpha
    let isDisturbed = true
    const writing = stream.startWriting(world.database, await bankIdOf(world.database), {
      ...options,
      goesOn: told => isDisturbed || told < options.events,
      hasRoom: told => reading.some(({ seen, isOver }) => isOver() || told - seen.length < maxBacklog),
    })
    reading = stream.readers.map(one => stream.startReading(world.processes, token, one))
    await disturb(world).finally(() => {
      isDisturbed = false
    })
    await writing.done
    const last = await stream.endOfFeed(world.processes, token)
    for (const reader of reading) await reader.readTo(last)
    for (const reader of reading) stream.proveSeen(reader, writing)
    await proveAudit(world)
    const lags = Object.fromEntries(reading.map(reader => [reader.name, stream.lagsOf(reader, writing)]))
    return { committed: writing.told.size, rolledBack: writing.rolledBack(), last, lags }
  } finally {
    for (const reader of reading) reader.stop()
    await world.close()
  }
}

async function proveAudit({ processes, settings }: World): Promise<void> {
  const token = settings.OPERATOR_KEY ?? ''
  const audit = await expectAnswer(processes, { method: 'GET', path: '/admin/audit', token }, 200)
  assert.equal(audit.ok, true, JSON.stringify(audit))
}

async function bankIdOf(database: Database): Promise<string> {
  const [bank] = await database.query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  return bank?.id ?? assert.fail('no bank')
}

/** Kills both processes at once, again and again. @param everyMs how long we wait after each kill */
export async function killBoth(world: World, { rounds, everyMs }: { rounds: number; everyMs: number }): Promise<void> {
  for (const _ of range(rounds)) {
    await Promise.all([0, 1].map(index => world.replace(index, victim => victim.kill())))
    await sleep(everyMs)
  }
}

/**
 * Keeps two things open for a while: a transaction that has written to the outbox, like a long upload, and a snapshot,
 * like a long read.
 */
export async function holdOpen(world: World, { uploadMs, snapshotMs }: { uploadMs: number; snapshotMs: number }) {
  const bankId = await bankIdOf(world.database)
  const data = { operatorCode: 'upload', tariffCode: 'late', available: true }
  const hold = async (begin: string, ms: number, write: boolean) => {
    const client = new pg.Client({ ...world.server.connection })
    await client.connect()
    try {
      await client.query(`set idle_in_transaction_session_timeout = 0; begin ${begin}`)
      await client.query('select count(*) from outbox')
      if (write) {
        await recordEvents(stream.transactionOn(client), [
          { type: 'tariff.availability_changed', at: null, banks: [bankId], data },
        ])
      }
      await sleep(ms)
      await client.query('commit')
    } finally {
      await client.end()
    }
  }
  await Promise.all([hold('', uploadMs, true), hold('isolation level repeatable read', snapshotMs, false)])
}

type Received = { id: string; body: string }
/**
 * The operator's code in the events that these experiments write. It distinguishes them from the platform's own events.
 */
const killed = 'killed'

/**
 * In each round a worker is killed after the receiver has answered 2xx and before the worker has recorded this. At the end every event
 * was delivered, each time with the same id and the same bytes.
 */
export async function deliverUnderKills(options: { rounds: number; eventsEach: number }) {
  const world = await startWorld({ processes: 1, profiles: 1, seed: 8_301 })
  const received: Received[] = []
  let freezesNext = false
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ id: String(request.headers['webhook-id']), body: Buffer.concat(chunks).toString() })
    // A process that is frozen before the answer is sent cannot record it.
    if (freezesNext) world.processes[0]?.freeze()
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  try {
    const endpointId = await makeEndpoint(world, `http://127.0.0.1:${port}/`)
    const bankId = await bankIdOf(world.database)
    let unrecorded = 0
    for (const round of range(options.rounds)) {
      const before = received.length
      freezesNext = true
      await tell(
        world.database,
        bankId,
        range(options.eventsEach).map(n => `${round}-${n}`),
      )
      await eventually('the receiver is called', async () => received.length > before, patienceMs)
      // Other requests may still arrive, because their bytes were sent before the process was frozen.
      await sleep(20)
      freezesNext = false
      await world.replace(0, frozen => frozen.kill())
      unrecorded += await endLeases(world.database)
      await eventually(
        'all is delivered',
        async () => (await readEndpoint(world, endpointId)).pending === 0,
        patienceMs,
      )
    }
    assert.ok(unrecorded >= options.rounds, `${unrecorded} attempts without a record`)
    await eventually('nothing lags', async () => (await readEndpoint(world, endpointId)).lag === 0, patienceMs)
    return { ...proveReceived(received, options), unrecorded }
  } finally {
    receiver.closeAllConnections()
    receiver.close()
    await world.close()
  }
}

async function makeEndpoint({ processes, tokens }: World, url: string): Promise<string> {
  const asked = { method: 'POST', path: endpoints, body: { url, eventTypes: ['tariff.*'] }, token: tokens.alpha }
  return (await expectAnswer(processes, asked, 201)).endpointId
}

const readEndpoint = ({ processes, tokens }: World, id: string): Promise<{ pending: number; lag: number }> =>
  expectAnswer(processes, { method: 'GET', path: `${endpoints}/${id}`, token: tokens.alpha }, 200)

function tell(database: Database, bankId: string, names: readonly string[]): Promise<void> {
  return database.transaction(transaction =>
    recordEvents(
      transaction,
      names.map(name => ({
        type: 'tariff.availability_changed',
        at: null,
        banks: [bankId],
        data: { operatorCode: killed, tariffCode: name, available: true },
      })),
    ),
  )
}

/** Ends the leases of the killed process, to save a wait of half a minute. @returns how many attempts it had not recorded */
function endLeases(database: Database): Promise<number> {
  return database.execute('update webhook_deliveries set leased_until = now() where leased_until > now()')
}

function proveReceived(all: readonly Received[], { rounds, eventsEach }: { rounds: number; eventsEach: number }) {
  const received = all.filter(({ body }) => isOwn(JSON.parse(body)))
  const byId = Map.groupBy(received, ({ id }) => id)
  assert.equal(byId.size, rounds * eventsEach, 'an event was lost, or has two ids')
  for (const [id, requests] of byId) assert.equal(new Set(requests.map(({ body }) => body)).size, 1, id)
  const names = new Set(received.map(({ body }) => JSON.parse(body).data.tariffCode))
  assert.equal(names.size, rounds * eventsEach)
  return { requests: received.length, events: byId.size }
}

/**
 * A receiver in Python that follows only the guide gets events. In each round a worker is killed, or every third time the database. At
 * the end the receiver has stored each event once, in any order, and every signature is right.
 */
export async function receiveByGuide(options: { rounds: number; eventsEach: number }) {
  const world = await startWorld({ processes: 2, profiles: 1, seed: 8_302 })
  const watch = keepServer(world)
  const receiver = await startGuideReceiver(world.folder)
  try {
    const { processes, tokens } = world
    const fields = { url: receiver.url, eventTypes: ['tariff.*'], startAfter: 0 }
    const asked = { method: 'POST', path: endpoints, body: fields, token: tokens.alpha }
    const made = await expectAnswer(processes, asked, 201)
    await receiver.keep(made.secret)
    const bankId = await bankIdOf(world.database)
    for (const round of range(options.rounds)) {
      const names = range(options.eventsEach).map(n => `${round}-${n}`)
      await tell(world.database, bankId, names)
      await sleep(randomInt(300))
      if (round % 3 === 2) await killServer(world)
      else await world.replace(round % 2, victim => victim.kill())
      await eventually('the database answers', () => world.database.query('select').then(isTrue, isFalse), patienceMs)
      await endLeases(world.database)
    }
    const wanted = options.rounds * options.eventsEach
    const ownNames = () => receiver.events.filter(isOwn).map(({ data }) => data.tariffCode)
    await eventually('all has arrived', () => ownNames().length >= wanted, patienceMs)
    const isIdle = async () => {
      const { pending, lag } = await readEndpoint(world, made.endpointId)
      return pending === 0 && lag === 0
    }
    await eventually('nothing waits', isIdle, patienceMs)
    assert.deepEqual([ownNames().length, new Set(ownNames()).size], [wanted, wanted])
    const stored = receiver.events.map(({ sequence }) => sequence).toSorted((one, other) => one - other)
    assert.deepEqual(stored, await sequencesOf(world, 'tariff.*'), 'it has what the feed has')
    assert.equal(receiver.forged(), 0)
    return { events: wanted, kills: options.rounds }
  } finally {
    await receiver.close()
    await watch.leave()
    await world.close()
  }
}

/** The platform also sends events about the shop's own tariff; this experiment ignores them. */
const isOwn = ({ data }: { data: { operatorCode: string } }): boolean => data.operatorCode === killed

async function sequencesOf({ processes, tokens }: World, type: string): Promise<number[]> {
  const sequences: number[] = []
  for (let after = 0, hasMore = true; hasMore; ) {
    const path = `/partner/v1/events?after=${after}&limit=1000&type=${type}`
    const page = await expectAnswer(processes, { method: 'GET', path, token: tokens.alpha }, 200)
    sequences.push(...page.data.map(({ sequence }: { sequence: number }) => sequence))
    ;({ nextAfter: after, hasMore } = page)
  }
  return sequences
}

const isTrue = () => true
const isFalse = () => false

/** Ends the database server by SIGKILL and waits until it has ended. `keepServer` starts it again. */
async function killServer(world: World): Promise<void> {
  const [pid] = (await readFile(join(world.folder, 'server/postgres/postmaster.pid'), 'utf8')).split('\n')
  process.kill(Number(pid), 'SIGKILL')
  await world.server.ended
}
