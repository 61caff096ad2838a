/**
 * Closing under difficult conditions: late confirms, two processes at once, errors at each statement, and the same
 * orders closed again (contract/statements.md, "Days and closing").
 */
import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { createLogger } from '../../../src/log.ts'
import { closeStatements } from '../../../src/statements/closing.ts'
import { commissionOf } from '../../../src/statements/commission.ts'
import { makeAllLines } from '../../../src/statements/lines-store.ts'
import { verifyStatements } from '../../../src/statements/verify.ts'
import { type Bank, bankAt, openBank, range, stopClock, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/**
 * How many confirms are held back until after the closing of a statement, one per round. `npm run chaos -- statements`
 * sets more.
 */
const heldRounds = Number(process.env.HELD_ROUNDS ?? 10)

const logLines: string[] = []

let platform: TestPlatform
let sibling: TestPlatform
let bank: Bank
let other: pg.Client
before(async () => {
  platform = await startPlatform(
    { RATE_LIMIT: '0' },
    { logger: createLogger('warn', { write: line => void logLines.push(line) }) },
  )
  sibling = await platform.sibling()
  await platform.addStock('kyivstar', 'eu-10gb', 200 + heldRounds)
  bank = await openBank(platform)
  other = new pg.Client({ connectionString: platform.databaseUrl })
  await other.connect()
})
after(async () => {
  await other.end()
  await sibling.close()
  await platform.close()
})

const database = () => platform.platform.database
const closing = { waits: true }
const close = async (at: TestPlatform = platform) => {
  const { database, deps } = at.platform
  while (await closeStatements({ database, clock: deps.esim.clock }, closing.waits));
}
const dayMs = 86_400_000
/** Each test uses its own days, later than those before. */
let midnight = Date.parse('2055-03-01T00:00:00Z')
beforeEach(() => {
  midnight += 5 * dayMs
})

let lastOrder = 0
async function reserve(at: Bank = bank): Promise<string> {
  const { body, text, status } = await at.reserve(`closing-${++lastOrder}`)
  assert.equal(status, 201, text)
  return body.orderId
}
/** Stops the clocks of both processes. */
function stopBoth(ms: number): { [Symbol.dispose](): void } {
  const stopped = [platform, sibling].map(each => stopClock(each, new Date(ms)))
  return {
    [Symbol.dispose]() {
      for (const each of stopped.reverse()) each[Symbol.dispose]()
    },
  }
}
async function assertVerified(): Promise<void> {
  await makeAllLines(database(), 5_000)
  const { ok, checks } = await verifyStatements(database(), null)
  assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
}
const linesOf = (orderIds: string[]) =>
  database().query<{ orderId: string; to: Date; late: boolean }>(
    `select order_id as "orderId", to_at as "to", confirmed_at < from_at as late
     from statement_lines join statements using (statement_id)
     where order_id = any($1::uuid[]) order by confirmed_at, order_id`,
    [orderIds],
  )

test('a confirm that commits after the closing is on the next statement, late, and once', async () => {
  const held: string[] = []
  for (const round of range(heldRounds)) {
    midnight += dayMs
    let orderId: string
    let confirmed: Promise<{ status: number }>
    {
      using _ = stopBoth(midnight - 100)
      const at = round % 2 === 0 ? bank : bankAt(sibling, bank.token)
      orderId = await reserve(at)
      await other.query('begin')
      await other.query('select from orders where order_id = $1 for update', [orderId])
      confirmed = at.confirm(orderId)
      await until('the confirm waits', async () => {
        const [row] = await database().query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like '%with confirmed as%'`,
        )
        return (row?.waiting ?? 0) > 0
      })
    }
    {
      using _ = stopBoth(midnight + 61_000)
      // The bank has statements, so a day without sales is closed as well.
      await Promise.all([close(), close(sibling)])
      await other.query('commit')
      // On a busy machine the confirm may have waited too long and got a 503.
      if ((await confirmed).status === 200) held.push(orderId)
    }
  }
  midnight += dayMs
  using _ = stopBoth(midnight + 61_000)
  await Promise.all([close(), close(sibling)])
  const lines = await linesOf(held)
  assert.equal(lines.length, held.length)
  assert.ok(held.length > heldRounds / 3)
  assert.ok(
    lines.slice(1).every(({ late }) => late),
    'all but those of before the first statement are late',
  )
  await assertVerified()
})

test('a sale of a clock that was set back behind a closing is on the next statement, late, and once', async () => {
  const sell = async () => {
    const orderId = await reserve()
    assert.equal((await bank.confirm(orderId)).status, 200)
    return orderId
  }
  const closeAt = async (ms: number) => {
    using _ = stopBoth(ms)
    await Promise.all([close(), close(sibling)])
  }
  const orders: string[] = []
  {
    using _ = stopBoth(midnight - 1_000)
    orders.push(await sell())
  }
  await closeAt(midnight + 61_000)
  // The clock is behind by 1 s, by 5 s and by hours.
  for (const behindMs of [1_000, 5_000, 3 * 3_600_000]) {
    using _ = stopBoth(midnight - behindMs)
    orders.push(await sell())
  }
  await closeAt(midnight + dayMs + 61_000)
  const lines = await linesOf(orders)
  const next = new Date(midnight + dayMs).toISOString()
  assert.equal(lines.length, orders.length)
  const late = lines.filter(one => one.late)
  assert.deepEqual(
    late.map(({ orderId, to }) => [orderId, to.toISOString()]).toSorted(),
    orders
      .slice(1)
      .map(orderId => [orderId, next])
      .toSorted(),
  )
  await assertVerified()
})

test('sales around midnight while two processes close: each is on exactly one statement', async () => {
  const orders: string[] = []
  for (const _ of range(4)) {
    midnight += dayMs
    {
      using _ = stopBoth(midnight - 50)
      orders.push(...(await Promise.all(range(8).map(() => reserve()))))
      await Promise.all(orders.slice(-8, -4).map(orderId => bank.confirm(orderId)))
    }
    using _ = stopBoth(midnight + 60_000)
    await Promise.all([close(), close(sibling), ...orders.slice(-4).map(orderId => bank.confirm(orderId))])
  }
  midnight += dayMs
  using _ = stopBoth(midnight + 60_000)
  await Promise.all([close(), close(sibling)])
  const lines = await linesOf(orders)
  assert.deepEqual(lines.map(({ orderId }) => orderId).toSorted(), orders.toSorted())
  await assertVerified()
})

test('a closing that fails at any of its statements leaves nothing, and the next one does it again', async () => {
  {
    using _ = stopBoth(midnight - 50)
    await bank.confirm(await reserve())
  }
  using _ = stopBoth(midnight + 60_000)
  await database().execute(
    `create function break_it() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
  )
  const count = async () =>
    (
      await database().query<{ statements: number; files: number; closed: number }>(
        `select (select count(*)::int from statements) as statements, (select count(distinct statement_id)::int from statement_files) as files,
                (select count(*)::int from statement_lines where statement_id is not null) as closed`,
      )
    )[0]
  await close().catch(() => {})
  midnight += dayMs
  for (const [table, when] of [
    ['statement_lines', 'update'],
    ['statement_files', 'insert'],
    ['statements', 'insert'],
    ['outbox', 'insert'],
  ]) {
    using _ = stopBoth(midnight + 60_000)
    const before = await count()
    await database().execute(
      `create trigger broken before ${when} on ${table} for each row execute function break_it()`,
    )
    if (table !== 'statement_lines') await assert.rejects(close())
    await database().execute(`drop trigger broken on ${table}`)
    assert.deepEqual(await count(), before, String(table))
  }
  using __ = stopBoth(midnight + 60_000)
  await close()
  await assertVerified()
})

test('a bank whose statement cannot be closed does not stop the other banks', async () => {
  const gamma = await openBank(platform, await platform.bankToken('gamma'))
  {
    using _ = stopBoth(midnight - 50)
    for (const one of [bank, gamma]) assert.equal((await one.confirm(await reserve(one))).status, 200)
  }
  using _ = stopBoth(midnight + 60_000)
  const closedOf = async () =>
    (
      await database().query<{ code: string; n: number }>(
        `select code, count(*)::int as n from statements join banks using (bank_id) group by code order by code`,
      )
    ).map(({ code, n }) => [code, n])
  const alphaBefore = (await closedOf()).find(([code]) => code === 'alpha')?.[1] ?? 0
  await database().execute(
    `create function break_alpha() returns trigger language plpgsql as $$ begin
       if new.bank_id = (select bank_id from banks where code = 'alpha') then raise exception 'broken'; end if; return new; end $$`,
  )
  await database().execute(
    'create trigger broken before insert on statements for each row execute function break_alpha()',
  )
  await assert.rejects(close())
  assert.deepEqual(await closedOf(), [
    ['alpha', alphaBefore],
    ['gamma', 1],
  ])
  await database().execute('drop trigger broken on statements')
  await close()
  await assertVerified()
})

test('the same orders closed again give the same numbers and bytes', async () => {
  {
    using _ = stopBoth(midnight - 50)
    for (const _ of range(3)) await bank.confirm(await reserve())
  }
  using _ = stopBoth(midnight + 60_000)
  await close()
  const files = () =>
    database().query(
      `select number, day::text, encode(sha256, 'hex') as sha256, (
         select encode(sha256(string_agg(bytes, '' order by piece)), 'hex') from statement_files f where f.statement_id = s.statement_id
       ) as bytes from statements s order by number`,
    )
  const before = await files()
  assert.ok(before.every(({ sha256, bytes }: any) => sha256 === bytes))
  // The state after restoring a copy from two days ago.
  await database().execute(
    `with gone as (delete from statements where number > (select max(number) - 2 from statements) returning statement_id),
     files as (delete from statement_files where statement_id in (select statement_id from gone))
     update statement_lines set statement_id = null, line = null where statement_id in (select statement_id from gone)`,
  )
  await close()
  assert.deepEqual(await files(), before)
  await assertVerified()
})

test('commission is exact, rounded half away from zero, line by line', async () => {
  const rows = await database().query<{ cents: number; commission: string }>(
    `select cents, ${commissionOf('(cents / 100.0)::numeric(12, 2)', '12.3456::numeric')}::text as commission
     from (select (random() * 9999998)::int + 1 as cents from generate_series(1, 20000) union all select generate_series(1, 2000)) as amounts`,
  )
  for (const { cents, commission } of rows) {
    // Cents × 123456 / 1,000,000, in whole numbers.
    const exact = (BigInt(cents) * 123456n + 500000n) / 1000000n
    assert.equal(BigInt(commission.replace('.', '')), exact, `${cents}`)
  }
})

test('the log names every bank whose statement cannot be closed', async () => {
  const gamma = await openBank(platform, await platform.bankToken('gamma'))
  {
    using _ = stopBoth(midnight - 50)
    for (const one of [bank, gamma]) assert.equal((await one.confirm(await reserve(one))).status, 200)
  }
  await database().execute(
    `create function break_all() returns trigger language plpgsql as $$ begin
       raise exception 'broken by a test' using errcode = 'ZX' || case
         when new.bank_id = (select bank_id from banks where code = 'alpha') then '001' else '002' end; end $$`,
  )
  await database().execute(
    'create trigger broken before insert on statements for each row execute function break_all()',
  )
  const banks = await database().query<{ id: string }>(
    `select bank_id as id from banks where code in ('alpha', 'gamma') order by code`,
  )
  using _ = stopBoth(midnight + 60_000)
  const line = () =>
    logLines
      .map(text => JSON.parse(text))
      .find(({ job, err }) => job === 'close-statements' && err.errors?.length === banks.length)
  await until('the job has failed', async () => line() !== undefined)
  await database().execute('drop trigger broken on statements')
  for (const { id } of banks) assert.ok(line().err.message.includes(id), line().err.message)
  assert.deepEqual(
    line().err.errors.map(({ code }: { code: string }) => code),
    ['ZX001', 'ZX002'],
  )
  await close()
  await assertVerified()
})
