/** GET /operators/{operatorCode}/tariffs. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { assertError, assertOrder, type Bank, changed, openBank, range, stopClock } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
before(async () => {
  // No worker runs, so no job marks expired reservations. Availability must still be correct.
  platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  alpha = await openBank(platform)
})
after(() => platform.close())

const unlimited = { dataUnlimited: false, voiceMinutes: 0, voiceUnlimited: false, smsCount: 0, smsUnlimited: false }
const available = async (tariffCode: string, bank = alpha, operatorCode = 'kyivstar'): Promise<boolean> => {
  const answer = await bank.tariffs(operatorCode)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.find(({ code }: { code: string }) => code === tariffCode).available
}

describe('200', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('exactly the documented fields in their types, in the order of the directory', async () => {
    const answer = await alpha.tariffs()
    assert.equal(answer.status, 200)
    const priced = { price: 1, currency: 'UAH', ...unlimited, dataVolumeMb: 0, validityDays: 1, available: false }
    assert.deepEqual(answer.body, [
      {
        ...{ code: 'eu-10gb', name: 'Europe 10 GB', description: 'Ten', price: 399, currency: 'UAH' },
        ...{ ...unlimited, dataVolumeMb: 10240, validityDays: 30, available: false },
      },
      {
        ...{ code: 'ua-5gb', name: 'Ukraine 5 GB', description: 'Five', price: 199.9, currency: 'UAH' },
        ...{ ...unlimited, dataVolumeMb: 5120, validityDays: 14, available: false },
      },
      { code: 'off', name: 'Switched off', description: '', ...priced },
      { code: 'empty', name: 'Without stock', description: '', ...priced },
    ])
    const [world] = (await alpha.tariffs('roamwide')).body
    assert.equal(world.price, 25.5)
    assert.equal(world.dataUnlimited, true)
  })

  test('`available` follows the last profile: reserved, cancelled, reserved, lapsed without a sweep, confirmed', async () => {
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    assert.equal(await available('eu-10gb'), true)
    const first = assertOrder(await alpha.reserve('a1'), { status: 'reserved' }, 201)
    assert.equal(await available('eu-10gb'), false)
    await alpha.cancel(first.orderId)
    assert.equal(await available('eu-10gb'), true)
    const second = assertOrder(await alpha.reserve('a2'), { status: 'reserved' }, 201)
    const end = Date.parse(second.reservedUntil ?? '')
    {
      using _ = stopClock(platform, new Date(end - 1))
      assert.equal(await available('eu-10gb'), false)
    }
    using _ = stopClock(platform, new Date(end))
    assert.equal(await available('eu-10gb'), true)
    const third = assertOrder(await alpha.reserve('a3'), { status: 'reserved' }, 201)
    assert.equal(await available('eu-10gb'), false)
    assert.equal((await alpha.confirm(third.orderId)).status, 200)
    assert.equal(await available('eu-10gb'), false)
    await platform.addStock('kyivstar', 'eu-10gb', 1)
    assert.equal(await available('eu-10gb'), true)
  })

  test('a tariff that is switched off is shown, unavailable whatever its stock, and available once on sale again', async () => {
    await platform.addStock('kyivstar', 'off', 2)
    assert.equal(await available('off'), false)
    await platform.applyDirectory(changed(testDirectory, ['onSale: false', 'onSale: true']))
    assert.equal(await available('off'), true)
  })

  test('stock of one tariff makes no other available', async () => {
    await platform.addStock('roamwide', 'world', 1)
    assert.equal(await available('world', alpha, 'roamwide'), true)
    assert.equal(await available('empty'), false)
  })

  test('every process says the same, also of stock that was sold through another one', async () => {
    const sibling = await platform.sibling()
    try {
      await platform.addStock('kyivstar', 'ua-5gb', 30)
      const elsewhere = await openBank(sibling, alpha.token)
      assert.equal(await available('ua-5gb', elsewhere), true)
      for (const index of range(30)) {
        const answer = await alpha.reserve({ tariffCode: 'ua-5gb', externalId: `s${index}` })
        assertOrder(answer, { status: 'reserved', tariffCode: 'ua-5gb' }, 201)
      }
      assert.equal(await available('ua-5gb', elsewhere), false)
      assert.equal(await available('ua-5gb'), false)
    } finally {
      await sibling.close()
    }
  })

  test('when the free profile that was found is sold, the next one is found', async () => {
    await platform.addStock('roamwide', 'world', 3)
    const sold: boolean[] = []
    for (const _ of range(10)) {
      sold.push(await available('world', alpha, 'roamwide'))
      await alpha.reserve({ operatorCode: 'roamwide', tariffCode: 'world', externalId: `w${sold.length}` })
    }
    assert.equal(
      sold.lastIndexOf(true) + 1,
      sold.indexOf(false),
      'available until the last one is sold, and never again',
    )
    assert.ok(sold.indexOf(false) >= 3)
  })

  test('a price shown is a plain number, as it was set', async () => {
    await platform.applyDirectory(changed(testDirectory, ['price: 199.90', 'price: 1234567890.07']))
    assert.match((await alpha.tariffs()).text, /"price":1234567890\.07[,}]/)
  })
})

describe('404', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('an operator that does not exist, in whatever spelling', async () => {
    const spellings = [
      'nobody',
      'Kyivstar',
      'kyivstar%20',
      '%D0%9A',
      '%00',
      'kyivstar%2F',
      '__proto__',
      'constructor',
      'k'.repeat(300),
    ]
    for (const code of spellings) assertError(await alpha.tariffs(code), 404)
  })

  test('an operator that is not in the list of the bank', async () => {
    const gamma = await openBank(platform, await platform.bankToken('gamma'))
    assertError(await gamma.tariffs('roamwide'), 404)
    assert.equal((await gamma.tariffs('kyivstar')).status, 200)
  })

  for (const status of ['suspended', 'withdrawn'])
    test(`a ${status} operator`, async () => {
      await platform.applyDirectory(
        changed(testDirectory, ['country: global', `country: global\n      status: ${status}`]),
      )
      assertError(await alpha.tariffs('roamwide'), 404)
    })
})

test('400 for a query parameter, naming it', async () => {
  assertError(await alpha.call('GET', '/operators/kyivstar/tariffs?page=1'), 400, ['page must be omitted'])
})
