/**
 * A replay keeps its pace no matter how many workers hand it over, and it finds events by the instants that they
 * report.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Queryable } from '../../../src/db/database.ts'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { handOverAll } from '../../../src/webhooks/hand-over-store.ts'
import { countReplayed } from '../../../src/webhooks/replay-store.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
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

/** What a transaction has read so far: rows of events, and how often it has looked into an index of deliveries. */
async function readBy(transaction: Queryable): Promise<{ events: number; lookUps: number }> {
  const [read] = await transaction.query<{ events: number; lookUps: number }>(
    `select (sum(idx_tup_fetch + seq_tup_read) filter (where relname like 'events%'))::int as events,
       (sum(idx_scan) filter (where relname like 'webhook_deliveries%'))::int as "lookUps"
     from pg_stat_xact_user_tables`,
  )
  return read ?? assert.fail('a sum is one row')
}
async function reading(transaction: Queryable, work: () => Promise<unknown>): ReturnType<typeof readBy> {
  const before = await readBy(transaction)
  await work()
  const after = await readBy(transaction)
  return { events: after.events - before.events, lookUps: after.lookUps - before.lookUps }
}
/** Hands events over to the endpoints. @returns what each transaction has read, one for each piece of a replay */
async function handOverAndRead(): Promise<Awaited<ReturnType<typeof readBy>>[]> {
  const pieces: Awaited<ReturnType<typeof readBy>>[] = []
  const transaction: Database['transaction'] = work =>
    database().transaction(async own => {
      let result: unknown
      pieces.push(await reading(own, async () => (result = await work(own))))
      return result as never
    })
  await handOverAll({ ...database(), transaction })
  return pieces
}

test('a piece of a replay reads no more events than it examines, and looks up only deliveries that have failed', async () => {
  await tell(5_000)
  const { lastSequence } = (await call('GET', '/events?after=now')).body
  const from = lastSequence - 4_999
  const endpointId = await makeEndpoint()
  await database().execute('analyze events, webhook_deliveries')
  const replay = async (body: object) =>
    (await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from, to: lastSequence, ...body })).body
  const made = async ({ replayId }: { replayId: string }) =>
    database().query<{ sequence: number; deliveryId: string }>(
      'select sequence::int, delivery_id as "deliveryId" from webhook_deliveries where replay_id = $1 order by sequence',
      [replayId],
    )
  const all = await replay({ only: 'all' })
  assert.equal(all.deliveries, 5_000)
  const [dense] = await handOverAndRead()
  assert.ok(dense && dense.events <= 2_100, JSON.stringify(dense))
  const handed = await made(all)
  assert.deepEqual(
    handed.map(({ sequence }) => sequence),
    Array.from({ length: 12 }, (_, at) => from + at),
  )
  // The third delivery has failed. The fourth one has failed as well, and is delivered by a later replay below.
  const failing = handed.slice(2, 4).map(({ deliveryId }) => deliveryId)
  await database().execute(
    `update webhook_deliveries set next_attempt_at = null, state = case when delivery_id = any($2) then 'failed' else 'delivered' end
     where endpoint_id = $1`,
    [endpointId, failing],
  )
  await database().execute('update webhook_replays set finished_at = now()')
  const again = await replay({ from: from + 3, to: from + 3, only: 'all' })
  await sleep(1_000)
  await handOverAll(database())
  assert.equal((await made(again)).length, 1)
  await database().execute(
    `update webhook_deliveries set state = 'delivered', next_attempt_at = null where replay_id = $1`,
    [again.replayId],
  )
  const params = { endpointId, from, through: lastSequence, since: null, until: null, types: null, onlyFailed: true }
  await database().transaction(async transaction => {
    const counting = () => countReplayed(transaction, { type: 'bank', id: bankId }, params, 100)
    const { lookUps } = await reading(transaction, counting)
    assert.ok(lookUps < 500, `the count has looked up ${lookUps} times`)
  })
  const failed = await replay({ only: 'failed' })
  assert.equal(failed.deliveries, 1)
  // The platform has ended the replay at the last failed delivery. This moves its end to the last event, so that the
  // range is longer than what one piece examines.
  await database().execute('update webhook_replays set through = $2 where replay_id = $1', [
    failed.replayId,
    lastSequence,
  ])
  await sleep(1_000)
  const sparse = [await handOverAndRead(), await handOverAndRead(), await handOverAndRead()].flat()
  for (const { events, lookUps } of sparse) assert.ok(events <= 4_100 && lookUps < 500, JSON.stringify(sparse))
  assert.deepEqual(
    (await made(failed)).map(({ sequence }) => sequence),
    [from + 2],
  )
  assert.deepEqual(await unfinished(endpointId), 0)
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

async function unfinished(endpointId: string): Promise<number> {
  const rows = await database().query('select from webhook_replays where endpoint_id = $1 and finished_at is null', [
    endpointId,
  ])
  return rows.length
}

test('a replay of nothing is over at once', async () => {
  const endpointId = await makeEndpoint()
  const { body } = await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: 1, only: 'failed' })
  assert.equal(body.deliveries, 0)
  assert.equal(await replaysOf(endpointId), 0)
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

const replaysOf = async (endpointId: string): Promise<number> => {
  const rows = await database().query('select from webhook_replays where endpoint_id = $1', [endpointId])
  return rows.length
}

