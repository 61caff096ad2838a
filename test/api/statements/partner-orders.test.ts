/** A bank's orders for its back office: list, look-up, timeline, file (contract/partner-orders.md). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Static } from 'typebox'
import { csvCellSql } from '../../../src/db/csv-cell-sql.ts'
import { OrderFileQuery } from '../../../src/esim/sold/partner-schemas.ts'
import { csvCell } from '../../../src/text/csv-cell.ts'
import { advance, type Bank, openBank, range, until } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
let beta: Bank
before(async () => {
  platform = await startPlatform({ API_RATE_LIMIT: '0', RATE_LIMIT: '0' })
  await platform.addStock('kyivstar', 'eu-10gb', 100)
  await platform.addStock('kyivstar', 'ua-5gb', 40)
  await platform.addStock('roamwide', 'world', 40)
  alpha = await openBank(platform)
  beta = await openBank(platform, await platform.bankToken('beta'))
})
after(() => platform.close())

const get = (path: string, bank = alpha): Promise<Answer> =>
  platform.call('GET', `/partner/v1${path}`, { token: bank.token })
async function ok(path: string, bank = alpha): Promise<any> {
  const answer = await get(path, bank)
  assert.equal(answer.status, 200, `${path}: ${answer.text}`)
  return answer.body
}
const ids = async (query: string) => (await ok(`/orders?limit=500&${query}`)).data.map((order: any) => order.orderId)

let lastOrder = 0
const reserve = async (given: object = {}) => {
  const { status, body, text } = await alpha.reserve({ externalId: `order-${++lastOrder}`, ...given })
  assert.equal(status, 201, text)
  return body.orderId as string
}
const confirm = async (orderId: string, reference?: string) => {
  const headers = reference === undefined ? {} : { 'perkline-payment-reference': reference }
  const answer = await alpha.call('POST', `/orders/${orderId}/confirm`, { headers })
  assert.equal(answer.status, 200, answer.text)
}

/** The whole list, page by page. */
async function walk(query: string, limit: number): Promise<string[]> {
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const page = await ok(`/orders?limit=${limit}&${query}${cursor && `&cursor=${cursor}`}`)
    found.push(...page.data.map((order: any) => order.orderId))
    if (page.nextCursor === null || page.data.length < limit) return found
    cursor = page.nextCursor
  }
}

type Made = {
  orderId: string
  status: string
  tariff: string
  createdAt: string
  endedAt: string | null
  confirmedAt: string | null
}

