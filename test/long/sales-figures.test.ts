/**
 * Sales figures and stock counters are added up from the outbox. At every moment they equal a recount of the orders, no
 * matter which process adds them up, is killed meanwhile, or is not running.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { profileLines } from '../../samples/make-profiles.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { newOrderId } from '../../src/esim/orders/order-id.ts'
import { salesSteps } from '../../src/esim/sold/audit-steps.ts'
import { partsOf } from '../../src/esim/sold/edges.ts'
import { countMadeSince, countSales, countSoldSince, countStock } from '../../src/esim/sold/figures-store.ts'
import { foldSales } from '../../src/esim/sold/fold-store.ts'
import { sequenceEvents } from '../../src/events/sequence-store.ts'
import { countWaiting, emptyOldSlots, pieceRows, recoverOutbox } from '../../src/outbox/tick-store.ts'
import { daysBetween } from '../../src/text/days.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { advance, type Bank, openBank, range } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import fc from '../support/properties.ts'

const isOver = `status in ('confirmed', 'cancelled', 'expired')`
const endedAt = 'coalesce(confirmed_at, cancelled_at, reserved_until)'

type Counts = { confirmed: number; cancelled: number; expired: number }
type CountedSales = Counts & {
  span: number
  operatorCode: string
  tariffCode: string
  currency: string
  amount: string
}

/** Converts counted sales to the form of the API. Each tariff has one currency, so there is at most one amount. */
const shownSales = (counted: CountedSales[], names: string[]) =>
  counted.map(({ span, currency, amount, ...row }) => ({
    day: names[span],
    ...row,
    amounts: row.confirmed > 0 ? [{ currency, amount: Number(amount) }] : [],
  }))

function totalOf(counted: CountedSales[]) {
  const sum = (of: keyof Counts) => counted.reduce((total, row) => total + row[of], 0)
  const cents = counted.reduce((total, { amount }) => total + Math.round(Number(amount) * 100), 0)
  const amounts = sum('confirmed') > 0 ? [{ currency: 'UAH', amount: cents / 100 }] : []
  return { confirmed: sum('confirmed'), cancelled: sum('cancelled'), expired: sum('expired'), amounts }
}

/** Compares every figure with the same figure counted by plain SQL over all orders, in one snapshot. */
async function assertFigures(database: Database, now: Date): Promise<void> {
  await database.transaction(async transaction => {
    await transaction.execute('set transaction isolation level repeatable read')
    assert.deepEqual(
      (await countStock(transaction, now)).map(({ operatorCode: _, ...counts }) => counts),
      await transaction.query(
        `select t.code as "tariffCode",
                (select count(*) from profiles p where p.tariff_id = t.tariff_id)
                  - count(o.*) filter (where o.status in ('confirmed', 'withdrawn') or o.status = 'reserved' and o.reserved_until > $1) as free,
                count(o.*) filter (where o.status = 'reserved' and o.reserved_until > $1) as reserved,
                count(o.*) filter (where o.status = 'confirmed') as sold, count(o.*) filter (where o.status = 'withdrawn') as withdrawn
         from tariffs t left join orders o using (tariff_id)
         group by t.tariff_id order by mobile_operator_id, position, tariff_id`,
        [now],
      ),
    )
    const banks = await transaction.query<{ bankId: string }>('select bank_id as "bankId" from banks')
    for (const timeZone of ['UTC', 'Europe/Kyiv', 'America/New_York', 'Asia/Kathmandu'])
      for (const { bankId } of banks) {
        const day = (days: number) => new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)
        const { names, bounds } = daysBetween({ from: day(-3), to: day(1), timeZone }, 10)
        const told = await countSales(transaction, { bankId, names, bounds, now })
        const counted = await transaction.query<CountedSales>(
          `select width_bucket(${endedAt}, $2::timestamptz[]) - 1 as span, m.code as "operatorCode", t.code as "tariffCode", o.currency,
                  count(*) filter (where o.status = 'confirmed') as confirmed,
                  count(*) filter (where o.status = 'cancelled') as cancelled,
                  count(*) filter (where o.status in ('expired', 'reserved')) as expired,
                  coalesce(sum(o.price) filter (where o.status = 'confirmed'), 0)::text as amount
           from orders o join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id)
           where bank_id = $1 and (o.${isOver} or o.status = 'reserved' and reserved_until <= $3)
             and ${endedAt} >= $4 and ${endedAt} < $5
           group by 1, mobile_operator_id, m.code, t.code, t.position, o.currency order by 1, mobile_operator_id, t.position, o.currency`,
          [bankId, bounds, now, bounds[0], bounds.at(-1)],
        )
        assert.deepEqual(JSON.parse(`[${told.days}]`), shownSales(counted, names), timeZone)
        assert.deepEqual(JSON.parse(told.totals), totalOf(counted), timeZone)
      }
    const since = new Date(now.getTime() - 86_400_000)
    const made = await transaction.query<{ status: string; orders: number }>(
      `select case when status = 'reserved' and reserved_until <= $2 then 'expired' else status end as status, count(*) as orders
       from orders where bank_id is not null and created_at >= $1 group by 1`,
      [since, now],
    )
    assert.deepEqual(await countMadeSince(transaction, since, now), {
      ...{ reserved: 0, confirmed: 0, cancelled: 0, expired: 0 },
      ...Object.fromEntries(made.map(({ status, orders }) => [status, orders])),
    })
    const sold = await transaction.query<{ tariffId: number; sold: number }>(
      `select tariff_id as "tariffId", count(*) as sold from orders where confirmed_at >= $1 group by 1`,
      [since],
    )
    assert.deepEqual(
      [...(await countSoldSince(transaction, since))].sort(([a], [b]) => a - b),
      sold.map(row => [row.tariffId, row.sold]).sort(([a = 0], [b = 0]) => a - b),
    )
    for (const step of salesSteps) {
      let after: string[] | null = null
      do {
        const piece = await step.next(transaction, after)
        assert.deepEqual(piece.findings, [], step.name)
        after = piece.reached
      } while (after)
    }
  })
}

