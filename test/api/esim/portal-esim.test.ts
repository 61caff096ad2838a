/** eSIM sales for a bank's people: orders found and exported, sales by day, stock; each bank sees its own. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { firstOrderId } from '../../../src/esim/orders/order-id.ts'
import { daysBetween } from '../../../src/text/days.ts'
import { advance, type Bank, openBank, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'
import { type Browser, openBrowser } from '../../support/portal.ts'

let platform: TestPlatform
let alpha: Bank
let viewer: Browser
const orders: Record<string, string> = {}
before(async () => {
  // No worker runs, so no job marks expired reservations, and readers must compute the status.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'portal', 'admin'] })
  await platform.addStock('kyivstar', 'eu-10gb', 30)
  await platform.addStock('roamwide', 'world', 5)
  alpha = await openBank(platform)
  viewer = await openBrowser(platform, { bank: 'alpha' }, 'VIEWER')
  const reserve = async (bank: Bank, externalId: string, tariff: object = {}) => {
    orders[externalId] = (await bank.reserve({ externalId, ...tariff })).body.orderId
  }
  await reserve(alpha, 'old-1')
  // The first reservation of a tariff loads its free profiles, which also marks expired reservations. So it is made before
  // the clock moves.
  const beta = await openBank(platform, await platform.bankToken('beta'))
  await reserve(beta, 'old-2', { operatorCode: 'roamwide', tariffCode: 'world' })
  await advance(platform, 'PT16M')
  await reserve(alpha, 'pay-1')
  await reserve(alpha, 'pay-2', { operatorCode: 'roamwide', tariffCode: 'world' })
  await reserve(alpha, 'pay-"3",x')
  await reserve(alpha, 'Pay-4')
  await beta.reserve('pay-1')
  await alpha.confirm(orders['pay-1'] ?? '')
  const headers = { 'perkline-payment-reference': '=PR-2' }
  await alpha.call('POST', `/orders/${orders['pay-2']}/confirm`, { headers })
  await alpha.cancel(orders['pay-"3",x'] ?? '')
})
after(() => platform.close())

const find = (query = '', browser = viewer) => browser.call('GET', `/portal/esim/orders${query}`)
const found = async (query: string): Promise<string[]> => {
  const { status, text, body } = await find(query)
  assert.equal(status, 200, text)
  return body.data.map((order: { externalId: string }) => order.externalId)
}

suite('GET /portal/esim/orders', () => {
  test('the bank’s own orders, newest first, as they are now', async () => {
    const { body } = await find()
    const statuses = body.data.map((order: any) => [order.externalId, order.status])
    assert.deepEqual(statuses, [
      ['Pay-4', 'reserved'],
      ['pay-"3",x', 'cancelled'],
      ['pay-2', 'confirmed'],
      ['pay-1', 'confirmed'],
      ['old-1', 'expired'],
    ])
    assert.equal(body.nextCursor, null)
  })

  test('an order, with its price and delivery and without secrets', async () => {
    const { body } = await find(`?orderId=${orders['pay-1']}`)
    const [order] = body.data
    const { createdAt, reservedUntil, confirmedAt, msisdn, ...rest } = order
    assert.deepEqual(rest, {
      orderId: orders['pay-1'],
      externalId: 'pay-1',
      operatorCode: 'kyivstar',
      tariffCode: 'eu-10gb',
      tariffName: 'Europe 10 GB',
      status: 'confirmed',
      price: 399,
      currency: 'UAH',
      cancelledAt: null,
      deliveryMode: 'local',
      emailDelivery: null,
      paymentReference: null,
      statement: null,
    })
    assert.match(msisdn, /^\+\d+$/)
    assert.equal(Date.parse(reservedUntil) - Date.parse(createdAt), 15 * 60_000)
    assert.ok(confirmedAt >= createdAt)
    const secrets = (await alpha.confirm(orders['pay-1'] ?? '')).body.esim
    const { text } = await find()
    for (const secret of [secrets.iccid, secrets.activationCode, 'pin1', 'LPA:']) assert.ok(!text.includes(secret))
  })

  test('no subscriber number once cancelled or expired', async () => {
    const { body } = await find()
    for (const { status, msisdn } of body.data)
      assert.equal(msisdn === null, status === 'cancelled' || status === 'expired', status)
  })

  test('found by the first characters of externalId, in their case, without wildcards', async () => {
    assert.deepEqual(await found('?externalId=pay-'), ['pay-"3",x', 'pay-2', 'pay-1'])
    assert.deepEqual(await found('?externalId=Pay'), ['Pay-4'])
    for (const none of ['%25', '_', 'ay-1', 'pay-1%25', 'pay-1%5C'])
      assert.deepEqual(await found(`?externalId=${none}`), [])
  })

  test('found by status, tariff, operator and time', async () => {
    assert.deepEqual(await found('?status=confirmed'), ['pay-2', 'pay-1'])
    assert.deepEqual(await found('?status=expired'), ['old-1'])
    assert.deepEqual(await found('?status=reserved'), ['Pay-4'])
    assert.deepEqual(await found('?status=cancelled'), ['pay-"3",x'])
    assert.deepEqual(await found('?tariffCode=world'), ['pay-2'])
    assert.deepEqual(await found('?operatorCode=kyivstar&status=confirmed'), ['pay-1'])
    assert.deepEqual(await found('?operatorCode=nobody'), [])
    const { body } = await find('?externalId=pay-1')
    const at = body.data[0].createdAt as string
    const next = new Date(Date.parse(at) + 1).toISOString()
    assert.deepEqual(await found(`?dateTo=${at}`), ['old-1'])
    assert.ok((await found(`?dateFrom=${at}&dateTo=${next}`)).includes('pay-1'))
    assert.ok(!(await found(`?dateFrom=${next}`)).includes('pay-1'))
    const day = at.slice(0, 10)
    assert.ok((await found(`?dateFrom=${day}&dateTo=${day}`)).includes('pay-1'), 'a date alone is that whole day')
  })

  test('a reservation is expired from its last instant on, marked or not', async () => {
    const { body } = await find(`?orderId=${orders['Pay-4']}`)
    const stopped = stopClock(platform, body.data[0].reservedUntil)
    assert.deepEqual(await found('?status=reserved'), [])
    assert.deepEqual(await found('?status=expired'), ['Pay-4', 'old-1'])
    stopped[Symbol.dispose]()
  })

  test('pages follow one another without gaps, also when something is sold in between', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await find(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      seen.push(...body.data.map((order: any) => order.externalId))
      cursor = body.nextCursor
      if (seen.length === 2) await alpha.reserve({ externalId: 'meanwhile' })
    } while (cursor)
    assert.deepEqual(seen, ['Pay-4', 'pay-"3",x', 'pay-2', 'pay-1', 'old-1'])
  })

  test('another bank’s orders are not there, whatever is asked', async () => {
    const beta = await openBrowser(platform, { bank: 'beta' }, 'ADMIN')
    const { body } = await find('', beta)
    assert.deepEqual(
      body.data.map((order: any) => order.externalId),
      ['pay-1', 'old-2'],
    )
    assert.deepEqual((await find(`?orderId=${orders['pay-1']}`, beta)).body, { data: [], nextCursor: null })
    const { body: behind } = await find(`?cursor=${orders['pay-1']}`, beta)
    assert.deepEqual(
      behind.data.map((order: any) => order.externalId),
      ['old-2'],
      'an id says when it was made, so it is a place in the own list, too',
    )
  })

  test('400 names each faulty parameter', async () => {
    for (const [query, message] of [
      ['status=sold', 'status must be one of reserved, confirmed, cancelled, expired'],
      ['orderId=7', 'orderId must be a UUID'],
      ['cursor=7', 'cursor must be a UUID'],
      ['limit=0', 'limit must be at least 1'],
      ['limit=201', 'limit must be at most 200'],
      ['bankId=x', 'bankId must be omitted'],
      ['externalId=', 'externalId must be longer than or equal to 1 character'],
      ['dateFrom=yesterday', /^dateFrom must be an ISO 8601 date/],
      ['dateTo=2026-02-30', /^dateTo must be an ISO 8601 date/],
    ] as const) {
      const { status, body } = await find(`?${query}`)
      assert.deepEqual([status, body.message.length], [400, 1], query)
      if (typeof message === 'string') assert.equal(body.message[0], message)
      else assert.match(body.message[0], message)
    }
  })
})

suite('GET /portal/esim/orders.csv', () => {
  test('everything that is found, each text quoted', async () => {
    const { status, headers, text } = await viewer.call('GET', '/portal/esim/orders.csv?externalId=pay-')
    assert.equal(status, 200, text)
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="esim-orders\.csv"/)
    const [head, ...lines] = text.split('\r\n')
    assert.equal(
      head?.replaceAll('"', ''),
      '\ufefforderId,externalId,operatorCode,tariffCode,tariffName,status,msisdn,price,currency,createdAt,reservedUntil,confirmedAt,' +
        'cancelledAt,deliveryMode,emailDelivery,paymentReference',
    )
    const { paths } = (await platform.call('GET', '/swagger/json')).body
    const { description } = paths['/portal/esim/orders.csv'].get
    assert.ok(description.includes(head?.slice(1).replaceAll('"', '').replaceAll(',', ', ')), description)
    assert.equal(lines.length, 4)
    assert.match(
      lines[0] ?? '',
      /^"[\w-]{36}","pay-""3"",x","kyivstar","eu-10gb","Europe 10 GB","cancelled",,"399\.00","UAH",/,
    )
    assert.match(lines[1] ?? '', /^"[\w-]{36}","pay-2","roamwide","world","World","confirmed","'\+\d+","25\.50","EUR",/)
    assert.match(lines[1] ?? '', /,"local",,"'=PR-2"$/)
    assert.equal(lines[3], '')
  })

  test('a file of many pages is whole', async () => {
    await platform.platform.database.execute(
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until, cancelled_at)
       select ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, b.bank_id, 'many-' || n, t.tariff_id, p.profile_id,
              'cancelled', 1, 'UAH', '2024-06-10', '2024-06-10 00:15Z', '2024-06-10'
       from generate_series(1, 2500) n, (select bank_id from banks where code = 'alpha') b,
            (select tariff_id from tariffs where code = 'eu-10gb') t, (select min(profile_id) as profile_id from profiles) p`,
    )
    const { text } = await viewer.call('GET', '/portal/esim/orders.csv?externalId=many-')
    const ids = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map(line => line.split(',')[1])
    assert.equal(ids.length, 2500)
    assert.equal(new Set(ids).size, 2500)
    await platform.platform.database.execute(`delete from orders where external_id like 'many-%'`)
  })

  test('what a spreadsheet would calculate is text in it', async () => {
    const { database } = platform.platform
    await database.execute(
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until, cancelled_at)
       select ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, b.bank_id, id, t.tariff_id, p.profile_id,
              'cancelled', 1, 'UAH', '2024-06-10', '2024-06-10 00:15Z', '2024-06-10'
       from unnest(array['=sum(1)', '+380501234567', '-1+2', '@x']) with ordinality as i (id, n),
            (select bank_id from banks where code = 'alpha') b, (select tariff_id from tariffs where code = 'eu-10gb') t,
            (select min(profile_id) as profile_id from profiles) p`,
    )
    const { text } = await viewer.call('GET', '/portal/esim/orders.csv?dateFrom=2024-06-10&dateTo=2024-06-10')
    const ids = text.split('\r\n').map(line => line.split(',')[1])
    const shown = ['externalId', "'@x", "'-1+2", "'+380501234567", "'=sum(1)"]
    assert.deepEqual(ids, [...shown.map(id => `"${id}"`), undefined])
    await database.execute(`delete from orders where order_id::text like '01900000-%'`)
  })
})

suite('GET /portal/esim/sales', () => {
  const sales = (query = '') => viewer.call('GET', `/portal/esim/sales${query}`)

  const inZone = (timeZone: string) =>
    platform.applyDirectory(
      testDirectory.replace('operators: all }', `operators: all, statement: { timeZone: ${timeZone} } }`),
    )

  test('by day and tariff, and in all', async () => {
    const { status, body, text } = await sales()
    assert.equal(status, 200, text)
    const today = platform.platform.deps.esim.clock.now().toISOString().slice(0, 10)
    assert.deepEqual([body.timeZone, body.to], ['UTC', today])
    assert.equal((Date.parse(body.to) - Date.parse(body.from)) / 86_400_000, 29)
    assert.deepEqual(body.totals, {
      confirmed: 2,
      cancelled: 1,
      expired: 1,
      amounts: [
        { currency: 'EUR', amount: 25.5 },
        { currency: 'UAH', amount: 399 },
      ],
    })
    const world = body.days.filter((day: any) => day.tariffCode === 'world')
    assert.deepEqual(
      world.map(({ day: _, ...rest }: any) => rest),
      [
        {
          operatorCode: 'roamwide',
          tariffCode: 'world',
          confirmed: 1,
          cancelled: 0,
          expired: 0,
          amounts: [{ currency: 'EUR', amount: 25.5 }],
        },
      ],
    )
  })

  test('the day is that of the time zone', async () => {
    const { database } = platform.platform
    await database.execute(
      `insert into orders (order_id, bank_id, external_id, tariff_id, profile_id, status, price, currency, created_at, reserved_until,
                           confirmed_at, delivery_mode)
       select $2, bank_id, 'night', tariff_id, (
                select p.profile_id from profiles p where p.tariff_id = o.tariff_id
                  and not exists (select from orders l where l.profile_id = p.profile_id) limit 1
              ), 'confirmed', price, currency, '2026-03-28T21:50Z', '2026-03-28T22:05Z', '2026-03-28T22:01Z', 'local'
       from orders o where order_id = $1`,
      [orders['pay-2'], firstOrderId(new Date('2026-03-28T21:50:00Z'))],
    )
    const dayIn = async (timeZone: string, from = '2026-03-28', to = '2026-03-29') => {
      await inZone(timeZone)
      const { body, text, status } = await sales(`?from=${from}&to=${to}`)
      assert.equal(status, 200, text)
      assert.equal(body.timeZone, timeZone)
      return body.days.map((day: any) => [day.day, day.confirmed])
    }
    assert.deepEqual(await dayIn('UTC'), [['2026-03-28', 1]])
    assert.deepEqual(await dayIn('Europe/Kyiv'), [['2026-03-29', 1]])
    assert.deepEqual(await dayIn('America/New_York'), [['2026-03-28', 1]])
    assert.deepEqual(await dayIn('Europe/Kyiv', '2026-03-29', '2026-03-29'), [['2026-03-29', 1]], 'made the day before')
    assert.deepEqual(await dayIn('Europe/Kyiv', '2026-03-28', '2026-03-28'), [])
    await inZone('UTC')
  })

  test('a long answer is the same in every encoding, and HEAD announces it', async () => {
    const { database } = platform.platform
    await inZone('UTC')
    await database.execute(
      `insert into sales_days (day, bank_id, tariff_id, currency, price, outcome, orders)
       select day::date, bank_id, tariff_id, 'UAH', 1, 'cancelled', 3
       from generate_series('2025-01-01'::timestamp, '2025-12-31', '1 day') as day, banks, tariffs where banks.code = 'alpha'`,
    )
    const ask = async (method: string, encoding: string) => {
      const headers = { authorization: `Bearer ${alpha.token}`, 'accept-encoding': encoding }
      const answer = await fetch(`${platform.url}/portal/esim/sales?from=2025-01-01&to=2025-12-31`, { method, headers })
      return { answer, text: await answer.text() }
    }
    const { answer, text } = await ask('GET', 'identity')
    assert.equal(answer.status, 200, text)
    const { days, totals } = JSON.parse(text)
    const tariffs = await database.query<{ count: number }>('select count(*)::int from tariffs')
    assert.equal(days.length, 365 * (tariffs[0]?.count ?? 0))
    assert.equal(totals.cancelled, 3 * days.length)
    assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(text)))
    assert.ok(text.length > 100_000, String(text.length))
    for (const encoding of ['gzip', 'br']) {
      const encoded = await ask('GET', encoding)
      assert.deepEqual([encoded.answer.headers.get('content-encoding'), encoded.text], [encoding, text])
    }
    const head = await ask('HEAD', 'identity')
    assert.deepEqual([head.answer.headers.get('content-length'), head.text], [String(text.length), ''])
    await database.execute(`delete from sales_days where day < '2026-01-01'`)
  })

  test('400 for days that are none, and for a zone', async () => {
    const date = 'must be an ISO 8601 date from 0100-01-02 to 9999-12-30'
    for (const [query, message] of [
      ['timeZone=Europe/Kyiv', 'timeZone must be omitted'],
      ['from=2026-01-02&to=2026-01-01', 'to must be from, or a later day'],
      ['from=2025-01-01&to=2026-06-01', 'to must be at most 366 days from from'],
      ['from=2026-02-30', `from ${date}`],
      ['to=soon', `to ${date}`],
      ['from=9999-12-31&to=9999-12-31', `from ${date},to ${date}`],
      ['from=0099-12-31&to=0099-12-31', `from ${date},to ${date}`],
    ]) {
      const { status, body } = await sales(`?${query}`)
      assert.deepEqual([status, body.message], [400, message?.split(/,(?=to must)/)], query)
    }
  })
})

test('days begin when the wall clock shows midnight, on days of 23, 24 and 25 hours', () => {
  const hours = (from: string, timeZone: string) => {
    const { bounds } = daysBetween({ from, to: from, timeZone }, 1)
    return ((bounds[1]?.getTime() ?? 0) - (bounds[0]?.getTime() ?? 0)) / 3_600_000
  }
  assert.equal(hours('2026-03-29', 'Europe/Kyiv'), 23)
  assert.equal(hours('2026-10-25', 'Europe/Kyiv'), 25)
  assert.equal(hours('2026-07-01', 'Europe/Kyiv'), 24)
  assert.equal(hours('2026-04-24', 'Africa/Cairo'), 23, 'midnight itself is skipped')
  assert.equal(hours('2018-11-04', 'America/Sao_Paulo'), 23)
})

suite('GET /portal/esim/stock', () => {
  test('operators with their tariffs as the catalogue shows them', async () => {
    const { status, body } = await viewer.call('GET', '/portal/esim/stock')
    assert.equal(status, 200)
    const { body: operators } = await alpha.operators()
    assert.deepEqual(
      body.map(({ tariffs: _, ...operator }: any) => operator),
      operators,
    )
    assert.deepEqual(body[0].tariffs, (await alpha.tariffs()).body)
  })

  test('only what this bank may sell', async () => {
    const gamma = await openBrowser(platform, { bank: 'gamma' }, 'EDITOR')
    const { body } = await gamma.call('GET', '/portal/esim/stock')
    assert.deepEqual(
      body.map((operator: any) => operator.code),
      ['kyivstar'],
    )
  })
})

test('401 without a session, 403 for a merchant and for the platform’s staff, on every path', async () => {
  const merchant = await openBrowser(platform, { merchant: 'grocer' }, 'admin_user')
  const staff = await openBrowser(platform, 'platform', 'admin')
  for (const path of ['orders', 'orders.csv', 'sales', 'stock']) {
    assert.equal((await platform.call('GET', `/portal/esim/${path}`)).status, 401)
    for (const browser of [merchant, staff]) {
      const { status, body } = await browser.call('GET', `/portal/esim/${path}`)
      assert.deepEqual([status, body.error], [403, 'Forbidden'])
    }
  }
})
