/** POST /orders. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { advance, assertError, assertOrder, type Bank, changed, openBank, provenBooks } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
let beta: Bank
let gamma: Bank
before(async () => {
  platform = await startPlatform()
  alpha = await openBank(platform)
  beta = await openBank(platform, await platform.bankToken('beta'))
  gamma = await openBank(platform, await platform.bankToken('gamma'))
  await platform.addStock('kyivstar', 'eu-10gb', 200)
  await platform.addStock('roamwide', 'world', 10)
})
after(() => platform.close())

let lastId = 0
const newId = (): string => `id-${++lastId}`
const world = { operatorCode: 'roamwide', tariffCode: 'world' }
const suspendedWorld = changed(testDirectory, ['country: global', 'country: global\n      status: suspended'])

describe('201', () => {
  test('a new order: exactly the documented fields, 15 minutes, and GET tells the same', async () => {
    const externalId = newId()
    const before = Date.now()
    const answer = await alpha.reserve(externalId)
    const expected = { externalId, operatorCode: 'kyivstar', tariffCode: 'eu-10gb' }
    const order = assertOrder(answer, { status: 'reserved', ...expected }, 201)
    assert.ok(Date.parse(order.createdAt) >= before - 1 && Date.parse(order.createdAt) <= Date.now())
    assert.deepEqual((await alpha.read(order.orderId)).body, order)
    assert.doesNotMatch(answer.text, /LPA:|iccid|pin1/i)
  })

  test('takes exactly one profile', async () => {
    const { free, reserved } = await provenBooks(platform)
    assertOrder(await alpha.reserve(newId()), { status: 'reserved' }, 201)
    const after = await provenBooks(platform)
    assert.deepEqual([after.free, after.reserved], [free - 1, reserved + 1])
  })

  test('price and currency are kept with the order when the tariff changes', async () => {
    const { orderId } = assertOrder(await alpha.reserve(newId()), { status: 'reserved' }, 201)
    await platform.applyDirectory(
      changed(testDirectory, ['price: 399.00, currency: UAH', 'price: 401.25, currency: EUR']),
    )
    const later = assertOrder(await alpha.reserve(newId()), { status: 'reserved' }, 201)
    await platform.applyDirectory(testDirectory)
    const rows = await platform.platform.database.query(
      'select price::text, currency from orders where order_id in ($1, $2) order by order_id',
      [orderId, later.orderId],
    )
    assert.deepEqual(rows, [
      { price: '399.00', currency: 'UAH' },
      { price: '401.25', currency: 'EUR' },
    ])
  })

  test('another bank may use the same externalId: its own order', async () => {
    const externalId = newId()
    const ours = assertOrder(await alpha.reserve(externalId), { status: 'reserved', externalId }, 201)
    const theirs = assertOrder(await beta.reserve({ externalId, ...world }), { status: 'reserved', externalId }, 201)
    assert.notEqual(ours.orderId, theirs.orderId)
    assertOrder(await alpha.reserve(externalId), { status: 'reserved', orderId: ours.orderId })
  })

  test('externalId is compared byte by byte', async () => {
    const prefix = newId()
    const spellings = [
      'a',
      'A',
      ' a',
      'a ',
      'a\t',
      '\u00e9',
      'e\u0301',
      '\u212b',
      '\u00c5',
      'A\u030a',
      'ß',
      'ss',
      'ı',
      'i',
    ]
    spellings.push(
      'a\u200d',
      '\ufeffa',
      '\uff41',
      '\u{1f600}',
      "'; drop table orders; --",
      '%',
      '_',
      '\\',
      '"',
      '\u007f',
      '\n',
    )
    const ids = new Set<string>()
    for (const spelling of spellings) {
      const externalId = prefix + spelling
      const { orderId } = assertOrder(await alpha.reserve(externalId), { status: 'reserved', externalId }, 201)
      assertOrder(await alpha.reserve(externalId), { status: 'reserved', externalId, orderId })
      ids.add(orderId)
    }
    assert.equal(ids.size, spellings.length)
  })

  test('externalId has 1 to 128 characters, counted as a person does', async () => {
    const exact = ['x', 'Ї'.repeat(128), '\u{1f680}'.repeat(128), `${'-'.repeat(127)}\u{10ffff}`, ' ', '0'.repeat(128)]
    for (const externalId of exact) {
      const { orderId } = assertOrder(await alpha.reserve(externalId), { status: 'reserved', externalId }, 201)
      assertOrder(await alpha.reserve(externalId), { externalId, orderId, status: 'reserved' })
    }
    for (const externalId of ['', 'x'.repeat(129), '\u{1f680}'.repeat(129), 'x'.repeat(20_000)])
      assertError(await alpha.reserve(externalId), 400, /^externalId must be/)
  })

  test('a body of 64 KiB is read, one byte more is 413', async () => {
    const body = JSON.stringify({ operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: newId() })
    const answer = await alpha.call('POST', '/orders', { raw: body.padEnd(64 * 1024) })
    assertOrder(answer, { status: 'reserved' }, 201)
    assertError(await alpha.call('POST', '/orders', { raw: body.padEnd(64 * 1024 + 1) }), 413)
  })
})

describe('200, the idempotent repeat', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('gives the same order and takes no second profile', async () => {
    const externalId = newId()
    const order = assertOrder(await alpha.reserve(externalId), { status: 'reserved' }, 201)
    const books = await provenBooks(platform)
    for (let round = 0; round < 3; round++) assert.deepEqual((await alpha.reserve(externalId)).body, order)
    assert.deepEqual(await provenBooks(platform), books)
  })

  test('gives the order as it is by then: confirmed, cancelled, expired', async () => {
    const [confirmed, cancelled, expired] = [newId(), newId(), newId()]
    const first = assertOrder(await alpha.reserve(confirmed), { status: 'reserved' }, 201)
    await alpha.confirm(first.orderId)
    const { orderId, createdAt } = first
    assertOrder(await alpha.reserve(confirmed), { status: 'confirmed', orderId, createdAt, msisdn: first.msisdn })
    const second = assertOrder(await alpha.reserve(cancelled), { status: 'reserved' }, 201)
    await alpha.cancel(second.orderId)
    assertOrder(await alpha.reserve(cancelled), { status: 'cancelled', orderId: second.orderId })
    const third = assertOrder(await alpha.reserve(expired), { status: 'reserved' }, 201)
    await advance(platform, 'PT15M')
    const { reservedUntil } = third
    assertOrder(await alpha.reserve(expired), { status: 'expired', orderId: third.orderId, reservedUntil })
    await provenBooks(platform)
  })

  test('is found before the catalogue: the operator suspended or taken from the bank, the tariff off or sold out since', async () => {
    const externalId = newId()
    const { orderId } = assertOrder(await alpha.reserve({ externalId, ...world }), { status: 'reserved' }, 201)
    const repeated = async (directory: string) => {
      await platform.applyDirectory(directory)
      assertOrder(await alpha.reserve({ externalId, ...world }), { status: 'reserved', orderId })
    }
    await repeated(suspendedWorld)
    await repeated(changed(testDirectory, ['country: global', 'country: global\n      status: withdrawn']))
    await repeated(changed(testDirectory, ['dataUnlimited: true', 'dataUnlimited: true, onSale: false']))
    await repeated(changed(testDirectory, ['local, operators: all', 'local, operators: [kyivstar]']))
    await platform.applyDirectory(testDirectory)
    while ((await alpha.reserve({ externalId: newId(), ...world })).status === 201);
    assertError(await alpha.reserve({ externalId: newId(), ...world }), 503)
    assertOrder(await alpha.reserve({ externalId, ...world }), { status: 'reserved', orderId })
  })
})

describe('409, the externalId with another operator or tariff', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('whether that exists, has stock, is on sale, or not', async () => {
    const externalId = newId()
    const order = assertOrder(await alpha.reserve(externalId), { status: 'reserved' }, 201)
    const books = await provenBooks(platform)
    const others = [
      { tariffCode: 'ua-5gb' },
      { tariffCode: 'off' },
      { tariffCode: 'empty' },
      { tariffCode: 'nothing' },
      { tariffCode: 'EU-10GB' },
      { operatorCode: 'nobody' },
      { operatorCode: 'roamwide' },
      { operatorCode: 'roamwide', tariffCode: 'world' },
      { operatorCode: 'nobody', tariffCode: 'nothing' },
    ]
    for (const other of others) assertError(await alpha.reserve({ externalId, ...other }), 409, /externalId/)
    assert.deepEqual((await alpha.read(order.orderId)).body, order)
    assert.deepEqual(await provenBooks(platform), books)
  })

  test('also once the first order is cancelled', async () => {
    const externalId = newId()
    const { orderId } = assertOrder(await alpha.reserve(externalId), { status: 'reserved' }, 201)
    await alpha.cancel(orderId)
    assertError(await alpha.reserve({ externalId, tariffCode: 'ua-5gb' }), 409)
  })

  test('also with an operator that is suspended or not in the bank’s list', async () => {
    const externalId = newId()
    assertOrder(await gamma.reserve(externalId), { status: 'reserved' }, 201)
    assertError(await gamma.reserve({ externalId, ...world }), 409)
    await platform.applyDirectory(suspendedWorld)
    const other = newId()
    assertOrder(await alpha.reserve(other), { status: 'reserved' }, 201)
    assertError(await alpha.reserve({ externalId: other, ...world }), 409)
  })
})

describe('404', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('an operator or tariff that does not exist, or not in this spelling', async () => {
    const unknown = [
      { operatorCode: 'nobody' },
      { operatorCode: 'Kyivstar' },
      { operatorCode: ' kyivstar' },
      { operatorCode: '__proto__' },
      { tariffCode: 'nothing' },
      { tariffCode: 'EU-10GB' },
      { tariffCode: 'constructor' },
      { tariffCode: 'world' },
    ]
    for (const fields of unknown) assertError(await alpha.reserve({ externalId: newId(), ...fields }), 404)
  })

  test('an operator that the bank does not sell, or that is suspended or withdrawn', async () => {
    assertError(await gamma.reserve({ externalId: newId(), ...world }), 404)
    await platform.applyDirectory(suspendedWorld)
    assertError(await alpha.reserve({ externalId: newId(), ...world }), 404)
    await platform.applyDirectory(
      changed(testDirectory, ['country: global', 'country: global\n      status: withdrawn']),
    )
    assertError(await alpha.reserve({ externalId: newId(), ...world }), 404)
  })
})

describe('503 with Retry-After', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('a tariff without stock; the same request is new once there is some', async () => {
    const request = { externalId: newId(), tariffCode: 'empty' }
    assertError(await alpha.reserve(request), 503)
    assertError(await alpha.reserve(request), 503)
    await platform.addStock('kyivstar', 'empty', 1)
    assertOrder(await alpha.reserve(request), { status: 'reserved' }, 201)
    assertError(await alpha.reserve({ ...request, externalId: newId() }), 503)
  })

  test('a tariff that is switched off although it has stock', async () => {
    await platform.addStock('kyivstar', 'off', 1)
    const request = { externalId: newId(), tariffCode: 'off' }
    assertError(await alpha.reserve(request), 503)
    await platform.applyDirectory(changed(testDirectory, ['onSale: false', 'onSale: true']))
    assertOrder(await alpha.reserve(request), { status: 'reserved' }, 201)
  })

  test('leaves the externalId free for another tariff', async () => {
    const externalId = newId()
    assertError(await alpha.reserve({ externalId, tariffCode: 'empty' }), 503)
    assertOrder(await alpha.reserve(externalId), { status: 'reserved' }, 201)
  })
})

describe('400', () => {
  const countOrders = async () => (await platform.platform.database.query('select from orders')).length
  let ordersBefore = 0
  before(async () => {
    ordersBefore = await countOrders()
  })
  const good = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb' }

  test('names every faulty field at once, each entry beginning with its name', async () => {
    const given = 'must be given'
    const missing = [`operatorCode ${given}`, `tariffCode ${given}`, `externalId ${given}`]
    assertError(await alpha.call('POST', '/orders', { body: {} }), 400, missing)
    const answer = await alpha.call('POST', '/orders', {
      body: { operatorCode: 7, tariffCode: null, bankId: 'x', price: 1 },
    })
    assertError(answer, 400)
    assert.deepEqual(answer.body.message.toSorted(), [
      'bankId must be omitted',
      'externalId must be given',
      'operatorCode must be a string',
      'price must be omitted',
      'tariffCode must be a string',
    ])
  })

  const bodies: [string, string | Uint8Array, RegExp][] = [
    ['no body', '', /body/],
    ['no JSON', '{"operatorCode":', /JSON/],
    ['JSON with a comment', '{} // x', /JSON/],
    ['null', 'null', /body must be an object/i],
    ['an array', '[]', /body must be an object/i],
    ['a string', '"x"', /body must be an object/i],
    [
      'a number for a code',
      JSON.stringify({ ...good, operatorCode: 1, externalId: 'x' }),
      /^operatorCode must be a string/,
    ],
    ['a number as externalId', JSON.stringify({ ...good, externalId: 1 }), /^externalId must be a string/],
    ['null as externalId', JSON.stringify({ ...good, externalId: null }), /^externalId must be a string/],
    ['a list as externalId', JSON.stringify({ ...good, externalId: ['x'] }), /^externalId must be a string/],
    ['an empty code', JSON.stringify({ ...good, tariffCode: '', externalId: 'x' }), /^tariffCode must be/],
    ['a NUL', '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"a\\u0000b"}', /^externalId must be/],
    [
      'half a surrogate pair',
      '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"\\ud83d"}',
      /^externalId must be/,
    ],
    [
      'a NUL in a code',
      '{"operatorCode":"kyivstar\\u0000","tariffCode":"eu-10gb","externalId":"n"}',
      /^operatorCode must be/,
    ],
    [
      'a field given twice',
      '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"a","externalId":"b"}',
      /^externalId must be/,
    ],
    [
      'given twice, once escaped',
      '{"operatorCode":"k","tariffCode":"t","externalId":"a","external\\u0049d":"b"}',
      /^externalId must be/,
    ],
    [
      '__proto__',
      '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"p","__proto__":{}}',
      /^__proto__ must be omitted/,
    ],
    ['deep nesting', `{"externalId":${'['.repeat(1000)}${']'.repeat(1000)}}`, /body/i],
    ['bytes that are no UTF-8', Buffer.from('{"externalId":"\xff"}', 'latin1'), /UTF-8/],
    ['UTF-16', Buffer.from(JSON.stringify({ ...good, externalId: 'x' }), 'utf16le'), /body/i],
  ]
  for (const [name, raw, message] of bodies)
    test(`${name}`, async () => assertError(await alpha.call('POST', '/orders', { raw }), 400, message))

  test('a query parameter', async () => {
    const body = { ...good, externalId: newId() }
    assertError(await alpha.call('POST', '/orders?dryRun=1', { body }), 400, ['dryRun must be omitted'])
  })

  test('nothing of it was made', async () => {
    assert.equal(await countOrders(), ordersBefore)
    await provenBooks(platform)
  })
})