suite('the list', () => {
  let made: Made[]
  before(async () => {
    const tariffs = [{}, { tariffCode: 'ua-5gb' }, { operatorCode: 'roamwide', tariffCode: 'world' }]
    const orders: string[] = []
    for (const index of range(24)) orders.push(await reserve(tariffs[index % 3]))
    // Confirms the orders in another sequence than they were created.
    for (const index of [17, 3, 9, 0, 12, 20, 6, 1, 4]) await confirm(orders[index] ?? '')
    for (const index of [2, 5, 8]) await alpha.cancel(orders[index] ?? '')
    await advance(platform, 'PT16M')
    for (const index of range(6)) orders.push(await reserve(tariffs[index % 3]))
    for (const index of [27, 25]) await confirm(orders[index] ?? '')
    await advance(platform, 'PT20S')
    const { data } = await ok('/orders?limit=500')
    made = data.map((order: any) => ({ ...order, tariff: order.tariffCode }))
    assert.equal(made.length, 30)
  })
  const expected = (fits: (order: Made) => boolean) => made.filter(fits).map(({ orderId }) => orderId)

  test('is newest first, in pages of any size, up as well', async () => {
    const all = expected(() => true)
    assert.deepEqual(all, all.toSorted().reverse())
    for (const limit of [1, 7, 30, 31]) {
      assert.deepEqual(await walk('', limit), all)
      assert.deepEqual(await walk('sort=createdAt', limit), all.toReversed())
    }
  })

  test('by confirmation has confirmed orders only, with or without a tariff, in both directions', async () => {
    const sold = made
      .filter(({ status }) => status === 'confirmed')
      .sort((one, other) => `${one.confirmedAt}${one.orderId}`.localeCompare(`${other.confirmedAt}${other.orderId}`))
    assert.equal(sold.length, 11)
    for (const tariff of [null, 'eu-10gb']) {
      const wanted = sold.filter(order => tariff === null || order.tariff === tariff).map(({ orderId }) => orderId)
      const query = tariff === null ? '' : `&tariffCode=${tariff}`
      for (const limit of [1, 2, 500]) {
        assert.deepEqual(await walk(`sort=confirmedAt${query}`, limit), wanted)
        assert.deepEqual(await walk(`sort=-confirmedAt${query}`, limit), wanted.toReversed())
      }
    }
    assert.deepEqual(await ids('sort=-confirmedAt&status=cancelled'), [])
  })

  test('is filtered by status, mobile operator and tariff, also together', async () => {
    for (const status of ['reserved', 'confirmed', 'cancelled', 'expired']) {
      const found = expected(order => order.status === status)
      assert.ok(found.length > 0, status)
      assert.deepEqual(await ids(`status=${status}`), found)
    }
    const two = expected(({ status }) => status === 'cancelled' || status === 'expired')
    assert.deepEqual(await ids('status=cancelled,expired'), two)
    assert.deepEqual(await ids('status=cancelled&status=expired'), two)
    assert.deepEqual(
      await ids('tariffCode=ua-5gb'),
      expected(({ tariff }) => tariff === 'ua-5gb'),
    )
    assert.deepEqual(
      await ids('operatorCode=roamwide&status=reserved,expired'),
      expected(({ tariff, status }) => tariff === 'world' && (status === 'reserved' || status === 'expired')),
    )
    for (const query of ['operatorCode=nobody', 'tariffCode=none', 'operatorCode=roamwide&tariffCode=ua-5gb'])
      assert.deepEqual(await ids(query), [])
    const wrong = await get('/orders?status=confirmed,sold')
    assert.equal(wrong.status, 400)
  })

  test('is filtered by times, half-open; a day as end is included', async () => {
    const at = made[14]?.createdAt ?? ''
    assert.deepEqual(
      await ids(`createdFrom=${at}`),
      expected(({ createdAt }) => createdAt >= at),
    )
    assert.deepEqual(
      await ids(`createdTo=${at}`),
      expected(({ createdAt }) => createdAt < at),
    )
    // This instant is within the millisecond in which the order was made. The order counts as made before it.
    const finer = at.replace('Z', '9Z')
    assert.deepEqual(
      await ids(`createdFrom=${finer}`),
      expected(({ createdAt }) => createdAt > at),
    )
    assert.deepEqual(
      await ids(`createdTo=${finer}`),
      expected(({ createdAt }) => createdAt <= at),
    )
    const sold = made.find(({ confirmedAt }) => confirmedAt !== null)?.confirmedAt ?? ''
    for (const sort of ['', '&sort=-confirmedAt']) {
      const inOrder = (found: string[]) => (sort === '' ? found : found.toSorted())
      assert.deepEqual(
        inOrder(await ids(`confirmedFrom=${sold}${sort}`)),
        inOrder(expected(order => order.confirmedAt !== null && order.confirmedAt >= sold)),
      )
      assert.deepEqual(
        inOrder(await ids(`confirmedTo=${sold}${sort}`)),
        inOrder(expected(order => order.confirmedAt !== null && order.confirmedAt < sold)),
      )
    }
    const over = made.filter(({ endedAt }) => endedAt !== null).map(({ endedAt }) => endedAt ?? '')
    const middle = over.toSorted()[Math.floor(over.length / 2)] ?? ''
    assert.deepEqual(
      await ids(`endedFrom=${middle}`),
      expected(({ endedAt }) => endedAt !== null && endedAt >= middle),
    )
    assert.deepEqual(
      await ids(`endedTo=${middle}`),
      expected(({ endedAt }) => endedAt !== null && endedAt < middle),
    )
    const day = at.slice(0, 10)
    assert.deepEqual(
      await ids(`createdFrom=${day}&createdTo=${day}`),
      expected(({ createdAt }) => createdAt.startsWith(day)),
    )
    for (const query of ['createdFrom=x', 'endedTo=2026-02-30', 'createdFrom=2026-12-02&createdTo=2026-12-01'])
      assert.equal((await get(`/orders?${query}`)).status, 400, query)
  })

  test('of all time has them all: from the first instant, to the last day', async () => {
    const times = ['created', 'confirmed', 'ended'].flatMap(name => [
      [`${name}From=1970-01-01`, `${name}From=1970-01-01T00:00:00Z`],
      [`${name}To=9999-12-31`, `${name}To=9999-12-31T23:59:59.999Z`],
    ])
    for (const [day = '', instant = ''] of times) {
      const found = await ids(day)
      assert.deepEqual(found, await ids(instant))
      assert.ok(found.length > 0, day)
      const file = await get(`/orders.csv?${day}`)
      assert.deepEqual([file.status, file.text.trimEnd().split('\r\n').length - 1], [200, found.length], day)
    }
  })

  test('every declared filter leaves out what does not fit it, in the list and in the file', async () => {
    const known = made.find(({ status }) => status === 'confirmed')
    assert.ok(known)
    const { orderId, createdAt, confirmedAt } = known
    const later = (at: string | null) => new Date(Date.parse(at ?? '') + 1_000).toISOString()
    const excluding: Record<keyof Static<typeof OrderFileQuery>, string> = {
      externalId: 'of-no-order',
      status: 'cancelled',
      operatorCode: 'of-no-order',
      tariffCode: 'of-no-order',
      createdFrom: later(createdAt),
      createdTo: createdAt,
      confirmedFrom: later(confirmedAt),
      confirmedTo: confirmedAt ?? '',
      endedFrom: later(confirmedAt),
      endedTo: confirmedAt ?? '',
    }
    const finders = {
      list: async (query: string) => (await ids(query)).join(),
      file: async (query: string) => (await get(`/orders.csv?${query}`)).text,
    }
    for (const [name, find] of Object.entries(finders)) {
      assert.ok((await find('')).includes(orderId), name)
      for (const filter of Object.keys(OrderFileQuery.properties)) {
        const value = excluding[filter as keyof typeof excluding]
        assert.ok(value, `${filter}: give it a value that excludes the order`)
        assert.ok(!(await find(`${filter}=${value}`)).includes(orderId), `${filter} in the ${name}`)
      }
    }
  })

  test('going up ends 15 seconds ago, and goes on from its last cursor', async () => {
    const before = await ok('/orders?sort=createdAt&limit=500')
    const fresh = await reserve()
    const same = await ok(`/orders?sort=createdAt&limit=500&cursor=${before.nextCursor}`)
    assert.deepEqual([same.data, same.nextCursor], [[], before.nextCursor])
    assert.ok(Date.parse(same.asOf) < platform.platform.deps.esim.clock.now().getTime() - 14_900)
    await advance(platform, 'PT16S')
    const more = await ok(`/orders?sort=createdAt&limit=500&cursor=${before.nextCursor}`)
    assert.deepEqual(
      more.data.map((order: any) => order.orderId),
      [fresh],
    )
    const empty = await ok('/orders?sort=createdAt&tariffCode=none')
    assert.deepEqual(empty.data, [])
    assert.deepEqual((await ok(`/orders?sort=createdAt&tariffCode=none&cursor=${empty.nextCursor}`)).data, [])
    await alpha.cancel(fresh)
  })

  test('refuses a cursor of another list', async () => {
    const { nextCursor } = await ok('/orders?limit=2')
    for (const query of ['limit=2&status=confirmed', 'limit=2&sort=createdAt', 'x=1'])
      assert.equal((await get(`/orders?${query}&cursor=${nextCursor}`)).status, 400, query)
    assert.equal((await get(`/orders?cursor=${nextCursor}`)).status, 200)
    assert.equal((await get(`/orders?cursor=${nextCursor}`, beta)).status, 400)
  })
})

