/**
 * Many callers at the same moment, over two platforms on one database. Each test needs a real race: if the same side
 * always wins, nothing is proven and the test fails.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { expire } from '../../src/esim/orders/store.ts'
import { importProfiles } from '../../src/esim/stock/operations.ts'
import { withdrawProfiles } from '../../src/esim/stock/withdrawal.ts'
import {
  assertError,
  assertOrder,
  type Bank,
  bankAt,
  type EsimAnswer,
  each,
  openBank,
  provenBooks,
  range,
  tally,
  until,
} from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { inTurn, race, together } from '../support/race.ts'

let platform: TestPlatform
let sibling: TestPlatform
/** The same bank at both platforms. */
let banks: [Bank, Bank]
before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  sibling = await platform.sibling()
  const alpha = await openBank(platform)
  banks = [alpha, bankAt(sibling, alpha.token)]
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const database = () => platform.platform.database
let lastId = 0
const newId = () => `race-${++lastId}`
const bankOf = (index: number): Bank => banks[index % 2] as Bank
const tariffOf = (tariffCode: string) => ({ tariffCode, externalId: newId() })
const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map(item => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

/** Every answer must be one of these. */
function assertOnly(answers: readonly EsimAnswer[], ...codes: number[]): void {
  for (const answer of answers) assert.ok(codes.includes(answer.status), `${answer.status} ${answer.text}`)
}

describe('the last profile', () => {
  test('wanted by many callers of two processes: one gets it, the rest 503, and it can be sold again at once', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    const round = async (lead: number, count: number) => {
      const callers = count === 0 ? 200 : 50
      const answers = await Promise.all(
        range(callers).map(index => inTurn(index % 2, lead, () => bankOf(index).reserve(newId()))),
      )
      assertOnly(answers, 201, 503)
      assert.deepEqual(tally(answers), { 201: 1, 503: callers - 1 })
      const winner = answers.findIndex(({ status }) => status === 201)
      assertError(await bankOf(count).reserve(newId()), 503)
      assert.deepEqual(await provenBooks(platform), { profiles: 1, free: 0, reserved: 1, sold: 0, withdrawn: 0 })
      assertOrder(await bankOf(count).cancel(answers[winner]?.body.orderId), { status: 'cancelled' })
      return winner % 2
    }
    await race([0, 1], round, 14)
  })

  test('is never denied because of callers who only repeat', async () => {
    // The attempt to get the last profile must not look like a sale of it.
    const [repeated] = [newId()]
    const { orderId } = assertOrder(await bankOf(0).reserve(repeated), { status: 'reserved' }, 201)
    assertOrder(
      await bankOf(0)
        .confirm(orderId)
        .then(() => bankOf(0).read(orderId)),
      { status: 'confirmed' },
    )
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    for (let round = 0; round < 12; round++) {
      const others = range(30).map(index => bankOf(index).reserve(repeated))
      const answer = await bankOf(round).reserve(newId())
      const order = assertOrder(answer, { status: 'reserved' }, 201)
      for (const other of await Promise.all(others)) assertOrder(other, { status: 'confirmed', orderId })
      await bankOf(round + 1).cancel(order.orderId)
    }
  })

  test('sold, given back and lapsed by turns under many callers: never on two orders, never lost', async () => {
    await platform.addStock('kyivstar', 'ua-5gb', 12)
    const sold = { count: 0 }
    await Promise.all(
      range(24).map(async worker => {
        for (let turn = 0; turn < 12; turn++) {
          const answer = await bankOf(worker + turn).reserve(tariffOf('ua-5gb'))
          assertOnly([answer], 201, 503)
          if (answer.status !== 201) continue
          const { orderId } = answer.body
          const what = randomInt(10)
          if (what < 5) assertOnly([await bankOf(turn).cancel(orderId)], 200)
          else if (what < 9) await lapse([orderId])
          else if (sold.count < 6) {
            sold.count++
            assertOnly([await bankOf(turn).confirm(orderId)], 200)
          }
        }
      }),
    )
    const { free } = await provenBooks(platform, 'ua-5gb')
    const rest = await each(range(free), 4, index => bankOf(index).reserve(tariffOf('ua-5gb')))
    assertOnly(rest, 201)
    assertError(await bankOf(0).reserve(tariffOf('ua-5gb')), 503)
    assertError(await bankOf(1).reserve(tariffOf('ua-5gb')), 503)
    assert.equal((await provenBooks(platform, 'ua-5gb')).free, 0)
  })
})

