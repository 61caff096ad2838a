/** Daily statements: each sale once, exact money, files that never change (contract/statements.md). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { createLogger } from '../../../src/log.ts'
import { dayAfter } from '../../../src/text/days.ts'
import { advance, type Bank, openBank, stopClock, until } from '../../support/esim.ts'
import { type Answer, startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
let beta: Bank
const logged: string[] = []
const directory = (statement: string) =>
  testDirectory.replace(
    'deliveryMode: local, operators: all',
    `deliveryMode: local, operators: all, statement: ${statement}`,
  )
before(async () => {
  const logger = createLogger('warn', { write: line => void logged.push(line) })
  platform = await startPlatform({ API_RATE_LIMIT: '0', RATE_LIMIT: '0' }, { logger })
  await platform.applyDirectory(directory('{ timeZone: Europe/Kyiv, commissionPercentage: 12.3456 }'))
  await platform.addStock('kyivstar', 'eu-10gb', 60)
  await platform.addStock('kyivstar', 'ua-5gb', 20)
  await platform.addStock('roamwide', 'world', 20)
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
const all = async (bank = alpha) => (await ok('/statements?from=2054-01-01&to=2055-01-31&limit=500', bank)).data

let lastOrder = 0
async function sell(
  given: { tariffCode?: string; operatorCode?: string; externalId?: string } = {},
  reference?: string,
) {
  const reserved = await alpha.reserve({ externalId: `sale-${++lastOrder}`, ...given })
  assert.equal(reserved.status, 201, reserved.text)
  const { orderId } = reserved.body
  const headers = reference === undefined ? {} : { 'perkline-payment-reference': reference }
  const confirmed = await alpha.call('POST', `/orders/${orderId}/confirm`, { headers })
  assert.equal(confirmed.status, 200, confirmed.text)
  return orderId as string
}
const moveTo = async (now: string) => {
  const answer = await platform.call('POST', '/sandbox/clock', { token: platform.config.operatorKey, body: { now } })
  assert.equal(answer.status, 200, answer.text)
}

suite('before anything is sold', () => {
  test('there is no statement, and none is open', async () => {
    assert.deepEqual((await ok('/statements')).data, [])
    for (const path of ['/statements/latest', '/statements/open', '/statements/00000000-0000-4000-8000-000000000000'])
      assert.equal((await get(path)).status, 404, path)
    const empty = await get('/statements.csv')
    assert.deepEqual([empty.status, empty.text], [200, ''])
  })
})

const auditEntries = async () =>
  (await platform.call('GET', '/partner/v1/audit-log?action=statement.closed', { token: alpha.token })).body.data

suite('a day with sales', () => {
  const orders: string[] = []
  test('is open while it lasts, and shows every sale at once', async () => {
    // Noon in Kyiv.
    await moveTo('2054-12-22T10:00:00Z')
    orders.push(await sell({}, 'PR-9'))
    orders.push(await sell({ tariffCode: 'ua-5gb', externalId: 'a "quoted", one' }))
    orders.push(await sell({ operatorCode: 'roamwide', tariffCode: 'world', externalId: '=1+1' }))
    orders.push(await sell())
    const open = await ok('/statements/open')
    const { totals, byTariff, ...rest } = open
    assert.deepEqual(rest, {
      statementId: null,
      number: null,
      closed: false,
      day: '2054-12-22',
      timeZone: 'Europe/Kyiv',
      from: '2054-12-21T22:00:00.000Z',
      to: '2054-12-22T22:00:00.000Z',
      closedAt: null,
      previousStatementId: null,
      commissionPercentage: '12.3456',
      late: 0,
      sha256: null,
    })
    const none = { credits: 0, creditsAmount: '0.00' }
    assert.deepEqual(totals, [
      { currency: 'EUR', sales: 1, salesAmount: '25.50', ...none, gross: '25.50', commission: '3.15', net: '22.35' },
      // The three commissions are 49.258944 (twice) and 24.6788544; each line is rounded on its own.
      {
        currency: 'UAH',
        sales: 3,
        salesAmount: '997.90',
        ...none,
        gross: '997.90',
        commission: '123.20',
        net: '874.70',
      },
    ])
    assert.deepEqual(byTariff, [
      { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', currency: 'UAH', count: 2, amount: '798.00' },
      { operatorCode: 'kyivstar', tariffCode: 'ua-5gb', currency: 'UAH', count: 1, amount: '199.90' },
      { operatorCode: 'roamwide', tariffCode: 'world', currency: 'EUR', count: 1, amount: '25.50' },
    ])
  })

  test('is closed one minute after its end, with the same sums', async () => {
    const open = await ok('/statements/open')
    // 20 seconds before the closing, because the clock goes on while a busy machine works.
    await moveTo('2054-12-22T22:00:40.000Z')
    assert.deepEqual(await all(), [])
    await moveTo('2054-12-22T22:01:00.500Z')
    const [statement, ...others] = await all()
    assert.deepEqual(others, [])
    const { statementId, number, closed, closedAt, sha256, ...rest } = statement
    assert.deepEqual([number, closed], [1, true])
    assert.deepEqual({ ...open, ...rest }, open)
    assert.match(statementId, /^[0-9a-f-]{36}$/)
    assert.match(sha256, /^[0-9a-f]{64}$/)
    assert.ok(closedAt >= '2054-12-22T22:01:00.500Z')
    assert.deepEqual(await ok('/statements/latest'), statement)
    assert.deepEqual(await ok(`/statements/${statementId}`), statement)
    assert.equal((await ok('/statements/open')).previousStatementId, statementId)
  })

  test('has a line for each sale, in the order of their confirmation', async () => {
    const { statementId } = await ok('/statements/latest')
    const { data, nextCursor } = await ok(`/statements/${statementId}/lines`)
    assert.equal(nextCursor, null)
    assert.deepEqual(
      data.map((line: any) => line.orderId),
      orders,
    )
    const { confirmedAt, ...first } = data[0]
    assert.match(confirmedAt, /^2054-12-22T10:00:\d\d\.\d{3}Z$/)
    assert.deepEqual(first, {
      line: 1,
      type: 'sale',
      orderId: orders[0],
      externalId: 'sale-1',
      paymentReference: 'PR-9',
      operatorCode: 'kyivstar',
      tariffCode: 'eu-10gb',
      tariffName: 'Europe 10 GB',
      currency: 'UAH',
      amount: '399.00',
      commission: '49.26',
      net: '349.74',
      late: false,
      creditOf: null,
    })
    const pages = [await ok(`/statements/${statementId}/lines?limit=3`)]
    pages.push(await ok(`/statements/${statementId}/lines?limit=3&cursor=${pages[0].nextCursor}`))
    assert.deepEqual(
      pages.flatMap(page => page.data),
      data,
    )
    assert.equal(pages[1].nextCursor, null)
  })

  test('has a file whose digest, tag and records are right', async () => {
    const statement = await ok('/statements/latest')
    const file = await platform.call('GET', `/partner/v1/statements/${statement.statementId}.csv`, {
      token: alpha.token,
      headers: { 'accept-encoding': 'gzip' },
    })
    assert.equal(file.status, 200)
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.equal(file.headers.get('content-encoding'), null)
    assert.equal(file.headers.get('cache-control'), 'private, no-transform')
    assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="statement-2054-12-22\.csv"/)
    const digest = createHash('sha256').update(file.text)
    const bytes = digest.digest()
    assert.equal(bytes.toString('hex'), statement.sha256)
    assert.equal(file.headers.get('repr-digest'), `sha-256=:${bytes.toString('base64')}:`)
    const known = await platform.call('GET', `/partner/v1/statements/${statement.statementId}.csv`, {
      token: alpha.token,
      headers: { 'if-none-match': file.headers.get('etag') ?? '' },
    })
    assert.deepEqual([known.status, known.text], [304, ''])
    const { data } = await ok(`/statements/${statement.statementId}/lines`)
    const at = (index: number) => data[index].confirmedAt
    assert.deepEqual(file.text.split('\r\n'), [
      'H,1,alpha,2054-12-22,Europe/Kyiv,2054-12-21T22:00:00.000Z,2054-12-22T22:00:00.000Z,1,-',
      `D,1,sale,${orders[0]},sale-1,PR-9,kyivstar,eu-10gb,Europe 10 GB,${at(0)},UAH,399.00,49.26,349.74,0,`,
      `D,2,sale,${orders[1]},"a ""quoted"", one",,kyivstar,ua-5gb,Ukraine 5 GB,${at(1)},UAH,199.90,24.68,175.22,0,`,
      `D,3,sale,${orders[2]},=1+1,,roamwide,world,World,${at(2)},EUR,25.50,3.15,22.35,0,`,
      `D,4,sale,${orders[3]},sale-2,,kyivstar,eu-10gb,Europe 10 GB,${at(3)},UAH,399.00,49.26,349.74,0,`.replace(
        'sale-2',
        data[3].externalId,
      ),
      'T,EUR,1,25.50,0,0.00,25.50,3.15,22.35',
      'T,UAH,3,997.90,0,0.00,997.90,123.20,874.70',
      '',
    ])
  })

  test('is told of by HEAD, without a line in the log', async () => {
    const { statementId, sha256 } = await ok('/statements/latest')
    for (const path of [
      `/partner/v1/statements/${statementId}.csv`,
      '/partner/v1/statements.csv',
      '/partner/v1/orders.csv',
    ]) {
      const requestId = `head-${path}`
      const { status, text, headers } = await platform.call('HEAD', path, {
        token: alpha.token,
        headers: { 'x-request-id': requestId },
      })
      assert.deepEqual([status, text], [200, ''], path)
      assert.match(headers.get('content-disposition') ?? '', /^attachment/)
      if (path.includes(statementId)) assert.equal(headers.get('etag'), `"${sha256}"`)
    }
    await get('/statements/latest')
    assert.deepEqual(logged, [])
  })

  test('is told to the bank and the platform, and in the bank’s audit log', async () => {
    const { statementId, number, day, totals, sha256, closedAt } = await ok('/statements/latest')
    await until('the entry is chained', async () => (await auditEntries()).length > 0)
    const [entry] = await auditEntries()
    assert.deepEqual(entry.object, { type: 'statement', id: statementId })
    assert.deepEqual(entry.change, { number: [null, 1], sha256: [null, sha256] })
    const [told] = await platform.platform.database.query<{ data: any }>(
      `select data from outbox where kind = 'event' and data ->> 'type' = 'statement.closed' limit 1`,
    )
    assert.deepEqual([told?.data.at, told?.data.platform], [closedAt, true])
    assert.deepEqual(JSON.parse(told?.data.text), { statementId, number, day, totals })
  })

  test('stays as it is when tariffs and settings change', async () => {
    const before = await ok('/statements/latest')
    const text = (await get(`/statements/${before.statementId}.csv`)).text
    await platform.applyDirectory(
      directory('{ timeZone: UTC, commissionPercentage: 50 }')
        .replace('name: Europe 10 GB', 'name: Renamed')
        .replace('price: 399.00', 'price: 1'),
    )
    assert.deepEqual(await ok('/statements/latest'), before)
    assert.equal((await get(`/statements/${before.statementId}.csv`)).text, text)
    await platform.applyDirectory(directory('{ timeZone: Europe/Kyiv, commissionPercentage: 12.3456 }'))
  })
})

suite('what comes late', () => {
  test('is on the next statement, marked, once', async () => {
    const before = await ok('/statements/latest')
    // The clock of another process is still before the end of the closed day.
    let orderId: string
    {
      using _ = stopClock(platform, '2054-12-22T21:59:59.900Z')
      orderId = await sell()
    }
    const open = await ok('/statements/open')
    assert.deepEqual([open.day, open.late, open.totals[0].sales], ['2054-12-23', 1, 1])
    await moveTo('2054-12-23T22:02:00Z')
    const latest = await ok('/statements/latest')
    assert.deepEqual([latest.number, latest.late, latest.previousStatementId], [2, 1, before.statementId])
    const { data } = await ok(`/statements/${latest.statementId}/lines`)
    assert.deepEqual(
      data.map((line: any) => [line.orderId, line.late]),
      [[orderId, true]],
    )
    const { text } = await get(`/statements/${latest.statementId}.csv`)
    assert.match(text, new RegExp(`^H,1,alpha,2054-12-23,[^\r]*,2,${before.sha256}\r\n`))
    assert.match(text, /,1,\r\nT,/)
  })
})

suite('days without sales', () => {
  test('have statements, one by one; two files are their bytes one after the other', async () => {
    await advance(platform, 'P3D')
    const statements = await all()
    assert.deepEqual(
      statements.map((one: any) => one.number),
      [5, 4, 3, 2, 1],
    )
    const empty = statements[0]
    assert.deepEqual([empty.day, empty.totals, empty.byTariff], ['2054-12-26', [], []])
    const texts = []
    for (const { statementId } of statements.toReversed())
      texts.push((await get(`/statements/${statementId}.csv`)).text)
    assert.match(texts[4] ?? '', /\r\nT,-,0,0\.00,0,0\.00,0\.00,0\.00,0\.00\r\n$/)
    const joined = await get('/statements.csv?from=2054-12-22&to=2054-12-26')
    assert.equal(joined.text, texts.join(''))
    const digest = createHash('sha256').update(joined.text).digest('base64')
    assert.equal(joined.headers.get('repr-digest'), `sha-256=:${digest}:`)
  })

  test('a list is read page by page, and of some days only', async () => {
    const first = await ok('/statements?limit=2&from=2054-12-22&to=2054-12-25')
    assert.deepEqual(
      first.data.map((one: any) => one.number),
      [4, 3],
    )
    const second = await ok(`/statements?limit=2&from=2054-12-22&to=2054-12-25&cursor=${first.nextCursor}`)
    assert.deepEqual(
      second.data.map((one: any) => one.number),
      [2, 1],
    )
    assert.equal(second.nextCursor, null)
    assert.equal(
      (await get(`/statements?limit=2&from=2054-12-23&to=2054-12-25&cursor=${first.nextCursor}`)).status,
      400,
    )
    for (const query of [
      'from=2054-12-25&to=2054-12-22',
      'from=2025-01-01&to=2054-12-22',
      'from=2054-02-30',
      'to=x',
      'x=1',
    ])
      assert.equal((await get(`/statements?${query}`)).status, 400, query)
    for (const path of ['/statements', '/statements.csv']) {
      const later = await get(`${path}?from=2099-01-01`)
      assert.deepEqual([later.status, later.body.data ?? later.text], [200, path === '/statements' ? [] : ''], path)
    }
    const options = { token: platform.config.operatorKey }
    const ofAll = await platform.call('GET', '/admin/statements?from=2099-01-01', options)
    assert.deepEqual([ofAll.status, ofAll.body.data], [200, []])
    const { body } = await get('/statements?to=2054-02-30')
    assert.deepEqual(body.message, ['to must be an ISO 8601 date from 0100-01-02 to 9999-12-30'], 'only what was sent')
    assert.equal((await ok('/statements')).data.length, 5)
  })
})

suite('another bank', () => {
  test('does not see them, and merchants and the platform may not read any', async () => {
    const { statementId } = await ok('/statements/latest')
    for (const path of [
      `/statements/${statementId}`,
      `/statements/${statementId}/lines`,
      `/statements/${statementId}.csv`,
    ])
      assert.equal((await get(path, beta)).status, 404, path)
    assert.deepEqual(await all(beta), [])
    const token = await platform.merchantToken()
    assert.equal((await platform.call('GET', '/partner/v1/statements', { token })).status, 403)
    assert.equal((await get('/statements/x')).status, 400)
  })
})

suite('a gap', () => {
  test('of more than 400 days is one statement, on which nothing is late', async () => {
    const orderId = await sell()
    const { body } = await beta.reserve('first-of-beta')
    assert.equal((await beta.confirm(body.orderId, 'customer@example.com')).status, 200)
    await advance(platform, 'P2Y')
    const latest = await ok('/statements/latest')
    assert.deepEqual([latest.number, latest.late], [6, 0])
    const { data } = await ok(`/statements/${latest.statementId}/lines`)
    assert.deepEqual(
      data.map((line: any) => line.orderId),
      [orderId],
    )
  })

  test('at the beginning: the sales figures count each sale once, on the day of the statement', async () => {
    const first = await ok('/statements/latest', beta)
    assert.equal(first.number, 1)
    const confirmed = async (from: string, to: string): Promise<number> => {
      const answer = await platform.call('GET', `/portal/esim/sales?from=${from}&to=${to}`, { token: beta.token })
      assert.equal(answer.status, 200, answer.text)
      return answer.body.totals.confirmed
    }
    assert.equal(await confirmed(dayAfter(first.day, -2), first.day), 1)
    assert.equal(await confirmed(dayAfter(first.day, -200), dayAfter(first.day, -1)), 0)
    const begins = first.from.slice(0, 10)
    assert.equal(await confirmed(dayAfter(begins, -20), dayAfter(begins, 20)), 0)
  })
})

suite('a change of zone', () => {
  test('leaves no gap', async () => {
    const before = await ok('/statements/latest')
    await platform.applyDirectory(directory('{ timeZone: America/New_York }'))
    await advance(platform, 'P2D')
    const latest = await ok('/statements/latest')
    const next = await ok(`/statements/${(await ok('/statements/open')).previousStatementId}`)
    assert.deepEqual(next, latest)
    assert.equal(latest.timeZone, 'America/New_York')
    assert.ok(latest.number > before.number)
  })

  test('leaves the sales figures on the days of the statements', async () => {
    const { day } = await ok('/statements/open')
    await sell()
    const statements = await everyStatement()
    const sales = async (from: string, to: string) => {
      const answer = await platform.call('GET', `/portal/esim/sales?from=${from}&to=${to}`, { token: alpha.token })
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    }
    // The figures of the open day and of each closed day equal the statements, although the time zone has changed since and
    // one statement covers two years.
    assert.deepEqual((await sales(day, day)).totals.confirmed, 1)
    for (const statement of statements.filter((one: any) => one.late === 0 && one.day !== lateFor)) {
      const { totals, days } = await sales(statement.day, statement.day)
      assert.equal(totals.confirmed, sumOf(statement.totals), statement.day)
      assert.ok(days.every((row: any) => row.day === statement.day))
    }
    // A late line counts for its own day.
    assert.equal((await sales(lateFor, lateFor)).totals.confirmed, 5)
    assert.equal((await sales('2054-12-23', '2054-12-23')).totals.confirmed, 0)
    // These days are before the first statement, so they have no sales.
    for (const [from, to] of [
      ['2054-01-01', '2054-12-21'],
      ['2031-01-01', '2031-12-31'],
    ] as const)
      assert.equal((await sales(from, to)).totals.confirmed, 0)
    // These days have no statements of their own: one long statement covers them.
    assert.equal((await sales('2055-02-01', '2055-12-31')).totals.confirmed, 0)
  })
})

suite('a day that has ended and is not closed yet', () => {
  test('stays the open statement, and newer sales are on the next one', async () => {
    const ended = await ok('/statements/open')
    {
      using _ = stopClock(platform, new Date(Date.parse(ended.to) + 20_000))
      await sell()
      assert.deepEqual(await ok('/statements/open'), ended)
    }
    await moveTo(new Date(Date.parse(ended.to) + 61_000).toISOString())
    const open = await ok('/statements/open')
    assert.deepEqual([open.from, sumOf(open.totals)], [ended.to, 1])
  })
})

suite('a time zone in other letters', () => {
  const zoneOfNext = async () => {
    assert.equal((await ok('/statements/open')).timeZone, (await sales()).timeZone)
    await advance(platform, 'P3D')
    const { statementId, timeZone } = await ok('/statements/latest')
    const { text } = await get(`/statements/${statementId}.csv`)
    assert.equal(text.split(',')[4], timeZone)
    return timeZone
  }
  const sales = async () => (await platform.call('GET', '/portal/esim/sales', { token: alpha.token })).body

  test('is stored with its usual ones; another name of the same zone stays', async () => {
    for (const [given, usual] of [
      ['europe/kiev', 'Europe/Kiev'],
      ['EUROPE/kyiv', 'Europe/Kyiv'],
    ] as const) {
      await platform.applyDirectory(directory(`{ timeZone: ${given} }`))
      const [bank] = await platform.platform.database.query(
        `select esim_time_zone as zone from banks where code = 'alpha'`,
      )
      assert.deepEqual(bank, { zone: usual })
      assert.equal(await zoneOfNext(), usual)
    }
  })

  test('that an older version has stored is right on the next statement', async () => {
    await platform.platform.database.execute(
      `update banks set esim_time_zone = 'america/PORT-AU-PRINCE' where code = 'alpha'`,
    )
    assert.equal(await zoneOfNext(), 'America/Port-au-Prince')
  })

  test('that is no IANA name and that an older version has stored goes on, until the file names one', async () => {
    await platform.platform.database.execute(`update banks set esim_time_zone = 'BST' where code = 'alpha'`)
    const apply = (statement: string) =>
      platform.call('POST', '/admin/directory', {
        token: platform.config.operatorKey,
        body: { directory: `banks: [{ code: alpha, esim: { statement: ${statement} } }]` },
      })
    assert.equal((await apply('{ commissionPercentage: 5 }')).status, 200)
    assert.equal(await zoneOfNext(), 'BST')
    assert.match((await apply('{ timeZone: BST }')).text, /must be an IANA time zone/)
    assert.equal((await apply('{ timeZone: Europe/London }')).status, 200)
    assert.equal(await zoneOfNext(), 'Europe/London')
  })
})

suite('a list that is read over midnight', () => {
  test('keeps the days with which it began', async () => {
    await advance(platform, 'P40D')
    const { data } = await ok('/statements')
    const limit = data.length - 1
    const first = await ok(`/statements?limit=${limit}`)
    await advance(platform, 'P3D')
    const second = await ok(`/statements?limit=${limit}&cursor=${first.nextCursor}`)
    assert.deepEqual([...first.data, ...second.data], data)
  })
})

const lateFor = '2054-12-22'
const sumOf = (totals: { sales: number }[]) => totals.reduce((sum, { sales }) => sum + sales, 0)
/** Reads all statements, in spans that are short enough for one request. */
async function everyStatement() {
  const years = ['2054-12-01&to=2055-06-30', '2055-07-01&to=2056-06-30', '2056-07-01&to=2057-06-30']
  const found = []
  for (const year of years) found.push(...(await ok(`/statements?limit=500&from=${year}`)).data)
  return found
}