const foldAll = async (database: Database) => {
  while (await foldSales(database));
}
/** Runs work beside a test. The work ends when `end` is called, or with the test at the latest. */
function untilDisposed(work: (isOver: () => boolean) => Promise<void>) {
  let over = false
  const done = work(() => over)
  done.catch(() => {})
  const end = () => {
    over = true
    return done
  }
  return { end, [Symbol.asyncDispose]: end }
}

const storedOrders = async (database: Database) => {
  const [row] = await database.query<{ orders: number }>(
    'select coalesce(sum(orders), 0)::int as orders from sales_days',
  )
  return row?.orders
}

describe('while banks sell', () => {
  let platform: TestPlatform
  let sibling: TestPlatform
  let banks: Bank[]
  const now = () => platform.platform.deps.esim.clock.now()
  const database = () => platform.platform.database
  before(async () => {
    platform = await startPlatform({ DATABASE_POOL: '10' }, { only: ['auth', 'esim', 'admin', 'portal'] })
    sibling = await platform.sibling()
    await platform.addStock('kyivstar', 'eu-10gb', 400)
    await platform.addStock('kyivstar', 'ua-5gb', 60)
    banks = [
      await openBank(platform, await platform.bankToken('alpha')),
      await openBank(sibling, await platform.bankToken('gamma')),
    ]
  })
  after(async () => {
    await sibling.close()
    await platform.close()
  })

  let made = 0
  /** Makes orders in both processes at once: confirms some, cancels some, and leaves the others reserved. */
  const sell = (orders: number) =>
    Promise.all(
      range(orders).map(async n => {
        const bank = banks[n % 2] as Bank
        const tariffCode = n % 3 === 0 ? 'ua-5gb' : 'eu-10gb'
        const answer = await bank.reserve({ externalId: `sold-${made++}`, tariffCode })
        if (answer.status !== 201) return assert.equal(answer.status, 503, answer.text)
        if (n % 5 < 2) assert.equal((await bank.confirm(answer.body.orderId)).status, 200)
        else if (n % 5 === 2) assert.equal((await bank.cancel(answer.body.orderId)).status, 200)
      }),
    )
  const withdraw = async () => {
    const source = [...profileLines({ count: 3, seed: 9_000 + made })]
    const iccids = source.slice(1).map(line => line.split(',')[0])
    await platform.call('POST', '/admin/profiles?operator=kyivstar&tariff=eu-10gb', {
      token: platform.config.operatorKey,
      raw: source.join(''),
      headers: { 'content-type': 'text/csv' },
    })
    const answer = await platform.call('POST', '/admin/profiles/withdraw', {
      token: platform.config.operatorKey,
      body: { iccids },
    })
    assert.deepEqual([answer.status, answer.body.withdrawn], [200, 3], answer.text)
  }

  /** Connections with open transactions, closed when the test ends, even if it fails. */
  const connections = async (count: number) => {
    const clients = await Promise.all(range(count).map(() => database().connect()))
    const end = async () => void (await Promise.all(clients.map(client => client.end())))
    return Object.assign(clients, { [Symbol.asyncDispose]: end })
  }

  test('no worker: all is exact from the outbox alone', async () => {
    assert.equal(await storedOrders(database()), 0)
    await sell(40)
    await withdraw()
    await assertFigures(database(), now())
    const { rows, lagSeconds } = await countWaiting(database(), 'sales')
    assert.ok(rows > 0 && lagSeconds > 0)
    assert.equal(await storedOrders(database()), 0)
  })

  test('a worker that is killed again and again counts nothing twice and leaves nothing out', async () => {
    const program = fileURLToPath(new URL('../support/folding.ts', import.meta.url))
    await using killing = untilDisposed(async isOver => {
      for (let round = 0; !isOver(); round++) {
        const workers = range(2).map(() => spawn(process.execPath, [program, platform.databaseUrl]))
        const before = await storedOrders(database())
        for (let look = 0; look < 300 && (await storedOrders(database())) === before; look++)
          await new Promise(resolve => setTimeout(resolve, 5 + (round % 5)))
        for (const worker of workers) {
          worker.kill('SIGKILL')
          await once(worker, 'exit')
        }
      }
    })
    for (let round = 0; round < 8; round++) {
      await Promise.all([sell(30), round % 3 === 0 ? withdraw() : platform.addStock('kyivstar', 'eu-10gb', 10)])
      if (round % 4 === 3) await advance(platform, 'PT20M')
      await assertFigures(database(), now())
    }
    await killing.end()
    await assertFigures(database(), now())
    await foldAll(database())
    await assertFigures(database(), now())
    assert.deepEqual(await countWaiting(database(), 'sales'), { rows: 0, lagSeconds: 0 })
    assert.ok(((await storedOrders(database())) ?? 0) > 100)
  })

  test('a transaction that commits late is counted then, one that is rolled back never; nobody waits for it', async () => {
    const orders = await Promise.all(
      range(4).map(async n => (await (banks[0] as Bank).reserve(`late-${n}`)).body.orderId as string),
    )
    await using clients = await connections(orders.length)
    const end = `update orders set status = 'confirmed', confirmed_at = created_at + interval '1 s', delivery_mode = 'local' where order_id = $1`
    for (const [n, client] of clients.entries()) {
      await client.query('begin')
      await client.query(end, [orders[n]])
    }
    await sell(10)
    await foldAll(database())
    assert.equal((await countWaiting(database(), 'sales')).rows, 0, 'what is committed is added up')
    await clients[1]?.query('commit')
    await clients[2]?.query('rollback')
    await assertFigures(database(), now())
    assert.equal((await countWaiting(database(), 'sales')).rows, 1)
    await sell(10)
    await foldAll(database())
    await assertFigures(database(), now())
    await clients[0]?.query('commit')
    await clients[3]?.query('commit')
    await assertFigures(database(), now())
    await foldAll(database())
    await assertFigures(database(), now())
  })

  test('beside a long read figures go on, and the reader sees those of its own time', async () => {
    await using clients = await connections(1)
    const reader = clients[0] as pg.Client
    await reader.query('begin isolation level repeatable read')
    const orders = `select (select sum(orders) from sales_days) as orders`
    const before = (await reader.query(orders)).rows
    await sell(20)
    await foldAll(database())
    await assertFigures(database(), now())
    assert.deepEqual((await reader.query(orders)).rows, before)
    await reader.query('commit')
  })

  test('a long backlog is taken in pieces, each with what others commit meanwhile', async () => {
    await using clients = await connections(1)
    const held = clients[0] as pg.Client
    const orderId = (await (banks[0] as Bank).reserve('backlog')).body.orderId
    await held.query('begin')
    await held.query(`update orders set status = 'cancelled', cancelled_at = created_at where order_id = $1`, [orderId])
    const told = `insert into outbox (kind, account, subjects) values ('order.confirmed', null, '{}')`
    await database().execute(`do $$ begin for n in 1..${pieceRows + 200} loop ${told}; commit; end loop; end $$`)
    await sell(20)
    assert.equal(await foldSales(database()), true)
    await assertFigures(database(), now())
    assert.ok((await countWaiting(database(), 'sales')).rows >= 200)
    await held.query('commit')
    await assertFigures(database(), now())
    await foldAll(database())
    assert.equal((await countWaiting(database(), 'sales')).rows, 0)
    await assertFigures(database(), now())
  })

  test('slots of the outbox are emptied two days later, and not before all in them is taken', async () => {
    const slotDay = "(date_part('epoch', now())::bigint / 86400 %% 4)".replace('%%', '%')
    await database().execute(`with old as (delete from outbox returning *)
      insert into outbox (outbox_id, slot, xid, recorded_at, kind, account, subjects)
      select outbox_id, (${slotDay} + 2) % 4, xid, recorded_at, kind, account, subjects from old`)
    const rows = async () => (await database().query('select from outbox')).length
    const before = await rows()
    assert.ok(before > 0)
    await (banks[0] as Bank).cancel((await (banks[0] as Bank).reserve('kept')).body.orderId)
    await database().execute(`update outbox set slot = (${slotDay} + 2) % 4`)
    await emptyOldSlots(database())
    assert.equal(await rows(), before + 1, 'one is not taken yet')
    await foldAll(database())
    // The rows of the outbox are in slots by day. A slot is emptied only when every reader of the outbox has taken its
    // rows. So this moves the other readers to the present.
    await database().execute(`insert into event_ticks (consumer, snapshot)
      select consumer, pg_current_snapshot() from event_ticks where consumer <> 'sales' group by consumer`)
    await (banks[0] as Bank).cancel((await (banks[0] as Bank).reserve('of today')).body.orderId)
    await emptyOldSlots(database())
    assert.equal(await rows(), 1)
    await assertFigures(database(), now())
  })

  test('a dump that was restored into a younger cluster: what was not added up is so once, and new sales are', async () => {
    await foldAll(database())
    await sell(10)
    // Makes the rows look like those of a dump from a cluster whose transactions have much higher numbers than here.
    await database().execute(`update outbox set xid = (xid::text::bigint + 1000000)::text::xid8`)
    const moved = (at: string) => `(${at}::text::bigint + 1000000)`
    await database().execute(
      `insert into event_ticks (consumer, snapshot)
       select consumer, (${moved('pg_snapshot_xmin(snapshot)')} || ':' || ${moved('pg_snapshot_xmax(snapshot)')} || ':')::pg_snapshot
       from event_ticks order by tick_id desc limit 1`,
    )
    await sell(10)
    await recoverOutbox(database())
    await assertFigures(database(), now())
    await sell(10)
    await assertFigures(database(), now())
    await foldAll(database())
    await assertFigures(database(), now())
  })

  test('the figures go on after a restart, and the metrics tell how far behind the events are', async () => {
    await sell(5)
    const text = await platform.platform.metrics.registry.metrics()
    assert.match(text, /^perkline_events_waiting [1-9]/m)
    assert.match(text, /^perkline_events_lag_seconds [0-9.]+$/m)
    while ((await sequenceEvents(database(), true))?.mayBeMore);
    const numbered = await platform.platform.metrics.registry.metrics()
    assert.match(numbered, /^perkline_events_waiting 0$/m, 'they tell of events, not of figures')
    assert.match(numbered, /^perkline_events_lag_seconds 0$/m)
    await sibling.close()
    sibling = await platform.sibling()
    banks[1] = await openBank(sibling, await platform.bankToken('gamma'))
    await sell(5)
    await assertFigures(database(), now())
  })
})

