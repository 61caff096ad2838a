/** /sandbox/clock (contract/operations.md, "The clock of the sandbox"). */
import assert from 'node:assert/strict'
import { after, afterEach, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock } from '../../../src/clock.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'

const path = '/sandbox/clock'
let platform: TestPlatform
let sibling: TestPlatform
before(async () => {
  platform = await startPlatform()
  sibling = await platform.sibling()
})
after(async () => {
  await sibling.close()
  await platform.close()
})
afterEach(async () => {
  await platform.call('DELETE', path)
})

const read = async (at = platform) => (await at.call('GET', path)).body as { now: string; offsetSeconds: number }
const move = (body: unknown, at = platform): Promise<Answer> => at.call('POST', path, { body })
const hour = 3_600_000

/** Asserts that two instants are equal to within a minute. All times in this file differ by hours. */
function assertNear(actual: string | number, expectedMs: number, what = ''): void {
  const ms = typeof actual === 'string' ? Date.parse(actual) : actual
  assert.ok(Math.abs(ms - expectedMs) < 60_000, `${what} ${new Date(ms).toISOString()}`)
}

function assertReading(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(Object.keys(answer.body).sort(), ['now', 'offsetSeconds'])
  assert.equal(new Date(answer.body.now).toISOString(), answer.body.now)
  assert.equal(typeof answer.body.offsetSeconds, 'number')
}

suite('200', () => {
  test('untouched it is real time', async () => {
    const answer = await platform.call('GET', path)
    assertReading(answer)
    assert.equal(answer.body.offsetSeconds, 0)
    assertNear(answer.body.now, Date.now())
  })

  test('advance moves it by a duration, again and again', async () => {
    const first = await move({ advance: 'PT15M' })
    assertReading(first)
    assertNear(first.body.now, Date.now() + 900_000)
    const offset = first.body.offsetSeconds
    assert.equal(offset, 900)
    const second = await move({ advance: 'P1DT30S' })
    assert.equal(second.body.offsetSeconds, offset + 86_430)
    assert.equal((await move({ advance: 'PT0S' })).body.offsetSeconds, offset + 86_430)
    assert.equal((await read()).offsetSeconds, offset + 86_430)
  })

  test('now sets it to an instant, in any zone, and it runs on from there', async () => {
    const target = Date.now() + 1_000 * hour
    const answer = await move({ now: new Date(target).toISOString() })
    assertReading(answer)
    assertNear(answer.body.now, target)
    assert.ok(Date.parse(answer.body.now) >= target)
    const { now } = answer.body
    await sleep(5)
    assert.ok(Date.parse((await read()).now) > Date.parse(now), 'it runs')
    const zoned = new Date(target + 5 * hour).toISOString().replace(/Z$/, '+02:00')
    assertNear((await move({ now: zoned })).body.now, target + 3 * hour, 'an instant written in another zone')
    const day = new Date(target + 48 * hour).toISOString().slice(0, 10)
    assertNear((await move({ now: day })).body.now, Date.parse(day), 'a date alone means midnight UTC')
    assertNear((await move({ now: `${day}T01:00Z` })).body.now, Date.parse(day) + hour, 'no seconds')
  })

  test('DELETE returns it to real time', async () => {
    await move({ advance: 'P365D' })
    const answer = await platform.call('DELETE', path)
    assertReading(answer)
    assert.equal(answer.body.offsetSeconds, 0)
    assertNear(answer.body.now, Date.now())
    assert.equal((await platform.call('DELETE', path)).status, 200, 'again')
  })

  test('no token is needed', async () => {
    assert.equal((await platform.call('GET', path, { token: 'nonsense' })).status, 200)
  })

  test('many moves at once all count', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => move({ advance: 'PT1H' }, index % 2 ? platform : sibling)),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    for (const at of [platform, sibling]) assert.equal((await read(at)).offsetSeconds, 20 * 3_600)
  })

  test('every answer tells the time that its own move led to, or later', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => move({ advance: 'PT1H' })))
    const offsets = answers.map(({ body }) => body.offsetSeconds as number)
    assert.equal(Math.max(...offsets), 36_000)
    assert.ok(Math.min(...offsets) >= 3_600)
  })
})

suite('400', () => {
  async function refused(body: unknown, messages: RegExp[]): Promise<void> {
    const before = await read()
    const answer = await move(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'message', 'statusCode'])
    const told = [answer.body.message].flat() as string[]
    for (const message of messages)
      assert.ok(
        told.some(text => message.test(text)),
        told.join(' | '),
      )
    assert.equal((await read()).offsetSeconds, before.offsetSeconds, 'nothing has moved')
  }

  test('backwards, by an instant', async () => {
    await refused({ now: new Date(Date.now() - hour).toISOString() }, [/^now must be/])
    await refused({ now: '1970-01-01T00:00:00Z' }, [/^now must be/])
    await move({ advance: 'P2D' })
    await refused({ now: new Date(Date.now() + hour).toISOString() }, [/^now must be/])
  })

  test('both, neither, and what is unknown', async () => {
    await refused({ advance: 'PT1M', now: '2999-01-01T00:00:00Z' }, [/either advance or now/])
    await refused({}, [/either advance or now/])
    await refused({ advance: 'PT1M', speed: 2 }, [/^speed must be omitted/])
    await refused({ rewind: 'PT1M' }, [/^rewind must be omitted/])
    for (const body of [null, [], 'PT1M', 5]) await refused(body, [/must be/])
  })

  test('what is no duration', async () => {
    const texts = ['', 'PT', 'P', '15', '15 minutes', 'PT-15M', '-PT15M', 'pt15m', 'P1DT', 'PT15M ', 'P1.5M', 'PTXM']
    for (const advance of [...texts, 'P'.repeat(100), 15, null, true, ['PT1M'], { minutes: 15 }])
      await refused({ advance }, [/^advance must be/])
  })

  test('what is no instant', async () => {
    const texts = [
      '',
      'tomorrow',
      '2999-01-01 00:00:00Z',
      '2027-01-01T00:00:00',
      '2027-02-30T00:00:00Z',
      '2027-01-01T25:00:00Z',
    ]
    for (const now of [...texts, '+275760-09-13T00:00:00Z', 1893456000000, null, true, ['2999-01-01T00:00:00Z']])
      await refused({ now }, [/^now must be/])
  })

  test('so far ahead that what begins then would end after the year 9999', async () => {
    for (const advance of ['P7900Y', 'P10000Y', `P${'9'.repeat(60)}D`])
      await refused({ advance }, [/^advance must be such that the clock stays before the year 9900/])
    for (const advance of ['P8000Y', 'P99999999D', `PT${'9'.repeat(40)}S`])
      await refused({ advance }, [/^advance must be/])
    for (const now of ['9900-01-01T00:00:00Z', '9999-12-31T23:59:00Z'])
      await refused({ now }, [/^now must be such that the clock stays before the year 9900/])
    assert.equal((await move({ now: '9899-12-31T00:00:00Z' })).status, 200)
  })
})