suite('one order', () => {
  test('has exactly its fields', async () => {
    const orderId = await reserve({ externalId: 'exact' })
    await confirm(orderId, 'PR-9')
    const order = await ok(`/orders/${orderId}`)
    const { msisdn, createdAt, confirmedAt, ...rest } = order
    assert.match(msisdn, /^\+\d+$/)
    assert.deepEqual(rest, {
      orderId,
      externalId: 'exact',
      operatorCode: 'kyivstar',
      tariffCode: 'eu-10gb',
      status: 'confirmed',
      reservedUntil: null,
      price: '399.00',
      currency: 'UAH',
      endedAt: confirmedAt,
      cancelledAt: null,
      deliveryMode: 'local',
      emailDelivery: null,
      paymentReference: 'PR-9',
      statement: null,
    })
    assert.ok(createdAt <= confirmedAt)
    assert.deepEqual(await ok('/orders/by-external-id?externalId=exact'), order)
    assert.deepEqual((await ok('/orders?externalId=exact')).data, [order])
    assert.deepEqual((await ok('/orders?externalId=exact&status=cancelled')).data, [])
    for (const path of ['/orders/by-external-id?externalId=Exact', '/orders/by-external-id?externalId=exac'])
      assert.equal((await get(path)).status, 404, path)
    for (const path of [
      '/orders/by-external-id',
      '/orders/by-external-id?externalId=',
      '/orders/x',
      `/orders/${orderId}?x=1`,
    ])
      assert.equal((await get(path)).status, 400, path)
    for (const path of [`/orders/${orderId}`, `/orders/${orderId}/timeline`, '/orders/by-external-id?externalId=exact'])
      assert.equal((await get(path, beta)).status, 404, path)
  })

  test('is found by an identifier with any characters when they are percent-encoded', async () => {
    const orderId = await reserve({ externalId: 'AbC+/=8752f' })
    const path = '/orders/by-external-id?externalId='
    assert.equal((await ok(`${path}${encodeURIComponent('AbC+/=8752f')}`)).orderId, orderId)
    assert.equal((await get(`${path}AbC+/=8752f`)).status, 404, 'an unescaped + means a space')
  })

  test('tells the statement once its day is closed, as its timeline does', async () => {
    const orderId = await reserve()
    await confirm(orderId)
    await confirm(orderId)
    await confirm(orderId)
    await platform.call('GET', `/esim/v1/orders/${orderId}/qr`, { token: alpha.token })
    const timeline = async () => (await ok(`/orders/${orderId}/timeline`)).data
    await until('the reads are counted', async () => (await timeline()).length === 4)
    await advance(platform, 'P1DT1M')
    const { statement, confirmedAt, createdAt } = await ok(`/orders/${orderId}`)
    const latest = await ok(`/statements?to=${statement.day}&limit=1`)
    assert.deepEqual(statement, {
      statementId: latest.data[0].statementId,
      number: latest.data[0].number,
      day: statement.day,
    })
    const entries = await timeline()
    assert.deepEqual(entries.map(({ event }: any) => event).toSorted(), [
      'confirm_repeated',
      'confirmed',
      'qr_read',
      'reserved',
      'stated',
    ])
    const of = (event: string) => entries.find((one: any) => one.event === event)
    const by = of('reserved').by
    assert.match(by.id, /^pk_/)
    assert.deepEqual(of('reserved'), {
      at: createdAt,
      event: 'reserved',
      by: { type: 'system', id: by.id },
      detail: {},
    })
    assert.deepEqual(of('confirmed'), { at: confirmedAt, event: 'confirmed', by, detail: {} })
    assert.deepEqual(of('qr_read').detail.count, 1)
    assert.deepEqual(of('stated').by, { type: 'clock', id: null })
    assert.deepEqual(of('stated').detail, { statementId: statement.statementId, number: statement.number })
    assert.equal(entries.at(-1).event, 'stated')
  })

  test('looked up again and again is as it is now, by both names and through every process', async () => {
    const sibling = await platform.sibling()
    try {
      const elsewhere = await openBank(sibling, alpha.token)
      const assertEverywhere = async (orderId: string, expected: object) => {
        const { externalId } = await ok(`/orders/${orderId}`)
        const paths = [`/orders/${orderId}`, `/orders/by-external-id?externalId=${externalId}`]
        for (const at of [platform, sibling, platform, sibling])
          for (const path of paths) {
            const { body } = await at.call('GET', `/partner/v1${path}`, { token: alpha.token })
            assert.deepEqual({ ...body, ...expected }, body)
          }
      }
      const [sold, cancelled, left] = [await reserve(), await reserve(), await reserve()]
      for (const orderId of [sold, cancelled, left]) await assertEverywhere(orderId, { status: 'reserved' })
      await elsewhere.confirm(sold)
      await elsewhere.cancel(cancelled)
      await assertEverywhere(sold, { status: 'confirmed', statement: null })
      await assertEverywhere(cancelled, { status: 'cancelled', msisdn: null })
      await assertEverywhere(left, { status: 'reserved' })
      await advance(platform, 'P1DT1M')
      const { statement } = (await ok('/orders?status=confirmed&limit=1')).data[0]
      assert.ok(statement)
      await assertEverywhere(sold, { statement })
      await assertEverywhere(left, { status: 'expired', msisdn: null })
    } finally {
      await sibling.close()
    }
  })

  test('of a bank that delivers by e-mail tells the state of the e-mail, and never the address', async () => {
    const { body } = await beta.reserve('mailed')
    assert.equal((await beta.confirm(body.orderId, 'customer@example.com')).status, 200)
    const [order] = (await ok('/orders?externalId=mailed', beta)).data
    assert.deepEqual([order.deliveryMode, order.emailDelivery], ['qr_email', 'sent'])
    // The stored state of the e-mail, and the state that the API shows. null: no attempt has begun, or it failed and a
    // repeated confirm may send the e-mail.
    for (const [mail, shown] of [
      [null, null],
      ['sending', 'unknown'],
      ['failed', 'failed'],
      ['sent', 'sent'],
    ]) {
      await platform.platform.database.execute('update orders set mail = $2 where order_id = $1', [body.orderId, mail])
      for (const path of [`/orders/${body.orderId}`, '/orders/by-external-id?externalId=mailed'])
        assert.equal((await ok(path, beta)).emailDelivery, shown)
    }
    const answer = await get(`/orders/${body.orderId}/timeline`, beta)
    assert.deepEqual(
      answer.body.data.map(({ event }: any) => event),
      ['reserved', 'confirmed', 'email_sent'],
    )
    assert.doesNotMatch(answer.text, /example\.com/)
  })
})

