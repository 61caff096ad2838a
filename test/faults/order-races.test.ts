/**
 * Many callers want the last profile, use the same externalId or change the same order at the same moment, over two
 * platforms on one database. Each test needs a real race: if the same side always wins, the test proves nothing and
 * fails.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { expire } from '../../src/esim/orders/store.ts'
import {
  assertError,
  assertOrder,
  type Bank,
  type EsimAnswer,
  each,
  provenBooks,
  range,
  tally,
} from '../support/esim.ts'
import { assertOnly, newId, openTwoPlatforms, sellOut, shuffled } from '../support/esim-races.ts'
import type { TestPlatform } from '../support/platform.ts'
import { inTurn, race, together } from '../support/race.ts'

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
const tariffOf = (tariffCode: string) => ({ tariffCode, externalId: newId() })

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
    // While callers repeat a known request, the last profile must not look sold to a caller who sends a new one.
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
      // An order that is no longer reserved never changes its status again.
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
    await sellOut(bankOf, 'off')
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
      // Adapts the remaining time to the speed of the machine, so that either side may win.
      leftMs = confirmed.status === 200 ? Math.max(leftMs * 0.8, 2) : Math.min(leftMs * 1.25, 500)
      const { body } = await bankOf(round + 1).read(orderId)
      assert.equal(body.status, confirmed.status === 200 ? 'confirmed' : 'expired')
      if (confirmed.status === 200) await platform.addStock('kyivstar', 'off', 1)
      for (const answer of resold) await bankOf(round).cancel(answer.body.orderId)
      await provenBooks(platform, 'off')
    }
  })
})