/** Lets reservations expire now, or a little later. */
async function lapse(orderIds: string[], afterMs = 0): Promise<void> {
  await database().execute(`update orders set reserved_until = $2 where order_id = any($1) and status = 'reserved'`, [
    orderIds,
    new Date(platform.platform.deps.esim.clock.now().getTime() + afterMs),
  ])
}

describe('one externalId', () => {
  afterEach(async () => {
    await provenBooks(platform, 'empty')
  })

  test('20 times at the same moment: one 201, one order, one profile', async () => {
    await platform.addStock('kyivstar', 'empty', 100)
    const round = async (lead: number) => {
      const request = tariffOf('empty')
      const { free } = await provenBooks(platform, 'empty')
      const answers = await Promise.all(
        range(20).map(index => inTurn(index % 2, lead, () => bankOf(index).reserve(request))),
      )
      assert.deepEqual(tally(answers), { 200: 19, 201: 1 })
      assert.equal(new Set(answers.map(({ body }) => body.orderId)).size, 1)
      assert.equal(new Set(answers.map(({ body }) => body.msisdn)).size, 1)
      assert.equal((await provenBooks(platform, 'empty')).free, free - 1)
      return answers.findIndex(({ status }) => status === 201) % 2
    }
    await race([0, 1], round, 20)
  })

  test('20 times while a single profile is left, with others after it too', async () => {
    const { free } = await provenBooks(platform, 'empty')
    assertOnly(await each(range(free - 1), 16, index => bankOf(index).reserve(tariffOf('empty'))), 201)
    const round = async (lead: number, count: number) => {
      const request = tariffOf('empty')
      const [answers, others] = await together(
        lead,
        () => Promise.all(range(20).map(index => bankOf(index).reserve(request))),
        () => Promise.all(range(3).map(index => bankOf(index).reserve(tariffOf('empty')))),
      )
      assertOnly(answers, 200, 201, 503)
      const made = [...answers, ...others].filter(({ status }) => status === 201)
      assert.equal(made.length, 1)
      assert.ok(new Set(answers.filter(({ status }) => status < 300).map(({ body }) => body.orderId)).size <= 1)
      await bankOf(count).cancel(made[0]?.body.orderId)
      return answers.some(({ status }) => status === 201) ? 'the same' : 'another'
    }
    await race(['the same', 'another'], round, 20)
  })

  test('with two tariffs at the same moment: one order, the other tariff 409', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 40)
    await platform.addStock('kyivstar', 'empty', 40)
    const codes = ['eu-10gb', 'empty']
    const round = async (lead: number) => {
      const externalId = newId()
      const answers = await Promise.all(
        range(8).map(index =>
          inTurn(index % 2, lead, () => bankOf(index >> 1).reserve({ tariffCode: codes[index % 2], externalId })),
        ),
      )
      assert.deepEqual(tally(answers), { 200: 3, 201: 1, 409: 4 })
      return answers.find(({ status }) => status === 201)?.body.tariffCode
    }
    await race(codes, round, 20)
    await provenBooks(platform)
  })

  test('1,000 of them five times each: 1,000 × 201, 4,000 × 200, no profile more', async () => {
    await platform.addStock('kyivstar', 'empty', 1_100)
    const { free } = await provenBooks(platform, 'empty')
    const ids = range(1_000).map(newId)
    const posts = shuffled(range(5).flatMap(() => ids))
    const answers = await each(posts, 100, (externalId, index) =>
      bankOf(index).reserve({ tariffCode: 'empty', externalId }),
    )
    assert.deepEqual(tally(answers), { 200: 4_000, 201: 1_000 })
    const orderIds = Map.groupBy(answers, ({ body }) => body.externalId)
    for (const same of orderIds.values()) assert.equal(new Set(same.map(({ body }) => JSON.stringify(body))).size, 1)
    assert.equal((await provenBooks(platform, 'empty')).free, free - 1_000)
  })
})