test('an endpoint has at most 10 unfinished replays; what has ended is removed, and so is what a deleted endpoint had', async () => {
  await tell(3)
  const endpointId = await makeEndpoint()
  const { lastSequence } = (await call('GET', '/events?after=now')).body
  const replay = (from = lastSequence) =>
    call('POST', `/webhook-endpoints/${endpointId}/replay`, { from, only: 'all', types: ['tariff.*'] })
  const operator = (from: number) =>
    platform.call('POST', `/admin/webhook-endpoints/${endpointId}/replay`, {
      ...{ token: platform.config.operatorKey, body: { from, only: 'all' } },
    })
  const answers = await Promise.all(Array.from({ length: 30 }, () => replay()))
  const accepted = answers.filter(({ status }) => status === 202)
  assert.equal(accepted.length, 10)
  for (const { status, body } of answers.filter(answer => !accepted.includes(answer)))
    assert.deepEqual([status, body.code], [409, 'limit-reached'])
  assert.equal((await operator(lastSequence)).status, 409)
  assert.equal((await replay(lastSequence + 1)).status, 409, 'also a replay of nothing')
  assert.equal(await replaysOf(endpointId), 10)
  while (await handOverAll(database()));
  const left = await replaysOf(endpointId)
  assert.ok(left < 10, `${left} replays of one event are left`)
  const again = await Promise.all(Array.from({ length: 10 }, () => replay()))
  assert.equal(again.filter(({ status }) => status === 202).length, 10 - left)
  const other = await makeEndpoint()
  assert.equal((await call('POST', `/webhook-endpoints/${other}/replay`, { from: 1, only: 'all' })).status, 202)
  for (const id of [endpointId, other]) {
    assert.ok((await replaysOf(id)) > 0)
    await call('DELETE', `/webhook-endpoints/${id}`)
    assert.equal(await replaysOf(id), 0)
  }
})

test('the events of other endpoints do not wait for replays', async () => {
  const replaying = await Promise.all([makeEndpoint(), makeEndpoint()])
  const plain = await makeEndpoint()
  const made = async (endpointId: string) =>
    database().query(
      `select from webhook_deliveries where endpoint_id = $1 and replay_id is null and type = 'tariff.availability_changed'`,
      [endpointId],
    )
  while (await handOverAll(database()));
  for (const endpointId of replaying)
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: 1, only: 'all' })).status, 202)
  await tell(2)
  // The replays cannot advance while this transaction holds their rows.
  const { passed } = await database().transaction(async transaction => {
    await transaction.query('select from webhook_replays where endpoint_id = any($1::uuid[]) for update', [replaying])
    const passed = handOverAll(database())
    await until('the events are handed over', async () => (await made(plain)).length === 2)
    return { passed }
  })
  await passed
  for (const endpointId of replaying) assert.equal((await made(endpointId)).length, 2, 'their own events follow')
  for (const endpointId of [...replaying, plain]) await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('a replay that fails delays neither events nor other replays', async () => {
  const [failing, sound] = await Promise.all([makeEndpoint(), makeEndpoint()])
  const ask = async (endpointId: string, body: object) =>
    assert.equal((await call('POST', `/webhook-endpoints/${endpointId}/replay`, body)).status, 202)
  await tell(1)
  while (await handOverAll(database()));
  for (const endpointId of [failing, sound]) await ask(endpointId, { from: 1, only: 'all' })
  // From now on this replay looks for the time of each event, and the first event that it reads has none.
  await database().execute('update webhook_replays set since = now() where endpoint_id = $1', [failing])
  const { body: page } = await call('GET', '/events?limit=1')
  await database().execute(`update events set body = '"' where event_id = $1`, [page.data[0].id])
  await tell(1)
  await assert.rejects(handOverAll(database()))
  for (const [endpointId, expected] of [
    [failing, { events: 2, replayed: 0 }],
    [sound, { events: 2, replayed: 12 }],
  ] as const) {
    const [row] = await database().query(
      `select count(*) filter (where replay_id is null and type = 'tariff.availability_changed')::int as events,
         count(*) filter (where replay_id is not null)::int as replayed from webhook_deliveries where endpoint_id = $1`,
      [endpointId],
    )
    assert.deepEqual(row, expected)
  }
  await database().execute('update events set body = $2 where event_id = $1', [
    page.data[0].id,
    JSON.stringify(page.data[0]),
  ])
  for (const endpointId of [failing, sound]) await call('DELETE', `/webhook-endpoints/${endpointId}`)
})

test('while the events of a replay are counted, its endpoint is not locked', async () => {
  const endpointId = await makeEndpoint()
  const asked = await database().transaction(async transaction => {
    await transaction.execute('lock table webhook_deliveries in access exclusive mode')
    const answer = call('POST', `/webhook-endpoints/${endpointId}/replay`, { from: 1, only: 'failed' })
    await until('the request waits', async () => {
      const [row] = await database().query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_deliveries%'`,
      )
      return row?.n === 1
    })
    const free = await transaction.query(
      'select from webhook_endpoints where endpoint_id = $1 for update skip locked',
      [endpointId],
    )
    assert.equal(free.length, 1)
    return { answer }
  })
  assert.equal((await asked.answer).status, 202)
  await call('DELETE', `/webhook-endpoints/${endpointId}`)
})
