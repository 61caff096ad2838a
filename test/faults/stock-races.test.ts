/**
 * Many callers reserve at the same moment while the stock changes, or at the limit on open reservations, over two
 * platforms on one database. Each test needs a real race: if the same side always wins, the test proves nothing and
 * fails.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { importProfiles } from '../../src/esim/stock/operations.ts'
import { withdrawProfiles } from '../../src/esim/stock/withdrawal.ts'
import {
  assertError,
  assertOrder,
  type Bank,
  bankAt,
  each,
  openBank,
  provenBooks,
  range,
  tally,
  until,
} from '../support/esim.ts'
import { assertOnly, newId, openTwoPlatforms, sellOut, shuffled } from '../support/esim-races.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let sibling: TestPlatform
/** The same bank at both platforms. */
let banks: [Bank, Bank]
before(async () => {
  ;({ platform, sibling, banks } = await openTwoPlatforms())
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const database = () => platform.platform.database
const bankOf = (index: number): Bank => banks[index % 2] as Bank

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
        // The file arrives in pieces, so that the imports overlap.
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
    // A trigger waits for our lock, so the first import stops just before its commit.
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
      const early = await sellOut(bankOf, 'world', 'roamwide')
      await client.query('select pg_advisory_unlock(42)')
      await Promise.all([first, second])
      assert.equal(early + (await sellOut(bankOf, 'world', 'roamwide')), 43)
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
        // The last withdrawals wait until a profile is sold.
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
        // At the limit, a repeated request still gets its first answer, because it makes no new reservation.
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