describe('one order', () => {
  const reserveMany = async (count: number): Promise<string[]> => {
    await platform.addStock('kyivstar', 'off', count)
    await database().execute(`update tariffs set on_sale = true where code = 'off'`)
    await database().execute('update directory_version set version = version + 1')
    await Promise.all([platform, sibling].map(({ platform: { deps } }) => deps.esim.catalogue.refresh()))
    const answers = await each(range(count), 16, index => bankOf(index).reserve(tariffOf('off')))
    return answers.map(answer => assertOrder(answer, { status: 'reserved' }, 201).orderId)
  }

  test('confirmed, cancelled and lapsing at the same moment: one of them wins, and all see the same', async () => {
    const outcomes = new Set<string>()
    const moveAtOnce = async (orderId: string, round: number, leadMs: number) => {
      const mode = round % 3
      const jitter = () => sleep(randomInt(leadMs))
      const moves: Promise<EsimAnswer>[] = []
      const later = async (move: () => Promise<EsimAnswer>) => {
        await jitter()
        return move()
      }
      if (mode !== 0) await lapse([orderId], randomInt(1, 2 * leadMs))
      moves.push(
        later(() => bankOf(0).confirm(orderId)),
        later(() => bankOf(1).confirm(orderId)),
      )
      if (mode !== 1)
        moves.push(
          later(() => bankOf(1).cancel(orderId)),
          later(() => bankOf(0).cancel(orderId)),
        )
      const expiring = mode !== 0 && jitter().then(() => expire(database(), platform.platform.deps.esim.clock.now()))
      const seen: string[] = []
      let settled = false
      const watching = (async () => {
        while (!settled) seen.push((await bankOf(randomInt(2)).read(orderId)).body.status)
      })()
      const [answers] = await Promise.all([Promise.all(moves), expiring])
      settled = true
      await watching
      assertOnly(answers, 200, 409)
      const { status } = (await bankOf(0).read(orderId)).body
      assert.equal((await bankOf(1).read(orderId)).body.status, status)
      outcomes.add(status)
      for (const answer of answers) {
        const wanted = answer.path.endsWith('confirm') ? 'confirmed' : 'cancelled'
        assert.equal(answer.status === 200, wanted === status, `${answer.path}: ${answer.status} although ${status}`)
        if (answer.status === 200) assert.equal(answer.body.status, wanted)
      }
      // Once it is no longer reserved, it never changes.
      const changes = seen.filter((now, index) => now !== seen[index - 1])
      assert.ok(changes.length <= 2 && (changes.length < 2 || changes[0] === 'reserved'), `${changes}`)
      const codes = answers.flatMap(({ body }) => body.esim?.activationCode ?? [])
      assert.ok(new Set(codes).size <= 1)
    }
    for (let leadMs = 4; outcomes.size < 3; leadMs *= 2) {
      assert.ok(leadMs <= 512, `only ever ${[...outcomes]}`)
      await each(await reserveMany(120), 6, (orderId, round) => moveAtOnce(orderId, round, leadMs))
    }
    assert.deepEqual(outcomes, new Set(['confirmed', 'cancelled', 'expired']))
    assert.equal((await provenBooks(platform, 'off')).reserved, 0)
  })

  test('confirmed while its profile is wanted by others at the end of the reservation: sold once', async () => {
    await sellOut('off')
    const outcomes = new Set<string>()
    await platform.addStock('kyivstar', 'off', 1)
    let leftMs = 6
    for (let round = 0; round < 40 || !(outcomes.has('confirmed') && outcomes.has('resold')); round++) {
      assert.ok(round < 400, `only ever ${[...outcomes]}`)
      const { orderId } = assertOrder(await bankOf(round).reserve(tariffOf('off')), { status: 'reserved' }, 201)
      await lapse([orderId], leftMs)
      const soon = () => sleep(Math.random() * (leftMs + 2))
      const confirming = soon().then(() => bankOf(round).confirm(orderId))
      const resale = range(6).map(async index => {
        await sleep(leftMs / 3).then(soon)
        return bankOf(index).reserve(tariffOf('off'))
      })
      const confirmed = await confirming
      const answers = await Promise.all(resale)
      assertOnly([confirmed], 200, 409)
      assertOnly(answers, 201, 503)
      const resold = answers.filter(({ status }) => status === 201)
      assert.equal((confirmed.status === 200 ? 1 : 0) + resold.length <= 1, true, 'the profile was sold twice')
      outcomes.add(confirmed.status === 200 ? 'confirmed' : resold.length > 0 ? 'resold' : 'free')
      // Near the instant at which either side may win, whatever the speed of the machine.
      leftMs = confirmed.status === 200 ? Math.max(leftMs * 0.8, 2) : Math.min(leftMs * 1.25, 500)
      const { body } = await bankOf(round + 1).read(orderId)
      assert.equal(body.status, confirmed.status === 200 ? 'confirmed' : 'expired')
      if (confirmed.status === 200) await platform.addStock('kyivstar', 'off', 1)
      for (const answer of resold) await bankOf(round).cancel(answer.body.orderId)
      await provenBooks(platform, 'off')
    }
  })
})

