/** Every change is recorded as events for the accounts that it concerns and for no others, in feeds without gaps. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { platformAccountId } from '../../../src/caller.ts'
import { eventTypes } from '../../../src/events/catalogue.ts'
import { sequenceEvents } from '../../../src/events/sequence-store.ts'
import { recordEvents } from '../../../src/outbox/event-writing.ts'
import { numberEvents, numberingIntervals, waitAfterRun } from '../../../src/server/jobs.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

type Stored = { account_type: string; account_id: string; sequence: number; type: string; body: string }
let platform: TestPlatform
let bank: string
const operator = () => platform.config.operatorKey

before(async () => {
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await platform.bankToken('alpha')
})
after(() => platform?.close())

async function stored(): Promise<Stored[]> {
  while ((await sequenceEvents(platform.platform.database, true))?.mayBeMore);
  return platform.platform.database.query<Stored>('select * from events order by account_type, account_id, sequence')
}
const idOf = async (table: string, key: string, code: string): Promise<string> =>
  (
    await platform.platform.database.query<{ id: string }>(`select ${key} as id from ${table} where code = '${code}'`)
  )[0]?.id as string
const ofBank = async (code: string) => {
  const id = await idOf('banks', 'bank_id', code)
  return (await stored()).filter(event => event.account_id === id)
}

/** Events that contain the last state of an order. A read of the order must show the same state. */
const endTypes = ['order.confirmed', 'order.cancelled', 'order.expired']

describe('feeds', () => {
  test('an order is told to its bank: confirmed, cancelled, expiring and expired', async () => {
    const reserve = async (externalId: string) =>
      (
        await platform.call('POST', '/esim/v1/orders', {
          token: bank,
          body: { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId },
        })
      ).body.orderId as string
    const [one, two, three] = [await reserve('o"1'), await reserve('o2'), await reserve('o3')]
    const confirmed = await platform.call('POST', `/esim/v1/orders/${one}/confirm`, { token: bank, body: {} })
    assert.equal(confirmed.status, 200, confirmed.text)
    await platform.call('POST', `/esim/v1/orders/${two}/cancel`, { token: bank })
    const moved = await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT15M' } })
    assert.equal(moved.status, 200, moved.text)
    const events = (await ofBank('alpha'))
      .map(({ body }) => JSON.parse(body))
      .filter(({ type }) => type.startsWith('order'))
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.orderId]),
      [
        ['order.confirmed', one],
        ['order.cancelled', two],
        ['order.expiring', three],
        ['order.expired', three],
      ],
    )
    assert.equal(events[0].data.price, '399.00')
    assert.equal(events[0].data.externalId, 'o"1')
    assert.equal(events[2].timestamp, new Date(Date.parse(events[3].timestamp) - 300_000).toISOString())
    assert.equal(events[3].timestamp, events[3].data.reservedUntil)
    assert.equal(events[2].data.status, 'reserved')
  })

  test('an order in an event is the order as the API shows it', async () => {
    const told = (await ofBank('alpha'))
      .map(({ body }) => JSON.parse(body))
      .filter(({ type }) => endTypes.includes(type))
    assert.deepEqual(new Set(told.map(({ type }) => type)), new Set(endTypes))
    for (const { type, data } of told) {
      const shown = await platform.call('GET', `/partner/v1/orders/${data.orderId}`, { token: bank })
      assert.deepEqual(data, Object.fromEntries(Object.keys(data).map(name => [name, shown.body[name]])), type)
    }
  })

  test('an apply and a credential are told', async () => {
    const issued = (await ofBank('alpha')).find(({ type }) => type === 'credential.issued')
    assert.ok(issued)
    const { clientId } = JSON.parse(issued.body).data
    const rotated = await platform.call('POST', `/admin/credentials/${clientId}/rotate`, {
      token: operator(),
      body: {},
    })
    assert.equal(rotated.status, 200, rotated.text)
    await platform.call('POST', `/admin/credentials/${clientId}/revoke`, { token: operator() })
    const types = (await ofBank('alpha')).map(({ type }) => type)
    assert.deepEqual(
      types.filter(type => type.startsWith('credential')),
      ['credential.issued', 'credential.rotated', 'credential.revoked'],
    )
    assert.ok(types.includes('catalogue.changed'))
    const platformTypes = (await stored())
      .filter(({ account_id }) => account_id === platformAccountId)
      .map(({ type }) => type)
    assert.ok(platformTypes.includes('credential.revoked'))
  })

  test('availability is told once it has stayed so for 30 seconds', async () => {
    await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT1S' } })
    await platform.addStock('kyivstar', 'empty', 1)
    // Skips events about other tariffs, whose stock may have been added after the job's first run.
    const isOfEmpty = ({ body }: Stored) => JSON.parse(body).data.tariffCode === 'empty'
    const advance = async (by: string) => {
      await platform.call('POST', '/sandbox/clock', { body: { advance: by } })
      return (await ofBank('gamma')).filter(event => event.type === 'tariff.availability_changed' && isOfEmpty(event))
    }
    assert.deepEqual(await advance('PT20S'), [])
    const [told, ...more] = await advance('PT15S')
    assert.deepEqual(more, [])
    assert.deepEqual(JSON.parse(told?.body ?? '').data, {
      operatorCode: 'kyivstar',
      tariffCode: 'empty',
      available: true,
    })
    await advance('PT30S')
    const stock = (await stored()).filter(event => event.type === 'stock.enough' && isOfEmpty(event))
    assert.equal(stock.length, 1)
  })

  test('events are numbered every 100 ms while there is work, else every 250 ms', async () => {
    assert.equal(waitAfterRun(numberingIntervals, 'soon', 0), 100)
    assert.equal(waitAfterRun(numberingIntervals, 'soon', 130), 70)
    assert.equal(waitAfterRun(numberingIntervals, false, 0), 250)
    assert.equal(waitAfterRun(numberingIntervals, false, 600), 150)
    const data = { operatorCode: 'kyivstar', tariffCode: 'empty', free: 0, daysOfCover: null }
    const { database } = platform.platform
    const tellAndNumber = async () => {
      await database.transaction(transaction =>
        recordEvents(transaction, [{ type: 'stock.out', at: null, platform: true, data }]),
      )
      return numberEvents({ database, observeEvents() {} }, true)
    }
    const outcomes = new Set<boolean | 'soon' | null>()
    // The platform's own job may number the event first. Then this call finds no work, and the test tries again.
    for (let tried = 0; tried < 100 && !outcomes.has('soon'); tried++) outcomes.add(await tellAndNumber())
    assert.ok(outcomes.has('soon'))
    for (let tried = 0; tried < 100 && !outcomes.has(false); tried++)
      outcomes.add(await numberEvents({ database, observeEvents() {} }, true))
    assert.ok(outcomes.has(false))
  })

  test('feeds are dense, bodies are as the catalogue says', async () => {
    const last = new Map<string, number>()
    for (const { account_id, sequence, body } of await stored()) {
      assert.equal(sequence, (last.get(account_id) ?? 0) + 1)
      last.set(account_id, sequence)
      const event = JSON.parse(body)
      assert.equal(body, JSON.stringify(event))
      assert.deepEqual(Object.keys(event), ['id', 'type', 'timestamp', 'sequence', 'feedId', 'mode', 'data'])
      const type = eventTypes.find(({ type }) => type === event.type)
      assert.ok(type, event.type)
      assert.deepEqual([...Value.Errors(type.schema, event.data)], [], body)
    }
  })
})
