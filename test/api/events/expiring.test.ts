/** `order.expiring` while a reservation is being confirmed or cancelled (contract/events.md, "Types"). */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type Bank, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let bank: Bank

before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 1_010)
  bank = await openBank(platform)
})
after(() => platform?.close())
afterEach(() => platform.call('DELETE', '/sandbox/clock'))

async function reserve(externalId: string): Promise<string> {
  const { status, body, text } = await bank.reserve(externalId)
  assert.equal(status, 201, text)
  return body.orderId
}

async function moveClock(advance: string): Promise<void> {
  const { status, text } = await platform.call('POST', '/sandbox/clock', { body: { advance } })
  assert.equal(status, 200, text)
}

/** Holds an order like a confirm whose transaction has not ended yet. @returns `rollBack`, which ends the hold without a change */
async function hold(orderId: string): Promise<{ rollBack(): Promise<void> }> {
  const client = await platform.platform.database.connect()
  await client.query('begin')
  await client.query('select from orders where order_id = $1 for update', [orderId])
  return {
    async rollBack() {
      await client.query('rollback')
      await client.end()
    },
  }
}

/** The events of an order, oldest first. */
async function eventsOf(orderId: string): Promise<string[]> {
  const get = (query: string) => platform.call('GET', `/partner/v1/events?${query}`, { token: bank.token })
  const { body: end } = await get('after=now')
  const types: string[] = []
  for (let position = 0; position < end.nextAfter; ) {
    const { body } = await get(`after=${position}&limit=1000&type=order.*`)
    const events: { type: string; data: { orderId: string } }[] = body.data
    types.push(...events.filter(({ data }) => data.orderId === orderId).map(({ type }) => type))
    position = body.nextAfter
  }
  return types
}

test('a reservation that was held when it was due gets its event after a rollback, and no other one gets a second event', async () => {
  const orders = [await reserve('before'), await reserve('held'), await reserve('behind')] as const
  const held = await hold(orders[1])
  await moveClock('PT11M')
  const first = await eventsOf(orders[0])
  assert.deepEqual([first, await eventsOf(orders[1])], [['order.expiring'], []])
  await held.rollBack()
  for (const seconds of [1, 2]) {
    await moveClock(`PT${seconds}S`)
    for (const order of orders) assert.deepEqual(await eventsOf(order), ['order.expiring'], order)
  }
  await moveClock('PT5M')
  for (const order of orders) assert.deepEqual(await eventsOf(order), ['order.expiring', 'order.expired'], order)
})

test('while one of 1,000 due reservations is held, a move of the clock ends', async () => {
  const orders: string[] = []
  for (let n = 0; n < 1_000; n += 50)
    orders.push(...(await Promise.all(Array.from({ length: 50 }, (_, one) => reserve(`many-${n + one}`)))))
  const held = await hold(orders[0] ?? '')
  await moveClock('PT11M')
  await held.rollBack()
  await moveClock('PT1S')
  for (const order of [orders[0], orders[500], orders[999]])
    assert.deepEqual(await eventsOf(order ?? ''), ['order.expiring'])
})
