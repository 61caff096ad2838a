/**
 * What `esim/stock/stock.ts` and reservations guarantee under concurrency: every free profile is found and none is
 * lost. These tests force a certain order of events on a real database; `order-races.test.ts` tries random orders.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Database, openDatabase, type Queryable, type Statement } from '../../../src/db/database.ts'
import { DomainError } from '../../../src/errors.ts'
import { createOrders, type Orders } from '../../../src/esim/orders/operations.ts'
import { countUnsold } from '../../../src/esim/orders/reserve-store.ts'
import { createSealing } from '../../../src/esim/stock/sealing.ts'
import { createStock } from '../../../src/esim/stock/stock.ts'
import { each, openBank, provenBooks, range, until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
const opened: Database[] = []
let database: Database
let bankId: string
let tariffId: number
before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  database = platform.platform.database
  const [bank] = await database.query<{ id: string }>(`select bank_id as id from banks where code = 'alpha'`)
  const [tariff] = await database.query<{ id: number }>(`select tariff_id as id from tariffs where code = 'eu-10gb'`)
  bankId = bank?.id ?? ''
  tariffId = tariff?.id ?? 0
})
beforeEach(() => database.execute('truncate orders, returned_profiles, stock_positions, profiles'))
after(async () => {
  closing = true
  await Promise.all(opened.map(real => real.close()))
  await platform.close()
  assert.deepEqual(faults, [])
})

/** True once the tests close the database. Background errors are not counted from then on. */
let closing = false
const faults: unknown[] = []
const onError = (error: unknown) => {
  if (!closing) faults.push(error)
}
const clock = () => platform.platform.deps.esim.clock
type Watch = (name: string, run: () => Promise<unknown>) => Promise<unknown>

/** The same database with `watch` called for each statement. */
function watched(watch: Watch, real = database): Database {
  const name = (statement: Statement | string) => (typeof statement === 'string' ? statement : statement.name)
  const over = (queryable: Queryable): Queryable => ({
    query: (statement, values) => watch(name(statement), () => queryable.query(statement, values)) as Promise<never>,
    tuples: (statement, values) => watch(name(statement), () => queryable.tuples(statement, values)) as Promise<never>,
    execute: (statement, values) =>
      watch(name(statement), () => queryable.execute(statement, values)) as Promise<number>,
  })
  return { ...real, ...over(real), transaction: work => real.transaction(inner => work(over(inner))) }
}

/** The stock and operations of another process on the same database. */
function anotherProcess(
  watch: Watch = (_, run) => run(),
  { openReservations = 1_000_000, at = platform }: { openReservations?: number; at?: TestPlatform } = {},
): Orders {
  // Each process has its own connections; with shared ones, the processes would wait for each other.
  const real = openDatabase({ connection: { connectionString: at.databaseUrl }, poolSize: 4 })
  opened.push(real)
  const own = watched(watch, real)
  const { clock, catalogue } = at.platform.deps.esim
  return createOrders({
    database: own,
    reservationShare: 100,
    clock,
    catalogue,
    stock: createStock({ database: own, clock, onError }),
    sealing: createSealing([randomBytes(32)], randomBytes(32)),
    mailer: { send: () => assert.fail('no mail'), close: async () => {} },
    activationReads: { note: () => {}, close: async () => {} },
    msisdnDays: null,
    openReservations,
    observe: { reservation: () => {}, mail: () => {} },
    onError,
  })
}

const caller = 'system:pk_test'
let lastRest = 0
const request = (externalId: string) => ({
  bankId,
  caller,
  operatorCode: 'kyivstar',
  tariffCode: 'eu-10gb',
  externalId,
})

/**
 * Sells until no profile is left.
 * @returns how many profiles were sold
 */
async function sellOut(orders: Orders): Promise<number> {
  for (let sold = 0; ; sold++) {
    const error = await orders.reserve(request(`rest-${++lastRest}`)).then(
      () => null,
      (error: unknown) => error,
    )
    if (error === null) continue
    assert.ok(error instanceof DomainError && error.code === 'no-stock', String(error))
    return sold
  }
}