describe('a database of before', () => {
  let scratch: TestDatabase
  const run = (text: string, values?: unknown[]) => scratch.database.execute(text, values)
  const now = new Date('2026-11-21T12:00:00Z')
  const orders = 45_000
  /** Runs a statement for the numbers 1 to `total`, 3,000 at a time: a slow machine does not reach the statement timeout. */
  const inPieces = async (total: number, text: string, more: unknown[] = []) => {
    for (let from = 1; from <= total; from += 3_000) await run(text, [from, Math.min(total, from + 2_999), ...more])
  }
  before(async () => {
    scratch = await createTestDatabase({ migrated: false })
    await migrate(
      scratch.database,
      readMigrations().filter(({ version }) => version < 26),
    )
    await run(
      `insert into banks (bank_id, code, name, logo_url, api_version, status, esim_delivery_mode, esim_all_operators)
       values (gen_random_uuid(), 'alpha', 'Alpha', '', '', 'active', 'local', true)`,
    )
    await run(
      `insert into mobile_operators (code, name_uk, name_en, country, status) values ('star', 'Z', 'Z', 'UA', 'active')`,
    )
    await run(`insert into tariffs (mobile_operator_id, code, name, description, price, currency, data_volume_mb, data_unlimited, voice_minutes,
        voice_unlimited, sms_count, sms_unlimited, validity_days, on_sale, position)
      select 1, 'tariff-' || n, '', '', n, 'UAH', 0, false, 0, false, 0, false, 1, true, n from generate_series(1, 3) n`)
    await inPieces(
      orders + 3_000,
      `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
       select n % 3 + 1, sha256(n::text::bytea), '', '', now() from generate_series($1::int, $2::int) n`,
    )
    await inPieces(
      orders,
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                           confirmed_at, cancelled_at, delivery_mode)
       select overlay(gen_random_uuid()::text placing
                overlay(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') placing '-' from 9 for 0) || '-7' from 1 for 15)::uuid,
              (select bank_id from banks), n::text, n % 3 + 1, n, status, n % 3 + 1, 'UAH', at, at + interval '15 min',
              case status when 'confirmed' then at + interval '1 min' end, case status when 'cancelled' then at + interval '2 min' end,
              case status when 'confirmed' then 'local' end
       from generate_series($1::int, $2::int) n
       cross join lateral (select (array['confirmed', 'confirmed', 'cancelled', 'expired', 'reserved'])[n % 5 + 1] as status,
                                  $3::timestamptz - interval '3 days' + n * interval '6 s' as at) s`,
      [now],
    )
  })
  after(() => scratch.close())

  /** Ends one reserved order as a process of the previous version does. */
  const endOne = (set: string) =>
    run(
      `update orders set ${set} where order_id = (select order_id from orders where status = 'reserved' order by random() limit 1)`,
    )

  test('its figures are unavailable until the worker has added up its orders, and exact then, with what was sold meanwhile', async () => {
    assert.deepEqual(
      (await migrate(scratch.database, readMigrations())).sort(),
      readMigrations()
        .slice(25)
        .map(({ name }) => name)
        .sort(),
    )
    const stock = () => countStock(scratch.database, now)
    await assert.rejects(stock, { code: 'unavailable' })
    await endOne(`status = 'expired'`)
    await run(
      `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at) select 1, sha256('a'), '', '', now()`,
    )
    let pieces = 0
    while (await foldSales(scratch.database)) {
      pieces++
      await assert.rejects(stock, { code: 'unavailable' })
      await endOne(`status = 'confirmed', confirmed_at = created_at, delivery_mode = 'local'`)
      await endOne(`status = 'cancelled', cancelled_at = created_at, ended_by = null`)
      await run(
        `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at) select 2, sha256('b${pieces}'), '', '', now()`,
      )
    }
    assert.ok(pieces >= 5, `${pieces} pieces`)
    await assertFigures(scratch.database, now)
    await endOne(`status = 'expired'`)
    await run(
      `insert into orders (order_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until)
       values ($1, 2, ${orders} + 1000, 'withdrawn', 0, '', $2, $2)`,
      [newOrderId(now), now],
    )
    await assertFigures(scratch.database, now)
    await foldAll(scratch.database)
    await assertFigures(scratch.database, now)
  })
})

test('whole days, hours and rests add up to every span, whatever its bounds', () => {
  const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 20) }).map(ms => new Date(ms))
  fc.assert(
    fc.property(fc.array(instant, { minLength: 2, maxLength: 6 }), fc.array(instant), (some, events) => {
      const bounds = some.sort((one, other) => one.getTime() - other.getTime())
      const { days, hours, rests } = partsOf(bounds)
      for (let span = 0; span + 1 < bounds.length; span++) {
        const within = (from: number, ms: number) =>
          events.filter(at => at.getTime() >= from && at.getTime() < from + ms).length
        const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
        const [from = 0, until = 0] = [bounds[span]?.getTime(), bounds[span + 1]?.getTime()]
        assert.equal(
          sum(days.filter(part => part.span === span).map(({ day }) => within(Date.parse(day), 86_400_000))) +
            sum(
              hours
                .filter(part => part.span === span)
                .map(({ hour, sign }) => sign * within(hour.getTime(), 3_600_000)),
            ) +
            sum(
              rests
                .filter(part => part.span === span)
                .map(rest => rest.sign * within(rest.from.getTime(), rest.until.getTime() - rest.from.getTime())),
            ),
          within(from, until - from),
        )
      }
    }),
  )
})