suite('the file', () => {
  test('has the fields of the list, quoted and disarmed', async () => {
    const orderId = await reserve({ externalId: '=1+1' })
    await confirm(orderId)
    const { status, text, headers } = await get('/orders.csv?externalId=%3D1%2B1')
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8'])
    const [head, line, end] = text.split('\r\n')
    assert.equal(
      head,
      [
        'orderId',
        'externalId',
        'operatorCode',
        'tariffCode',
        'status',
        'msisdn',
        'reservedUntil',
        'createdAt',
        'confirmedAt',
      ]
        .concat(['price', 'currency', 'endedAt', 'cancelledAt', 'deliveryMode', 'emailDelivery', 'paymentReference'])
        .concat(['statementId', 'statementNumber', 'statementDay'])
        .map(name => `"${name}"`)
        .join(','),
    )
    const { paths } = (await get('/swagger/json')).body
    const { description } = paths['/partner/v1/orders.csv'].get
    assert.ok(description.includes(head?.replaceAll('"', '').replaceAll(',', ', ')), description)
    assert.match(
      line ?? '',
      new RegExp(`^"${orderId}","'=1\\+1","kyivstar","eu-10gb","confirmed",.*,399\\.00,"UAH",.*,"local",,,,,$`),
    )
    assert.equal(end, '')
    const whole = await get('/orders.csv?status=confirmed,cancelled')
    const found = await ids('status=confirmed,cancelled')
    assert.deepEqual(
      whole.text
        .trim()
        .split('\r\n')
        .slice(1)
        .map(row => row.slice(1, 37)),
      found,
    )
    assert.equal((await get('/orders.csv?sort=createdAt')).status, 400)
  })

  test('writes every text as `csvCell` does', async () => {
    const starts = ['', '=', '+1', '-', '@a', '\uff1d1', '"', '"=', '""@', ' =', "'", 'ї', '$1']
    const ends = ['', ';', ';=1', '\t+', '\r\n-2', '\n"@', 'a"b', ',', '\\', '\\1', '%', '…']
    const texts = starts.flatMap(start => ends.map(end => start + end))
    const sql = `select ${csvCellSql('t')} as cell from unnest($1::text[]) with ordinality as given (t, n) order by n`
    const rows = await platform.platform.database.query<{ cell: string }>(sql, [texts])
    assert.deepEqual(
      rows.map(({ cell }) => cell),
      texts.map(csvCell),
    )
  })

  test('is of an externalId that looks like a place for a value', async () => {
    const orderId = await reserve({ externalId: 'a$1b$2' })
    const { status, text } = await get('/orders.csv?externalId=a%241b%242')
    assert.deepEqual([status, text.split('\r\n').length], [200, 3])
    assert.match(text, new RegExp(orderId))
  })
})
