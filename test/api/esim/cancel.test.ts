/** POST /orders/{orderId}/cancel. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertError, assertOrder, type Bank, openBank, provenBooks, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let sibling: TestPlatform
let alpha: Bank
let beta: Bank
let elsewhere: Bank
before(async () => {
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  sibling = await platform.sibling()
  alpha = await openBank(platform)
  beta = await openBank(platform, await platform.bankToken('beta'))
  elsewhere = await openBank(sibling, alpha.token)
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  await platform.addStock('kyivstar', 'ua-5gb', 1)
})
after(async () => {
  await sibling.close()
  await platform.close()
})

let lastId = 0
const reserve = (bank = alpha, tariffCode = 'eu-10gb') => bank.reserve({ tariffCode, externalId: `x${++lastId}` })
const reserved = async (bank = alpha, tariffCode = 'eu-10gb') =>
  assertOrder(await reserve(bank, tariffCode), { status: 'reserved' }, 201)

describe('200', () => {
  test('the order, cancelled, without number and end', async () => {
    const { orderId, externalId, createdAt } = await reserved()
    const answer = await alpha.cancel(orderId)
    const order = assertOrder(answer, {
      status: 'cancelled',
      orderId,
      externalId,
      createdAt,
      msisdn: null,
      reservedUntil: null,
    })
    assert.deepEqual((await alpha.read(orderId)).body, order)
  })

  test('again, the same answer, and the profile is given back once', async () => {
    const { orderId } = await reserved()
    const { free } = await provenBooks(platform)
    const first = await alpha.cancel(orderId)
    for (let round = 0; round < 3; round++) assert.deepEqual((await alpha.cancel(orderId)).body, first.body)
    assert.equal((await provenBooks(platform)).free, free + 1)
    using _ = stopClock(platform, new Date(Date.now() + 3_600_000))
    assert.deepEqual((await alpha.cancel(orderId)).body, first.body)
  })

  test('again once another order has the profile: the same answer, and that order keeps it', async () => {
    const first = await reserved(alpha, 'ua-5gb')
    const { body } = await alpha.cancel(first.orderId)
    const second = await reserved(alpha, 'ua-5gb')
    assert.equal(second.msisdn, first.msisdn)
    assert.deepEqual((await alpha.cancel(first.orderId)).body, body)
    assertOrder(await alpha.read(second.orderId), { status: 'reserved', msisdn: first.msisdn })
    assertError(await reserve(alpha, 'ua-5gb'), 503)
    await alpha.cancel(second.orderId)
  })

  test('the profile is sold again at once, by this process and by another, which had found none before', async () => {
    for (let round = 0; round < 10; round++) {
      const [one, other] = round % 2 ? [alpha, elsewhere] : [elsewhere, alpha]
      const { orderId } = await reserved(one, 'ua-5gb')
      assertError(await reserve(other, 'ua-5gb'), 503)
      assertOrder(await (round % 3 ? one : other).cancel(orderId), { status: 'cancelled' })
      const again = await reserved(other, 'ua-5gb')
      await one.cancel(again.orderId)
    }
    assert.equal((await provenBooks(platform, 'ua-5gb')).free, 1)
  })

  test('a profile whose reservation has run out is sold from that instant on, before anything swept, by every process', async () => {
    const { orderId, reservedUntil } = await reserved(alpha, 'ua-5gb')
    const end = Date.parse(reservedUntil ?? '')
    {
      using _a = stopClock(platform, new Date(end - 1))
      using _b = stopClock(sibling, new Date(end - 1))
      assertError(await reserve(alpha, 'ua-5gb'), 503)
      assertError(await reserve(elsewhere, 'ua-5gb'), 503)
    }
    using _a = stopClock(platform, new Date(end))
    using _b = stopClock(sibling, new Date(end))
    const again = await reserved(elsewhere, 'ua-5gb')
    assertOrder(await alpha.read(orderId), { status: 'expired' })
    assertError(await alpha.confirm(orderId), 409)
    await alpha.cancel(again.orderId)
  })

  test('the body may be absent or an empty object', async () => {
    for (const options of [{}, { raw: '' }, { raw: '{}' }]) {
      const { orderId } = await reserved()
      assertOrder(await alpha.call('POST', `/orders/${orderId}/cancel`, options), { status: 'cancelled' })
    }
  })
})

describe('409', () => {
  test('a confirmed order, which stays confirmed', async () => {
    const { orderId } = await reserved()
    const { body } = await alpha.confirm(orderId)
    for (let round = 0; round < 2; round++) assertError(await alpha.cancel(orderId), 409, /confirmed/)
    assert.deepEqual((await alpha.confirm(orderId)).body, body)
  })

  test('an expired order, from exactly 15:00.000 on, swept or not', async () => {
    const before = await reserved()
    const after = await reserved()
    const end = Date.parse(after.reservedUntil ?? '')
    {
      using _ = stopClock(platform, new Date(Date.parse(before.reservedUntil ?? '') - 1))
      assertOrder(await alpha.cancel(before.orderId), { status: 'cancelled' })
    }
    {
      using _ = stopClock(platform, new Date(end))
      assertError(await alpha.cancel(after.orderId), 409, /expired/)
    }
    const swept = await reserved()
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT15M' } })
    assertError(await alpha.cancel(swept.orderId), 409, /expired/)
    assertOrder(await alpha.read(swept.orderId), { status: 'expired' })
    await platform.call('DELETE', '/sandbox/clock')
  })
})

describe('404', () => {
  test('an order that does not exist', async () => assertError(await alpha.cancel(randomUUID()), 404))

  test('another bank’s order, which stays as it is', async () => {
    const { orderId } = await reserved()
    assertError(await beta.cancel(orderId), 404)
    assertOrder(await alpha.read(orderId), { status: 'reserved' })
  })
})

describe('400', () => {
  const bodies: [string, string, RegExp][] = [
    ['a field', '{"reason":"late"}', /^reason must be omitted$/],
    ['a list', '[]', /body must be an object/i],
    ['null', 'null', /body must be an object/i],
    ['no JSON', '{', /JSON/],
  ]
  for (const [name, raw, message] of bodies)
    test(`a body with ${name}`, async () => {
      const { orderId } = await reserved()
      assertError(await alpha.call('POST', `/orders/${orderId}/cancel`, { raw }), 400, message)
      assertOrder(await alpha.read(orderId), { status: 'reserved' })
      await alpha.cancel(orderId)
    })
})