describe('a caller is never told that the stock is empty', () => {
  test('while another one, who turned up during the look at it, may give the last profile back', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    const gate = Promise.withResolvers<void>()
    let looks = 0
    let running = 0
    const stock = createStock({
      database: watched(async (_, run) => {
        looks++
        running++
        await gate.promise
        return run().finally(() => running--)
      }),
      clock: clock(),
      onError,
    })
    const first = stock.take(tariffId)
    await until('the first look has begun', () => looks > 0)
    const second = stock.take(tariffId)
    gate.resolve()
    // Both callers look for a free profile. Either of them may get the only one first.
    const candidate = await Promise.race([first, second])
    assert.ok(candidate)
    // Waits until the other caller's search has ended. The search finds nothing, because the only profile is being
    // tried.
    for (let quiet = 0; quiet < 5; quiet = running === 0 ? quiet + 1 : 0) await turn()
    stock.giveBack(tariffId, candidate)
    assert.deepEqual(await Promise.all([first, second]), [candidate, candidate])
  })

  test('while another process is marking the reservation that has just run out', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    const ours = anotherProcess()
    const { order } = await ours.reserve(request('first'))
    await database.execute(`update orders set reserved_until = $1 where order_id = $2`, [clock().now(), order.orderId])
    const client = await database.connect()
    try {
      await client.query('begin')
      await client.query(
        `with expired as (update orders set status = 'expired' where order_id = $1 returning profile_id, tariff_id)
         insert into returned_profiles (profile_id, tariff_id) select profile_id, tariff_id from expired`,
        [order.orderId],
      )
      let answered = false
      const second = ours.reserve(request('second')).finally(() => {
        answered = true
      })
      second.catch(() => {})
      await until('the caller waits for that process', async () => {
        const [row] = await database.query<{ waiting: number }>(
          'select count(*)::int as waiting from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()',
        )
        return answered || (row?.waiting ?? 0) > 0
      })
      await client.query('commit')
      assert.equal((await second).repeated, false)
    } finally {
      await client.end()
    }
  })

  test('behind returned profiles that were sold again in the same moment', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 700)
    await database.execute(
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                           confirmed_at, delivery_mode)
       select gen_random_uuid(), $1, 'sold-' || profile_id, tariff_id, profile_id, 'confirmed', 1, 'UAH', now(), now(), now(), 'local'
       from profiles order by profile_id limit 699`,
      [bankId],
    )
    await database.execute('insert into returned_profiles select profile_id, tariff_id from profiles')
    await database.execute(
      'insert into stock_positions select tariff_id, max(profile_id) from profiles group by tariff_id',
    )
    const [tariff] = await database.query<{ id: number }>('select tariff_id as id from profiles limit 1')
    assert.equal(await countUnsold(database, tariff?.id ?? 0), 1, 'the limit of a bank’s share counts them out, too')
    const ours = anotherProcess()
    await ours.reserve(request('last'))
    assert.equal(await sellOut(ours), 0)
  })

  test('because it stood below what this process has passed over', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 40)
    const [ours, theirs] = [anotherProcess(), anotherProcess()]
    const made = await Promise.all(range(20).map(index => ours.reserve(request(`a${index}`))))
    assert.equal(await sellOut(theirs), 20)
    for (const { order } of made.slice(0, 7)) await ours.cancel({ bankId, orderId: order.orderId, caller })
    assert.equal(await sellOut(theirs), 7)
    for (const { order } of made.slice(7, 9)) await theirs.cancel({ bankId, orderId: order.orderId, caller })
    assert.equal(await sellOut(ours), 2)
    assert.equal((await provenBooks(platform)).free, 0)
  })
})

describe('no profile is lost to a process', () => {
  test('when single rows of a statement fail', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 30)
    let failing = true
    let alone = 0
    const ours = anotherProcess(async (name, run) => {
      if (name !== 'esim.reserve' || !failing) return run()
      // The first statement, for all rows together, fails. Then each row gets a statement of its own, and every third
      // of these fails.
      if (alone++ % 3 === 0) throw new Error('planned')
      return run()
    })
    await ours.reserve(request('warm')).catch(() => {})
    alone = 0
    // Sends the ids in a mixed order, so that it differs from the order of the profiles.
    const answers = await Promise.allSettled(range(20).map(index => ours.reserve(request(`x${(index * 7) % 20}`))))
    assert.ok(
      answers.some(({ status }) => status === 'rejected') && answers.some(({ status }) => status === 'fulfilled'),
    )
    failing = false
    const { free } = await provenBooks(platform)
    assert.ok(free > 0)
    assert.equal(await sellOut(ours), free)
  })

  test('when the same externalId comes many times at once', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 30)
    const [ours, theirs] = [anotherProcess(), anotherProcess()]
    const orders = await Promise.all(range(40).map(index => (index % 2 ? ours : theirs).reserve(request('same'))))
    assert.equal(new Set(orders.map(({ order }) => order.orderId)).size, 1)
    assert.equal(orders.filter(({ repeated }) => !repeated).length, 1)
    assert.equal(await sellOut(ours), 29)
  })
})

test('a window that another process has sold out costs a few tries, not one for each of its profiles', async () => {
  await platform.addStock('kyivstar', 'eu-10gb', 700)
  let tries = 0
  const idle = anotherProcess((name, run) => {
    if (name === 'esim.reserve') tries++
    return run()
  })
  await idle.reserve(request('early'))
  const busy = anotherProcess()
  await Promise.all(range(650).map(index => busy.reserve(request(`b${index}`))))
  tries = 0
  await idle.reserve(request('late'))
  assert.ok(tries <= 40, `${tries} tries`)
})

test('reservations of several banks in several processes wait for each other without deadlock', async () => {
  // A database of its own, so that deadlocks of other tests are not counted.
  const own = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  const { database } = own.platform
  const sessionCount = async (): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
    )
    return row?.count ?? 0
  }
  try {
    await own.addStock('kyivstar', 'eu-10gb', 2_000)
    const banks = await database.query<{ id: string }>('select bank_id as id from banks order by bank_id')
    const processes = [anotherProcess(undefined, { at: own }), anotherProcess(undefined, { at: own })]
    const theirs = opened.splice(-2)
    // In each process, the first reservation of a bank takes the bank's lock, and later ones take none. So the first
    // ones are made before the race. The trigger makes statements slow enough to overlap.
    for (const one of processes) for (const { id } of banks) await one.reserve({ ...request('first'), bankId: id })
    await database.execute(`
      create function slow_down() returns trigger language plpgsql as 'begin perform pg_sleep(0.001); return new; end'`)
    await database.execute('create trigger slow_down before insert on orders for each row execute function slow_down()')
    const ids = range(400)
    const inSomeOrder = () => ids.toSorted(() => Math.random() - 0.5)
    await Promise.all(
      processes.flatMap((one, index) =>
        inSomeOrder().map(id =>
          one.reserve({ ...request(`d${id}-${index}`), bankId: banks[id % banks.length]?.id ?? '' }),
        ),
      ),
    )
    // A caller would not notice a deadlock, so this reads the server's count of deadlocks. The server counts those of a
    // session when the session ends, so the sessions are closed first.
    const left = (await sessionCount()) - theirs.reduce((sum, each) => sum + each.pool().total, 0)
    await Promise.all(theirs.map(each => each.close()))
    await until('their sessions have ended', async () => (await sessionCount()) <= left)
    const [row] = await database.query<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    assert.equal(row?.deadlocks, 0)
    assert.equal((await provenBooks(own)).reserved, 800 + banks.length)
  } finally {
    await own.close()
  }
})

test('a limit that is far away at first holds exactly in the end, over several processes', async () => {
  const limit = 4_600
  await platform.addStock('kyivstar', 'eu-10gb', limit + 300)
  const processes = range(3).map(() => anotherProcess(undefined, { openReservations: limit }))
  let made = 0
  await each(range(limit + 200), 300, async index => {
    try {
      await processes[index % 3]?.reserve(request(`l${index}`))
      made++
    } catch (error) {
      assert.ok(error instanceof DomainError && error.code === 'too-many-reservations', String(error))
    }
  })
  assert.equal(made, limit)
  assert.equal((await provenBooks(platform)).reserved, limit)
})

test('an answer names the profile that the database has given to the order', async () => {
  await platform.addStock('kyivstar', 'eu-10gb', 60)
  const bank = await openBank(platform)
  const answers = await Promise.all(range(50).map(index => bank.reserve(`m${(index * 13) % 50}`)))
  for (const { body } of answers) assert.equal((await bank.read(body.orderId)).body.msisdn, body.msisdn)
})
