/** How much of a tariff's unsold stock one bank may hold reserved (contract/limits.md, "Campaigns and stock"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { bankAt, openBank, range } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

suite('a share of 20 per cent', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await startPlatform({ RESERVATION_SHARE: '20' })
    await platform.addStock('kyivstar', 'eu-10gb', 80)
    await platform.addStock('kyivstar', 'ua-5gb', 3)
  })
  after(() => platform.close())

  test('of 80 unsold profiles a bank holds 16, whatever comes at once; sold ones do not count, repeats are answered', async () => {
    const [alpha, beta] = [await openBank(platform), await openBank(platform, await platform.bankToken('beta'))]
    const answers = await Promise.all(range(60).map(index => alpha.reserve(`a-${index}`)))
    const held = answers.filter(({ status }) => status === 201)
    assert.equal(held.length, 16)
    const refused = answers.filter(({ status }) => status === 429)
    assert.equal(refused.length, 44)
    for (const answer of refused) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    const first = held[0] ?? assert.fail()
    assert.equal((await alpha.reserve(first.body.externalId)).status, 200)
    assert.equal((await beta.reserve('b-1')).status, 201, 'each bank by itself')
    const small = await Promise.all(
      range(2).map(index => alpha.reserve({ externalId: `s-${index}`, tariffCode: 'ua-5gb' })),
    )
    assert.deepEqual(small.map(({ status }) => status).sort(), [201, 429], 'at least one of each tariff')
    assert.equal((await alpha.confirm(first.body.orderId)).status, 200)
    assert.equal((await alpha.cancel(held[1]?.body.orderId)).status, 200)
    // The share of the remaining 79 profiles is 15, which the bank reaches with the next reservation. We ask another
    // process, because it has not counted the bank's reservations yet.
    const other = await platform.sibling()
    try {
      const there = bankAt(other, alpha.token)
      assert.deepEqual([(await there.reserve('next')).status, (await there.reserve('one more')).status], [201, 429])
    } finally {
      await other.close()
    }
    const token = platform.config.operatorKey
    const desk = await platform.call('GET', '/admin/stock-desk', { token })
    const { holders } = desk.body.find(({ tariffCode }: { tariffCode: string }) => tariffCode === 'eu-10gb')
    assert.deepEqual(holders, [
      { bank: 'alpha', reserved: 15 },
      { bank: 'beta', reserved: 1 },
    ])
    const metrics = await platform.platform.metrics.registry.metrics()
    assert.match(metrics, /^perkline_open_reservations\{bank="alpha"\} 16$/m)
    assert.match(metrics, /^perkline_open_reservations\{bank="beta"\} 1$/m)
  })

  test('two requests of one order at once are one order, also for the last place of the share', async () => {
    // ua-5gb has 3 profiles, so a bank may hold one.
    const bank = await openBank(platform, await platform.bankToken('gamma'))
    for (let round = 0; round < 10; round++) {
      const order = { externalId: `twin-${round}`, tariffCode: 'ua-5gb' }
      const answers = await Promise.all(range(3).map(() => bank.reserve(order)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201], answers.map(one => one.text).join())
      assert.equal((await bank.cancel(answers[0]?.body.orderId)).status, 200)
    }
  })

  test('a tariff without stock is sold out, not at its limit, also when several ask at once', async () => {
    const bank = await openBank(platform)
    const answers = await Promise.all(
      range(12).map(index =>
        bank.reserve({ externalId: `none-${index}`, operatorCode: 'roamwide', tariffCode: 'world' }),
      ),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [503])
  })

  test('the directory says otherwise for one bank', async () => {
    await platform.applyDirectory(
      testDirectory
        .replace('code: gamma', 'code: gamma')
        .replace('operators: [kyivstar] }', 'operators: [kyivstar], reservationShare: 50 }'),
    )
    const gamma = await openBank(platform, await platform.bankToken('gamma'))
    const answers = await Promise.all(range(60).map(index => gamma.reserve(`g-${index}`)))
    // Half of the 79 unsold profiles is 39. If the process still uses its count from before the sale, half of 80 is 40.
    const held = answers.filter(({ status }) => status === 201).length
    assert.ok(held === 39 || held === 40, `${held}`)
  })
})

test('by default a bank may hold all of it', async t => {
  const platform = await startPlatform()
  t.after(() => platform.close())
  await platform.addStock('kyivstar', 'eu-10gb', 30)
  const bank = await openBank(platform)
  const answers = await Promise.all(range(30).map(index => bank.reserve(`a-${index}`)))
  assert.ok(answers.every(({ status }) => status === 201))
})
