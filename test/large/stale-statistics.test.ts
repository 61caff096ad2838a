/**
 * The database's statistics may be from a time without reservations, because it refreshes them only after many changes.
 * Even then, no statement may read all reservations for each order.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/database.ts'
import { advance, type Bank, each, openBank, provenBooks, tally, until } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const sold = 20_000
const open = 50_000

let platform: TestPlatform
let database: Database
let bank: Bank
before(async () => {
  platform = await startPlatform()
  database = platform.platform.database
  bank = await openBank(platform)
  await database.execute('alter table orders set (autovacuum_enabled = false)')
  await database.execute(
    `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
     select tariff_id, int4send(n), '+' || 380670000000 + n, '', now() from tariffs, generate_series(1, $1) n where code = 'eu-10gb'`,
    [sold + open],
  )
  await addOrders(sold, 'confirmed')
  await database.execute('analyze orders')
  await addOrders(open, 'reserved')
})
after(() => platform.close())

/** Adds this many orders, for the first profiles that have no order. */
async function addOrders(count: number, status: 'reserved' | 'confirmed'): Promise<void> {
  await database.execute(
    `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                         confirmed_at, delivery_mode)
     select gen_random_uuid(), bank_id, $1 || profile_id, tariff_id, profile_id, $1, 1, 'UAH', $2::timestamptz,
            $2::timestamptz + interval '15 minutes', case when $1 = 'confirmed' then $2::timestamptz end, case when $1 = 'confirmed' then 'local' end
     from profiles, banks
     where banks.code = 'alpha' and profile_id > coalesce((select max(profile_id) from orders), 0) order by profile_id limit $3`,
    [status, platform.platform.deps.esim.clock.now(), count],
  )
}

test('a cancellation reads only its own order', async () => {
  const cancelled = 200
  const orders = await database.query<{ id: string }>(
    `select order_id as id from orders where status = 'reserved' order by profile_id limit ${cancelled}`,
  )
  const before = await readStatistics()
  // A connection adds its reads to the statistics when it ends. So the cancels run in another process, which is then
  // closed.
  const sibling = await platform.sibling()
  const there = await openBank(sibling, bank.token)
  const answers = await each(orders, 16, ({ id }) => there.cancel(id))
  await sibling.close()
  assert.deepEqual(tally(answers), { 200: cancelled })
  let after = before
  await until('they have told', async () => {
    after = await readStatistics()
    return after.changed >= before.changed + cancelled
  })
  const read = after.read - before.read
  // `read` includes the test's own reads.
  assert.ok(read < (cancelled * open) / 10, `${read} rows were read`)
})

/** Reads of orders since the database was made. */
async function readStatistics(): Promise<{ changed: number; read: number }> {
  const [row] = await database.query<{ changed: number; read: number }>(
    `select n_tup_upd as changed, coalesce(idx_tup_fetch, 0) + seq_tup_read as read from pg_stat_user_tables where relname = 'orders'`,
  )
  assert.ok(row)
  return row
}

test('fifty thousand expired reservations are marked', async () => {
  await advance(platform, 'PT15M')
  await until('all are marked', async () => {
    const left = await database.query(`select from orders where status = 'reserved' limit 1`)
    return left.length === 0
  })
  assert.equal((await provenBooks(platform)).free, open)
})