async function sellOut(tariffCode: string, operatorCode = 'kyivstar'): Promise<number> {
  for (let sold = 0; ; sold++) {
    const answer = await bankOf(sold).reserve({ operatorCode, ...tariffOf(tariffCode) })
    if (answer.status === 201) continue
    assertError(answer, 503)
    return sold
  }
}

describe('stock that changes while it is sold', () => {
  const idsOf = async () => {
    const rows = await database().query<{ id: number }>(`select tariff_id as id from tariffs where code = 'world'`)
    return { tariffId: rows[0]?.id ?? 0 }
  }
  const world = () => ({ operatorCode: 'roamwide', tariffCode: 'world', externalId: newId() })

  test('several imports at once with sales all along: every profile is sold in the end', async () => {
    const { tariffId } = await idsOf()
    let importing = true
    let sold = 0
    const imports = Promise.all(
      range(4).map(async index => {
        await sleep(index * 15)
        const lines = [...profileLines({ count: 400, seed: 9_000 + index })]
        // In pieces, so that the imports overlap.
        const source = Readable.from(
          (async function* () {
            for (let at = 0; at < lines.length; at += 50) {
              yield lines.slice(at, at + 50).join('')
              await sleep(index === 0 ? 12 : 1)
            }
            // Profiles of the other imports are sold before this import ends.
            if (index === 0) await until('something is sold meanwhile', () => sold > 0)
          })(),
        )
        return importProfiles(platform.platform.deps.admin, { tariffId, source, skipInvalid: false })
      }),
    ).finally(() => {
      importing = false
    })
    const sales = range(6).map(async worker => {
      while (importing) {
        const answer = await bankOf(worker).reserve(world())
        assertOnly([answer], 201, 503)
        if (answer.status === 201) sold++
      }
    })
    assert.deepEqual(
      (await imports).map(({ imported }) => imported),
      [400, 400, 400, 400],
    )
    await Promise.all(sales)
    const { free } = await provenBooks(platform, 'world')
    assert.equal(free, 1_600 - sold)
    const rest = await each(range(free), 32, index => bankOf(index).reserve(world()))
    assert.deepEqual(tally(rest), { 201: free })
    assertError(await bankOf(0).reserve(world()), 503)
    assertError(await bankOf(1).reserve(world()), 503)
  })

  test('an import that becomes visible after a later one was sold out is found', async () => {
    const { tariffId } = await idsOf()
    // A trigger that waits for our lock holds the first import at its very end.
    const client = await database().connect()
    await client.query('select pg_advisory_lock(42)')
    await client.query(`
      create function wait_for_test() returns trigger language plpgsql as
        'begin perform pg_advisory_lock_shared(42); perform pg_advisory_unlock_shared(42); return null; end';
      create constraint trigger wait_for_test after insert on profiles deferrable initially deferred
        for each row when (new.msisdn like '+9999300%') execute function wait_for_test()`)
    try {
      const load = (seed: number, count: number) =>
        importProfiles(platform.platform.deps.admin, {
          tariffId,
          source: Readable.from(profileLines({ count, seed })),
          skipInvalid: false,
        })
      const waiting = async (): Promise<number> => {
        const { rows } = await client.query(
          `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
           where not granted and datname = current_database()`,
        )
        return rows[0].count
      }
      const first = load(9_300, 3)
      await until('the first import is held', async () => (await waiting()) > 0)
      let done = false
      const second = load(9_400, 40).finally(() => {
        done = true
      })
      await until('the second import is through, or waits for the first', async () => done || (await waiting()) > 1)
      const early = await sellOut('world', 'roamwide')
      await client.query('select pg_advisory_unlock(42)')
      await Promise.all([first, second])
      assert.equal(early + (await sellOut('world', 'roamwide')), 43)
      assertError(await bankOf(1).reserve(world()), 503)
    } finally {
      await client.query('drop trigger wait_for_test on profiles; drop function wait_for_test')
      await client.end()
    }
  })

  test('a withdrawal against a sale: each profile goes one way', async () => {
    const { tariffId } = await idsOf()
    const lines = [...profileLines({ count: 60, seed: 9_100 })]
    await importProfiles(platform.platform.deps.admin, { tariffId, source: Readable.from(lines), skipInvalid: false })
    const iccids = lines.slice(1).map(line => line.split(',')[0] ?? '')
    let sold = 0
    let withdrawn = 0
    const [firstIsAway, firstIsSold] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await Promise.all([
      each(shuffled(iccids), 3, async (iccid, index) => {
        // Not all of them are withdrawn before one is sold.
        if (index >= 30) await firstIsSold.promise
        const { admin } = (index % 2 ? platform : sibling).platform.deps
        const result = await withdrawProfiles(admin, { iccids: [iccid] })
        withdrawn += result.withdrawn
        assert.equal(result.withdrawn + result.notFree, 1)
        firstIsAway.resolve()
      }),
      each(range(60), 6, async index => {
        await firstIsAway.promise
        const answer = await bankOf(index).reserve(world())
        assertOnly([answer], 201, 503)
        if (answer.status !== 201) return
        sold++
        firstIsSold.resolve()
      }).finally(firstIsSold.resolve),
    ])
    assert.ok(sold > 0 && withdrawn > 0, `sold ${sold}, withdrawn ${withdrawn}: no race`)
    const books = await provenBooks(platform, 'world')
    assert.equal(books.withdrawn, withdrawn)
    assert.equal(books.free, 60 - sold - withdrawn)
    assertOnly(await each(range(books.free), 8, index => bankOf(index).reserve(world())), 201)
    assertError(await bankOf(0).reserve(world()), 503)
  })
})