suite('what the clock moves', () => {
  test('a reservation is expired after 15 minutes, in this and every other process, as soon as the answer is there', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    const token = await platform.bankToken()
    const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'clock-1' }
    const order = await platform.call('POST', '/esim/v1/orders', { token, body })
    assert.equal(order.status, 201, order.text)
    const orderPath = `/esim/v1/orders/${order.body.orderId}`
    await move({ advance: 'PT14M' })
    assert.equal((await sibling.call('GET', orderPath, { token })).body.status, 'reserved')
    await move({ advance: 'PT1M' })
    const [row] = await platform.platform.database.query<{ status: string }>(
      'select status from orders where order_id = $1',
      [order.body.orderId],
    )
    assert.equal(row?.status, 'expired', 'what falls due has been carried out before the answer')
    assert.equal((await platform.call('GET', orderPath, { token })).body.status, 'expired')
    assert.equal((await sibling.call('GET', orderPath, { token })).body.status, 'expired')
    const again = await platform.call('POST', '/esim/v1/orders', { token, body: { ...body, externalId: 'clock-2' } })
    assert.equal(again.status, 201, 'and its profile is on sale again')
  })

  test('a sibling sees a move at once', async () => {
    for (let index = 1; index <= 10; index++) {
      const [from, other] = index % 2 ? [platform, sibling] : [sibling, platform]
      await move({ advance: 'PT1H' }, from)
      assert.equal((await read(other)).offsetSeconds, index * 3_600)
    }
    await sibling.call('DELETE', path)
    assert.equal((await read()).offsetSeconds, 0)
  })

  test('not the tokens: a live one stays valid for years, and a fresh one has its 7200 seconds of real time', async () => {
    const token = await platform.bankToken()
    await move({ advance: 'P5Y' })
    assert.equal((await platform.call('GET', '/esim/v1/operators', { token })).status, 200)
    const fresh = await platform.bankToken()
    const claims = JSON.parse(Buffer.from(fresh.split('.')[1] ?? '', 'base64url').toString())
    assertNear(claims.iat * 1000, Date.now())
    assert.equal((await sibling.call('GET', '/esim/v1/operators', { token: fresh })).status, 200)
  })

  test('not the timestamps of errors, which are of real time', async () => {
    await move({ advance: 'P5Y' })
    assertNear((await platform.call('GET', '/esim/v1/nowhere')).body.timestamp, Date.now())
  })

  test('a process that starts later goes by the moved clock', async () => {
    await move({ advance: 'P3D' })
    const later = await platform.sibling()
    try {
      assert.equal((await read(later)).offsetSeconds, 3 * 86_400)
    } finally {
      await later.close()
    }
  })
})

test('live mode: these paths do not exist', async () => {
  const live = await startPlatform({ PERKLINE_MODE: 'live', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' })
  try {
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { advance: 'PT15M' }],
      ['DELETE', undefined],
      ['PUT', undefined],
    ] as const) {
      const answer = await live.call(method, path, { body })
      assert.equal(answer.status, 404, method)
      assert.deepEqual(Object.keys(answer.body).sort(), ['error', 'message', 'statusCode'])
    }
  } finally {
    await live.close()
  }
})

test('where other machines reach the platform, a token of a partner or the operator’s key is needed', async () => {
  for (const settings of [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://sandbox.example' }]) {
    const open = await platform.sibling(settings)
    try {
      const tokens = [await open.bankToken(), await open.merchantToken(), open.config.operatorKey]
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', { advance: 'PT1M' }],
        ['DELETE', undefined],
      ] as const) {
        for (const token of [null, 'nonsense', `${open.config.operatorKey}x`]) {
          const answer = await open.call(method, path, { token, body })
          assert.equal(answer.status, 401, `${method} ${token}`)
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
        }
        for (const token of tokens) assert.equal((await open.call(method, path, { token, body })).status, 200, method)
      }
    } finally {
      await open.close()
    }
  }
  const local = await platform.sibling({ HOST: 'localhost', PUBLIC_URL: 'http://[::1]:8080' })
  assert.equal((await local.call('GET', path)).status, 200)
  await local.close()
})

test('a read of the shared clock that began before the present offset was set is ignored', () => {
  const clock = createClock()
  clock.setOffsetMs(900_000, 20)
  clock.setOffsetMs(0, 10)
  assert.equal(clock.offsetMs(), 900_000)
  clock.setOffsetMs(0, 30)
  assert.equal(clock.offsetMs(), 0)
})
