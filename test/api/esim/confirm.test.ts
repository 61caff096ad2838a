/** POST /orders/{orderId}/confirm, without the e-mail (esim-mail.test.ts). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, afterEach, before, describe, test } from 'node:test'
import { importProfiles } from '../../../src/esim/stock/operations.ts'
import {
  advance,
  assertError,
  assertOrder,
  type Bank,
  changed,
  openBank,
  provenBooks,
  stopClock,
} from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
let beta: Bank
before(async () => {
  platform = await startPlatform({ PUBLIC_URL: 'https://esim.example/base/' }, { only: ['auth', 'esim', 'admin'] })
  alpha = await openBank(platform)
  beta = await openBank(platform, await platform.bankToken('beta'))
  await platform.addStock('kyivstar', 'eu-10gb', 60)
})
after(() => platform.close())

let lastId = 0
const reserved = async (bank = alpha) => assertOrder(await bank.reserve(`c${++lastId}`), { status: 'reserved' }, 201)
const email = 'customer@example.com'

describe('200', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('exactly the documented fields, never stored by a cache, and no word of an e-mail in local mode', async () => {
    const order = await reserved()
    const before = Date.now()
    const answer = await alpha.confirm(order.orderId)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(answer.headers.get('x-email-delivery'), null)
    const { confirmedAt, esim, ...rest } = answer.body
    const { orderId, externalId, operatorCode, tariffCode, msisdn } = order
    const expected = {
      orderId,
      externalId,
      operatorCode,
      tariffCode,
      msisdn,
      status: 'confirmed',
      deliveryMode: 'local',
    }
    assert.deepEqual(rest, expected)
    assert.match(confirmedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Date.parse(confirmedAt) >= before - 1 && Date.parse(confirmedAt) <= Date.now())
    const { iccid, pin1, activationCode, ...others } = esim
    const qrCodeUrl = `https://esim.example/base/esim/v1/orders/${orderId}/qr`
    assert.deepEqual(others, { msisdn, qrCodeUrl })
    assert.match(iccid, /^\d{18,20}$/)
    assert.match(pin1, /^\d{4,8}$/)
    assert.match(activationCode, /^LPA:1\$smdp\.example\.com\$[\w-]+$/)
  })

  test('what was loaded is what is sold, character for character', async () => {
    const line = ['8999900019999999994', '380671234567', '00012345', 'LPA:1$a.b-c.example$x-Y0$1.3.6.1$1$e:xtra']
    const [tariff] = await platform.platform.database.query<{ id: number }>(
      `select tariff_id as id from tariffs where code = 'ua-5gb'`,
    )
    await importProfiles(platform.platform.deps.admin, {
      tariffId: tariff?.id ?? 0,
      source: Readable.from([`iccid,msisdn,pin1,activationCode\n${line.join(',')}\n`]),
      skipInvalid: false,
    })
    const order = assertOrder(
      await alpha.reserve({ tariffCode: 'ua-5gb', externalId: 'exact' }),
      { status: 'reserved' },
      201,
    )
    const { body } = await alpha.confirm(order.orderId)
    const { iccid, msisdn, pin1, activationCode } = body.esim
    assert.deepEqual([iccid, msisdn, pin1, activationCode], [line[0], `+${line[1]}`, line[2], line[3]])
    assert.equal(body.msisdn, `+${line[1]}`)
  })

  test('repeated, the same data, and the profile is sold once', async () => {
    const { orderId } = await reserved()
    const { sold } = await provenBooks(platform)
    const first = await alpha.confirm(orderId)
    for (const repeat of [await alpha.confirm(orderId), await alpha.confirm(orderId, email)]) {
      assert.equal(repeat.status, 200)
      assert.deepEqual(repeat.body, first.body)
      assert.equal(repeat.headers.get('cache-control'), 'no-store')
      assert.equal(repeat.headers.get('x-email-delivery'), null)
    }
    await advance(platform, 'P400D')
    assert.deepEqual((await alpha.confirm(orderId)).body, first.body)
    assert.equal((await provenBooks(platform)).sold, sold + 1)
  })

  test('an orderId in capitals is the same order, also together with its other spelling', async () => {
    const { orderId } = await reserved()
    const spellings = [orderId.toUpperCase(), orderId, orderId.toUpperCase()]
    for (const answer of await Promise.all(spellings.map(spelling => alpha.confirm(spelling)))) {
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.orderId, orderId)
    }
    assert.equal((await alpha.confirm(orderId.toUpperCase())).status, 200)
    for (const path of ['', '/qr?format=base64'])
      assert.equal((await alpha.call('GET', `/orders/${orderId.toUpperCase()}${path}`)).status, 200)
    assertError(await alpha.cancel(orderId.toUpperCase()), 409)
  })

  test('from another process, the same data', async () => {
    const { orderId } = await reserved()
    const first = await alpha.confirm(orderId)
    const sibling = await platform.sibling()
    try {
      assert.deepEqual((await (await openBank(sibling, alpha.token)).confirm(orderId)).body, first.body)
    } finally {
      await sibling.close()
    }
  })

  test('the body may be absent or empty', async () => {
    // The header that `curl -d ''` sends.
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }
    const headers = [{ 'content-length': '0' }, form, { ...form, 'content-type': 'no type' }]
    const bodies = [{}, { raw: '' }, { raw: '{}' }, { raw: ' {\n} ' }]
    for (const options of [...bodies, ...headers.map(headers => ({ headers }))]) {
      const { orderId } = await reserved()
      const answer = await alpha.call('POST', `/orders/${orderId}/confirm`, options)
      assert.equal(answer.status, 200, JSON.stringify(options) + answer.text)
    }
  })

  test('the operator suspended, the tariff off or the bank without the operator since the reservation', async () => {
    const changes: [string, string][] = [
      [
        'logoUrl: https://kyivstar.example/logo.svg\n',
        'logoUrl: https://kyivstar.example/logo.svg\n      status: suspended\n',
      ],
      [
        'logoUrl: https://kyivstar.example/logo.svg\n',
        'logoUrl: https://kyivstar.example/logo.svg\n      status: withdrawn\n',
      ],
      ['dataVolumeMb: 10240', 'dataVolumeMb: 10240, onSale: false'],
      ['local, operators: all', 'local, operators: [roamwide]'],
    ]
    for (const change of changes) {
      const { orderId } = await reserved()
      await platform.applyDirectory(changed(testDirectory, change))
      assert.equal((await alpha.confirm(orderId)).status, 200)
      assert.equal((await alpha.qr(orderId)).status, 200)
      await platform.applyDirectory(testDirectory)
    }
  })

  test('the delivery mode is the bank’s of the first confirm; a repeat in another mode changes nothing', async () => {
    const { orderId } = await reserved()
    const first = await alpha.confirm(orderId)
    await platform.applyDirectory(changed(testDirectory, ['deliveryMode: local', 'deliveryMode: qr_email']))
    for (const repeat of [await alpha.confirm(orderId), await alpha.confirm(orderId, email)]) {
      assert.equal(repeat.status, 200)
      assert.deepEqual(repeat.body, first.body)
      assert.equal(repeat.headers.get('x-email-delivery'), null)
    }
  })
})

describe('the end of the reservation', () => {
  test('at 14:59.999 the confirm comes in time', async () => {
    const { orderId, reservedUntil } = await reserved()
    using _ = stopClock(platform, new Date(Date.parse(reservedUntil ?? '') - 1))
    assert.equal((await alpha.confirm(orderId)).status, 200)
    assertOrder(await alpha.read(orderId), { status: 'confirmed' })
  })

  test('at 15:00.000 it is 409, although nothing has swept', async () => {
    const { orderId, reservedUntil } = await reserved()
    using _ = stopClock(platform, reservedUntil ?? '')
    assertError(await alpha.confirm(orderId), 409, /expired/)
    assertError(await alpha.confirm(orderId), 409, /expired/)
    assertOrder(await alpha.read(orderId), { status: 'expired', reservedUntil })
  })

  test('swept and sold again, it is 409 for the first and 200 for the second', async () => {
    const first = await reserved()
    await advance(platform, 'PT15M')
    const second = await reserved()
    assertError(await alpha.confirm(first.orderId), 409, /expired/)
    assert.equal((await alpha.confirm(second.orderId)).status, 200)
  })
})

describe('409', () => {
  test('a cancelled order, again and again', async () => {
    const { orderId } = await reserved()
    await alpha.cancel(orderId)
    for (let round = 0; round < 2; round++) assertError(await alpha.confirm(orderId), 409, /cancelled/)
    assertOrder(await alpha.read(orderId), { status: 'cancelled' })
  })
})

describe('404', () => {
  test('an order that does not exist', async () => assertError(await alpha.confirm(randomUUID()), 404))

  test('another bank’s order, which stays as it is', async () => {
    const { orderId } = await reserved()
    assertError(await beta.confirm(orderId, email), 404)
    assertOrder(await alpha.read(orderId), { status: 'reserved' })
    await alpha.confirm(orderId)
    assertError(await beta.confirm(orderId, email), 404)
  })
})

describe('400', () => {
  const addresses = [
    '',
    ' ',
    'x',
    '@example.com',
    'a@',
    'a@b c.example',
    'a@@b.example',
    'a b@c.example',
    'Me <a@b.example>',
  ]
  addresses.push(
    'a@b.example,c@d.example',
    'a@b.example\r\nBcc: c@d.example',
    ' a@b.example',
    'a@b.example ',
    'a@-b.example',
  )
  addresses.push('a..b@c.example', '.a@b.example', 'ї@приклад.укр', 'a@b..example', `${'x'.repeat(65)}@b.example`)
  addresses.push(
    `a@${'x'.repeat(63)}.${'y'.repeat(63)}.${'z'.repeat(63)}.${'w'.repeat(63)}`,
    `${'x'.repeat(250)}@b.example`,
  )

  test('an address of the wrong form, in both modes, also for a confirmed order; it changes nothing', async () => {
    for (const bank of [alpha, beta]) {
      const { orderId } = await reserved(bank)
      for (const address of addresses)
        assertError(await bank.confirm(orderId, address), 400, /^customerEmail must be an e-mail address[^\n]*$/)
      assertOrder(await bank.read(orderId), { status: 'reserved' })
    }
    const { orderId } = await reserved()
    await alpha.confirm(orderId)
    assertError(await alpha.confirm(orderId, 'x'), 400)
  })

  test('the error says that an international domain is written in ASCII, and so written it is accepted', async () => {
    const { orderId } = await reserved()
    const wanted =
      'customerEmail must be an e-mail address of at most 254 ASCII characters (international domains as xn--…)'
    for (const address of ['olya@приклад.укр', `${'x'.repeat(250)}@b.example`])
      assertError(await alpha.confirm(orderId, address), 400, [wanted])
    assert.equal((await alpha.confirm(orderId, 'olya@xn--80aikifvh.xn--j1amh')).status, 200)
  })

  test('qr_email mode without customerEmail: first confirm, cancelled, expired, unknown or another bank’s order alike', async () => {
    const missing = ['customerEmail must be given']
    const { orderId } = await reserved(beta)
    assertError(await beta.confirm(orderId), 400, missing)
    assertError(await beta.call('POST', `/orders/${orderId}/confirm`, { raw: '{}' }), 400, missing)
    assertOrder(await beta.read(orderId), { status: 'reserved' })
    await beta.cancel(orderId)
    assertError(await beta.confirm(orderId), 400, missing)
    assertError(await beta.confirm(randomUUID()), 400, missing)
    assertError(await beta.confirm((await reserved()).orderId), 400, missing)
    const late = await reserved(beta)
    using _ = stopClock(platform, late.reservedUntil ?? '')
    assertError(await beta.confirm(late.orderId), 400, missing)
  })

  const bodies: [string, string, RegExp][] = [
    ['an unknown field', '{"customerEmail":"a@b.example","customerPhone":"1"}', /^customerPhone must be omitted$/],
    ['the field in another case', '{"customeremail":"a@b.example"}', /^customeremail must be omitted$/],
    [
      'the field twice',
      '{"customerEmail":"a@b.example","customerEmail":"c@d.example"}',
      /^customerEmail must be given once only$/,
    ],
    ['null', '{"customerEmail":null}', /^customerEmail must be/],
    ['a list', '{"customerEmail":["a@b.example"]}', /^customerEmail must be/],
    ['a body that is a list', '[]', /body must be an object/i],
    ['a body that is null', 'null', /body must be an object/i],
    ['a body that is false', 'false', /body must be an object/i],
    ['no JSON', 'customerEmail=a@b.example', /JSON/],
  ]
  for (const [name, raw, message] of bodies)
    test(name, async () => {
      const { orderId } = await reserved()
      assertError(await alpha.call('POST', `/orders/${orderId}/confirm`, { raw }), 400, message)
      assertOrder(await alpha.read(orderId), { status: 'reserved' })
    })

  test('no answer repeats the address', async () => {
    const { orderId } = await reserved(beta)
    for (const address of ['planted-address', 'planted-address@x..example']) {
      const answer = await beta.confirm(orderId, address)
      assertError(answer, 400)
      assert.ok(!answer.text.includes('planted'))
    }
    const answer = await beta.call('POST', `/orders/${orderId}/confirm?customerEmail=planted@example.com`)
    assertError(answer, 400)
    assert.ok(!answer.text.includes('planted'))
  })
})
