/**
 * No worker runs for five days (contract/events.md, "Promises"). Sales continue, and each event recorded meanwhile is
 * numbered once, in the order of recording.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dropOldEvents } from '../../../src/events/retention-store.ts'
import { daily } from '../../../src/events/sequence-store.ts'
import { emptyOldSlots } from '../../../src/outbox/tick-store.ts'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const days = 5
let platform: TestPlatform
let bank: Bank
const database = () => platform.platform.database

before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'partner', 'admin'] })
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
})
after(() => platform?.close())

const feed = async (query: string) => platform.call('GET', `/partner/v1/events${query}`, { token: bank.token })

/** Moves what was recorded within the last 12 hours this many days into the past. */
async function recordedDaysAgo(daysAgo: number): Promise<void> {
  await database().execute(
    `update outbox set recorded_at = now() - $1::int * interval '1 day',
       slot = ((date_part('epoch', now())::bigint / 86400 - $1) % 4)::int where recorded_at > now() - interval '12 hours'`,
    [daysAgo],
  )
}

/**
 * Drops all daily partitions, because without a worker they would not exist. Events that have a sequence number already
 * are first moved to the partition of an old day.
 */
async function loseDays(): Promise<void> {
  for (const table of daily) {
    await database().execute(`create table ${table}_20260101 (like ${table} including all)`)
    await database().execute(
      `alter table ${table} attach partition ${table}_20260101 for values from ('2026-01-01') to ('2026-01-02')`,
    )
    await database().execute(`update ${table} set day = '2026-01-01'`)
  }
  await database().execute(`update feed_days set day = '2026-01-01'`)
  const made = await database().query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = any($1::regclass[]) and inhrelid::regclass::text !~ '_20260101$'`,
    [daily],
  )
  assert.ok(made.length >= daily.length)
  for (const { name } of made) await database().execute(`drop table ${name}`)
}

test('no sale fails, no slot is emptied, and then every order is told once, in its order', async () => {
  const { lastSequence } = (await feed('?after=now')).body
  const orders: string[] = []
  for (let daysAgo = days; daysAgo >= 0; daysAgo--) {
    const { status, body } = await bank.reserve(`no-worker-${daysAgo}`)
    assert.equal(status, 201)
    assert.equal((await bank.cancel(body.orderId)).status, 200)
    orders.push(body.orderId)
    await recordedDaysAgo(daysAgo)
  }
  await loseDays()
  // Removes old days first, because a worker that runs again may do this before anything else.
  await emptyOldSlots(database())
  await dropOldEvents(database(), 400)
  assert.equal((await feed('?after=now')).status, 200)
  const { data } = (await feed(`?after=${lastSequence}&type=order.cancelled`)).body
  assert.deepEqual(
    data.map(({ data: { orderId } }: { data: { orderId: string } }) => orderId),
    orders,
  )
  const all = (await feed(`?after=${lastSequence}`)).body.data
  assert.deepEqual(
    all.map(({ sequence }: { sequence: number }) => sequence),
    all.map((_: unknown, index: number) => lastSequence + 1 + index),
  )
})