describe('OPEN_RESERVATIONS holds over all processes', () => {
  const live = async (given: TestPlatform) => {
    const [row] = await given.platform.database.query<{ count: number }>(
      `select count(*)::int as count from orders where status = 'reserved' and reserved_until > $1`,
      [given.platform.deps.esim.clock.now()],
    )
    return row?.count ?? 0
  }

  for (const limit of [1, 3, 5])
    test(`a limit of ${limit}`, async () => {
      const first = await startPlatform({ OPEN_RESERVATIONS: String(limit) })
      const second = await first.sibling()
      try {
        await first.addStock('kyivstar', 'eu-10gb', 60)
        const alpha = await openBank(first)
        const both = [alpha, bankAt(second, alpha.token)]
        const at = (index: number) => both[index % 2] as Bank
        let place = 0
        const fill = async (free: number) => {
          const answers = await Promise.all(range(24).map(index => at(index).reserve(`${limit}-${++place}`)))
          assert.deepEqual(tally(answers), { ...(free > 0 && { 201: free }), 429: 24 - free })
          for (const answer of answers.filter(({ status }) => status === 429)) assertError(answer, 429)
          assert.equal(await live(first), limit)
          return answers.filter(({ status }) => status === 201).map(({ body }) => body)
        }
        const orders = await fill(limit)
        await fill(0)
        const [order] = orders
        // Repeated requests need no room, and get the same answer.
        for (const index of range(4)) assertOrder(await at(index).reserve(order.externalId), { status: 'reserved' })
        assertError(await alpha.reserve({ externalId: order.externalId, tariffCode: 'ua-5gb' }), 409)
        assertError(await alpha.reserve({ externalId: 'x', tariffCode: 'nothing' }), 404)
        const beta = await openBank(second, await first.bankToken('beta'))
        assertOrder(await beta.reserve('theirs'), { status: 'reserved' }, 201)
        await beta.cancel((await beta.reserve('theirs')).body.orderId)

        await at(1).cancel(order.orderId)
        const [again] = await fill(1)
        await at(0).confirm(again.orderId)
        await fill(1)
        await first.call('POST', '/sandbox/clock', { body: { advance: 'PT15M' } })
        second.platform.deps.esim.clock.setOffsetMs(first.platform.deps.esim.clock.offsetMs())
        await fill(limit)
        await provenBooks(first)
      } finally {
        await second.close()
        await first.close()
      }
    })

  test('with room for one, the same POST many times: one is made, and the others find it', async () => {
    const first = await startPlatform({ OPEN_RESERVATIONS: '5' })
    try {
      for (const code of ['eu-10gb', 'ua-5gb']) await first.addStock('kyivstar', code, 10)
      const alpha = await openBank(first)
      for (const index of range(4)) assertOrder(await alpha.reserve(`open-${index}`), { status: 'reserved' }, 201)
      const codes = ['eu-10gb', 'ua-5gb']
      for (const round of range(20)) {
        const externalId = `same-${round}`
        const answers = await Promise.all(
          range(6).map(index => alpha.reserve({ tariffCode: codes[index % 2], externalId })),
        )
        const made = answers.find(({ status }) => status === 201)
        assert.deepEqual(tally(answers), { 200: 2, 201: 1, 409: 3 })
        await alpha.cancel(made?.body.orderId)
      }
    } finally {
      await first.close()
    }
  })

  test('a limit of 1,000, at full speed over two processes that each were far from it', async () => {
    const first = await startPlatform({ OPEN_RESERVATIONS: '1000', DATABASE_POOL: '10' })
    const second = await first.sibling()
    try {
      await first.addStock('kyivstar', 'eu-10gb', 2_500)
      const alpha = await openBank(first)
      const both = [alpha, bankAt(second, alpha.token)]
      for (const bank of both) assertOrder(await bank.reserve(newId()), { status: 'reserved' }, 201)
      const answers = await each(range(2_400), 64, index => (both[index % 2] as Bank).reserve(newId()))
      assert.deepEqual(tally(answers), { 201: 998, 429: 1_402 })
      assert.equal(await live(first), 1_000)
      await provenBooks(first)
    } finally {
      await second.close()
      await first.close()
    }
  })
})
