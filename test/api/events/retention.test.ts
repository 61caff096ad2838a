/**
 * Days past their retention are removed as a whole, and their readers get 410. The feeds continue after a database was
 * restored into a PostgreSQL cluster whose transactions have lower numbers.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dropOldEvents } from '../../../src/events/retention-store.ts'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { emptyOldSlots, recoverOutbox } from '../../../src/outbox/tick-store.ts'
import { type Bank, openBank, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank
const database = () => platform.platform.database
const feed = async (query = '') => platform.call('GET', `/partner/v1/events${query}`, { token: bank.token })
async function number(): Promise<void> {
  while ((await sequenceEvents(database(), true))?.mayBeMore);
}
async function cancelled(externalId: string): Promise<void> {
  await bank.cancel((await bank.reserve(externalId)).body.orderId)
}

before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
})
after(() => platform?.close())

test('an old day goes, its readers get 410, and sequences go on where they were', async () => {
  await cancelled('old')
  await number()
  const before = (await feed()).body
  assert.ok(before.lastSequence > 0)
  // Moves all events to a day that is past its retention.
  await database().execute(`create table events_20260101 (like events including all)`)
  await database().execute(
    `alter table events attach partition events_20260101 for values from ('2026-01-01') to ('2026-01-02')`,
  )
  await database().execute(`update events set day = '2026-01-01'`)
  await database().execute(`update feed_days set day = '2026-01-01'`)
  assert.deepEqual((await feed()).body.data, before.data)
  await dropOldEvents(database(), 30)
  const gone = await feed()
  assert.deepEqual(
    [gone.status, gone.body.code, gone.body.oldestSequence],
    [410, 'events-removed', before.lastSequence + 1],
  )
  const empty = (await feed(`?after=${before.lastSequence}`)).body
  assert.deepEqual(
    [empty.data, empty.lastSequence, empty.oldestSequence],
    [[], before.lastSequence, before.lastSequence + 1],
  )
  await cancelled('new')
  await number()
  const [next] = (await feed(`?after=${before.lastSequence}`)).body.data
  assert.deepEqual([next.sequence, next.type], [before.lastSequence + 1, 'order.cancelled'])
  await emptyOldSlots(database())
})

test('a dump that was restored into a younger cluster: what had no number yet gets one, once', async t => {
  // No worker runs here: a worker's tick between the two halves of the restore would number the events again.
  const restored = await startPlatform({}, { only: ['auth', 'esim', 'partner'] })
  t.after(() => restored.close())
  const { database } = restored.platform
  const number = async () => {
    while ((await sequenceEvents(database, true))?.mayBeMore);
  }
  await restored.addStock('kyivstar', 'eu-10gb', 2)
  const bank = await openBank(restored)
  const cancelled = async (externalId: string) => {
    await bank.cancel((await bank.reserve(externalId)).body.orderId)
  }
  const feed = (query: string) => restored.call('GET', `/partner/v1/events${query}`, { token: bank.token })
  await cancelled('before the dump')
  await number()
  const { lastSequence, feedId } = (await feed('?after=now')).body
  await database.transaction(async transaction => {
    await transaction.execute(`lock table event_ticks in access exclusive mode`)
    // The dump is from a cluster with much higher transaction numbers than this one.
    await transaction.execute(`update outbox set xid = (xid::text::bigint + 1000000)::text::xid8`)
    await transaction.execute(
      `insert into outbox (xid, kind, account, account_type, data)
       select (pg_current_xact_id()::text::bigint + 2000000)::text::xid8, 'event', null, 'platform',
         jsonb_build_object('type', 'order.cancelled', 'at', now(), 'banks', jsonb_build_array(account_id), 'text', '{"restored":1}')
       from feeds where feed_id = $1`,
      [feedId],
    )
    const moved = (at: string) => `(${at}::text::bigint + 1000000)`
    await transaction.execute(
      `update event_ticks set snapshot = (${moved('pg_snapshot_xmin(snapshot)')} || ':' || ${moved('pg_snapshot_xmax(snapshot)')} || ':')::pg_snapshot`,
    )
  })
  await recoverOutbox(database)
  await cancelled('after the restore')
  await number()
  const answer = await feed(`?after=${lastSequence}`)
  assert.equal(answer.status, 200, answer.text)
  const { data } = answer.body
  assert.deepEqual(
    data.map(({ data: one }: { data: { restored?: number; status?: string } }) => one.restored ?? one.status),
    [1, 'cancelled'],
  )
})

test('an account without events for longer than the retention goes on where it ended, and so do its endpoint and a replay', async () => {
  await number()
  const { lastSequence } = (await feed('?after=now')).body
  const call = (method: string, path: string, body?: unknown) =>
    platform.call(method, `/partner/v1${path}`, { token: bank.token, ...(body !== undefined && { body }) })
  // Nothing listens at this port, so the endpoint's deliveries wait.
  const made = await call('POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/', eventTypes: ['order.*'] })
  assert.equal(made.status, 201, made.text)
  const path = `/webhook-endpoints/${made.body.endpointId}`
  await cancelled('waits')
  await number()
  const waiting = async () => (await call('GET', '/webhook-deliveries?state=pending')).body.data
  await until('its delivery waits', async () => (await waiting()).length === 1)
  assert.equal((await call('POST', `${path}/replay`, { from: lastSequence + 1, only: 'all' })).status, 202)
  await until('the replay waits, too', async () => (await waiting()).length === 2)

  const { lastSequence: last } = (await feed('?after=now')).body
  await database().execute(`create table events_20260102 (like events including all)`)
  await database().execute(
    `alter table events attach partition events_20260102 for values from ('2026-01-02') to ('2026-01-03')`,
  )
  await database().execute(`update events set day = '2026-01-02'`)
  await database().execute(`update feed_days set day = '2026-01-02'`)
  await dropOldEvents(database(), 30)
  // The second removal, when the account has no events left, must not change its feed.
  await dropOldEvents(database(), 30)
  const gone = await feed(`?after=${lastSequence}`)
  assert.deepEqual([gone.status, gone.body.oldestSequence], [410, last + 1])

  // A delivery whose event was removed fails at its next attempt, because it would have no body.
  for (const { deliveryId } of await waiting()) {
    assert.equal((await call('POST', `/webhook-deliveries/${deliveryId}/retry`)).status, 202)
    await until(
      'the delivery has ended',
      async () => (await call('GET', `/webhook-deliveries/${deliveryId}`)).body.state === 'failed',
    )
  }
  await cancelled('goes on')
  await number()
  const next = (await feed(`?after=${last}`)).body.data
  assert.deepEqual(
    next.map(({ sequence }: { sequence: number }) => sequence),
    [last + 1],
  )
  await until('the endpoint has it', async () => (await waiting())[0]?.sequence === last + 1)
  const { position, pending } = (await call('GET', path)).body
  assert.deepEqual([position, pending], [last + 1, 1])
  await call('DELETE', path)
})

test('a day that somebody is reading for long does not stop the removal from other tables', async () => {
  for (const table of ['events', 'webhook_attempts']) {
    await database().execute(`create table ${table}_20260103 (like ${table} including all)`)
    await database().execute(
      `alter table ${table} attach partition ${table}_20260103 for values from ('2026-01-03') to ('2026-01-04')`,
    )
  }
  const left = () =>
    database().query(`select relname as table from pg_class where relname ~ '_20260103$' and relkind = 'r' order by 1`)
  const reader = await database().connect()
  try {
    await reader.query('begin')
    await reader.query('lock table events_20260103 in access share mode')
    await assert.rejects(dropOldEvents(database(), 30))
    assert.deepEqual(await left(), [{ table: 'events_20260103' }])
  } finally {
    await reader.end()
  }
  await dropOldEvents(database(), 30)
  assert.deepEqual(await left(), [])
})
