/** GET /orders/{orderId}. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createCatalogue } from '../../../src/esim/catalogue.ts'
import { assertError, assertOrder, type Bank, changed, openBank, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
before(async () => {
  // No worker runs, so no job marks expired reservations. An order must still be read as expired.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  alpha = await openBank(platform)
  await platform.addStock('kyivstar', 'eu-10gb', 20)
})
after(() => platform.close())

let lastId = 0
const reserved = async () => assertOrder(await alpha.reserve(`r${++lastId}`), { status: 'reserved' }, 201)

describe('200', () => {
  test('reserved, confirmed and cancelled, each with the fields that its status has', async () => {
    const first = await reserved()
    const { orderId, msisdn, createdAt, externalId } = first
    assert.deepEqual(assertOrder(await alpha.read(orderId), { status: 'reserved' }), first)
    const { confirmedAt } = (await alpha.confirm(orderId)).body
    assertOrder(await alpha.read(orderId), { status: 'confirmed', msisdn, createdAt, externalId, confirmedAt })
    const second = await reserved()
    await alpha.cancel(second.orderId)
    assertOrder(await alpha.read(second.orderId), { status: 'cancelled', createdAt: second.createdAt })
  })

  test('expired from exactly 15:00.000 on, although nothing has swept; `reservedUntil` keeps its value', async () => {
    const { orderId, reservedUntil, createdAt } = await reserved()
    const end = Date.parse(reservedUntil ?? '')
    {
      using _ = stopClock(platform, new Date(end - 1))
      assertOrder(await alpha.read(orderId), { status: 'reserved', reservedUntil })
    }
    using _ = stopClock(platform, new Date(end))
    assertOrder(await alpha.read(orderId), { status: 'expired', reservedUntil, createdAt })
  })

  test('an expired order reads the same once it is swept', async () => {
    const { orderId, reservedUntil } = await reserved()
    const answer = await platform.call('POST', '/sandbox/clock', { body: { advance: 'PT15M' } })
    assert.equal(answer.status, 200)
    const rows = await platform.platform.database.query('select status from orders where order_id = $1', [orderId])
    assert.deepEqual(rows, [{ status: 'expired' }])
    assertOrder(await alpha.read(orderId), { status: 'expired', reservedUntil })
  })

  test('a confirmed order stays confirmed long after its reservation', async () => {
    const { orderId } = await reserved()
    await alpha.confirm(orderId)
    using _ = stopClock(platform, new Date(Date.now() + 30 * 365 * 86_400_000))
    assertOrder(await alpha.read(orderId), { status: 'confirmed' })
  })

  test('without any installation secret, whatever the status', async () => {
    const { orderId } = await reserved()
    const { esim } = (await alpha.confirm(orderId)).body
    const { text } = await alpha.read(orderId)
    for (const secret of [esim.iccid, esim.activationCode, 'LPA:', 'pin1', 'iccid']) assert.ok(!text.includes(secret))
  })

  test('a UUID in upper case is the same UUID', async () => {
    const { orderId } = await reserved()
    assertOrder(await alpha.read(orderId.toUpperCase()), { status: 'reserved', orderId })
  })

  test('read again and again the same, through every process, and never as it was before another one changed it', async () => {
    const sibling = await platform.sibling()
    try {
      const elsewhere = await openBank(sibling, alpha.token)
      for (const move of ['confirm', 'cancel'] as const) {
        const { orderId } = await reserved()
        for (const bank of [alpha, elsewhere, alpha]) assertOrder(await bank.read(orderId), { status: 'reserved' })
        assert.equal((await elsewhere[move](orderId)).status, 200)
        const status = move === 'confirm' ? 'confirmed' : 'cancelled'
        const read = assertOrder(await alpha.read(orderId), { status })
        for (const bank of [alpha, elsewhere, alpha]) assert.deepEqual((await bank.read(orderId)).body, read)
      }
    } finally {
      await sibling.close()
    }
  })

  test('an order of a tariff that is younger than a process’s copy of the directory', async () => {
    const { database } = platform.platform
    const behind = createCatalogue(database)
    await behind.refresh()
    const line = '- { code: eu-10gb,'
    const younger = '- { code: younger, name: Younger, price: 1, currency: UAH, validityDays: 1 }'
    await platform.applyDirectory(changed(testDirectory, [line, `${younger}\n        ${line}`]))
    await platform.addStock('kyivstar', 'younger', 1)
    assertOrder(
      await alpha.reserve({ externalId: 'young', tariffCode: 'younger' }),
      { status: 'reserved', tariffCode: 'younger' },
      201,
    )
    const orders = `select tariff_id as "tariffId" from orders where external_id = 'young'`
    const [order] = await database.query<{ tariffId: number }>(orders)
    const tariff = await behind.tariffOf(order?.tariffId ?? 0)
    assert.deepEqual([tariff.operatorCode, tariff.code], ['kyivstar', 'younger'])
  })

  test('a reading of the directory that others have overtaken changes nothing', async () => {
    const { database } = platform.platform
    const late = Promise.withResolvers<void>()
    let isFirst = true
    const catalogue = createCatalogue({
      ...database,
      async query<Row extends object>(...given: Parameters<typeof database.query>): Promise<Row[]> {
        const isLate = isFirst
        isFirst = false
        const rows = await database.query<Row>(...given)
        if (isLate) await late.promise
        return rows
      },
    })
    const overtaken = catalogue.refresh()
    await database.execute('update directory_version set version = version + 1')
    await catalogue.refresh()
    const version = catalogue.version()
    late.resolve()
    await overtaken
    assert.equal(catalogue.version(), version)
  })

  test('another credential of the bank, with another role, reads the same order', async () => {
    const { orderId } = await reserved()
    const viewer = await openBank(platform, await platform.bankToken('alpha', 'VIEWER'))
    assertOrder(await viewer.read(orderId), { status: 'reserved', orderId })
  })
})

describe('404', () => {
  test('an order that does not exist', async () => {
    for (const id of [randomUUID(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])
      assertError(await alpha.read(id), 404)
  })

  test('another bank’s order, in the same words as one that does not exist', async () => {
    const { orderId } = await reserved()
    const beta = await openBank(platform, await platform.bankToken('beta'))
    const theirs = await beta.read(orderId)
    assertError(theirs, 404, (await beta.read(randomUUID())).body.message)
    assertOrder(await alpha.read(orderId), { status: 'reserved' })
    assertError(await beta.read(orderId), 404, theirs.body.message)
    await alpha.confirm(orderId)
    assertOrder(await alpha.read(orderId), { status: 'confirmed' })
    assertError(await beta.read(orderId), 404, theirs.body.message)
  })
})

describe('400, an orderId that is no UUID', () => {
  const wrong = [
    'x',
    '1',
    'null',
    'undefined',
    '%00',
    '0'.repeat(32),
    `%7B${randomUUID()}%7D`,
    `urn:uuid:${randomUUID()}`,
  ]
  wrong.push(
    randomUUID().slice(1),
    `${randomUUID()}0`,
    `${randomUUID()}%20`,
    randomUUID().replaceAll('-', ''),
    'a'.repeat(1024),
  )
  wrong.push(randomUUID().replace(/^./, 'g'), `${randomUUID()}%0A`, '%F0%9F%98%80', "';select%201--")
  for (const id of wrong)
    test(id.slice(0, 60), async () => {
      assertError(await alpha.read(id), 400, ['orderId must be a UUID'])
      assertError(await alpha.confirm(id), 400, ['orderId must be a UUID'])
      assertError(await alpha.cancel(id), 400, ['orderId must be a UUID'])
      assertError(await alpha.qr(id), 400, ['orderId must be a UUID'])
    })

  test('a query parameter, naming it', async () => {
    const { orderId } = await reserved()
    assertError(await alpha.call('GET', `/orders/${orderId}?expand=all`), 400, ['expand must be omitted'])
  })
})
