/** GET /operators. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { assertError, type Bank, changed, openBank } from '../../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../../support/platform.ts'

let platform: TestPlatform
let alpha: Bank
before(async () => {
  platform = await startPlatform()
  alpha = await openBank(platform)
})
after(() => platform.close())

const kyivstar = {
  code: 'kyivstar',
  nameUk: 'Київстар',
  nameEn: 'Kyivstar',
  logoUrl: 'https://kyivstar.example/logo.svg',
  country: 'UA',
}
const roamwide = { code: 'roamwide', nameUk: 'Роамвайд', nameEn: 'Роамвайд', logoUrl: null, country: 'global' }

describe('200', () => {
  afterEach(() => platform.applyDirectory(testDirectory))

  test('exactly the documented fields, the English name falling back to the Ukrainian one, no logo as null', async () => {
    const answer = await alpha.operators()
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(answer.body, [kyivstar, roamwide])
  })

  test('a bank sees the operators of its list alone', async () => {
    const gamma = await openBank(platform, await platform.bankToken('gamma'))
    assert.deepEqual((await gamma.operators()).body, [kyivstar])
  })

  test('a bank without an operator gets an empty list', async () => {
    await platform.applyDirectory(changed(testDirectory, ['operators: [kyivstar]', 'operators: []']))
    const gamma = await openBank(platform, await platform.bankToken('gamma'))
    const answer = await gamma.operators()
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, [])
  })

  for (const status of ['suspended', 'withdrawn']) {
    test(`a ${status} operator is left out, and is back once active`, async () => {
      await platform.applyDirectory(
        changed(testDirectory, ['country: global', `country: global\n      status: ${status}`]),
      )
      assert.deepEqual((await alpha.operators()).body, [kyivstar])
      await platform.applyDirectory(
        changed(testDirectory, ['country: global', 'country: global\n      status: active']),
      )
      assert.deepEqual((await alpha.operators()).body, [kyivstar, roamwide])
    })
  }

  test('another process sees a change of the directory without being asked to look', async () => {
    const sibling = await platform.sibling()
    try {
      await platform.applyDirectory(changed(testDirectory, ['nameEn: Kyivstar', 'nameEn: Kyiv Star']))
      const deadline = performance.now() + 10_000
      for (;;) {
        const answer = await sibling.call('GET', '/esim/v1/operators', { token: alpha.token })
        if (answer.body[0].nameEn === 'Kyiv Star') break
        assert.ok(performance.now() < deadline, 'still the old name')
      }
    } finally {
      await sibling.close()
    }
  })
})

test('503 for a bank that this process has not heard of yet, never a wrong answer', async () => {
  const sibling = await platform.sibling()
  try {
    sibling.platform.deps.esim.catalogue.refresh = async () => {}
    const newBank = '  - { code: delta, name: Delta, esim: { deliveryMode: local, operators: all } }\nmerchants:'
    await platform.applyDirectory(changed(testDirectory, ['merchants:', newBank]))
    const token = await platform.bankToken('delta')
    const [here, elsewhere] = [await openBank(platform, token), await openBank(sibling, token)]
    assert.deepEqual((await here.operators()).body, [kyivstar, roamwide])
    const orderId = '00000000-0000-4000-8000-000000000000'
    const answers = [await elsewhere.operators(), await elsewhere.tariffs(), await elsewhere.reserve('x')]
    answers.push(await elsewhere.confirm(orderId))
    for (const answer of answers) assertError(answer, 503)
  } finally {
    await sibling.close()
  }
})

test('400 for a query parameter, naming it', async () => {
  assertError(await alpha.call('GET', '/operators?country=UA'), 400, ['country must be omitted'])
})

test('404 below and beside the path, 405 with Allow for another method', async () => {
  assertError(await alpha.call('GET', '/operators/'), 404)
  assertError(await alpha.call('GET', '/operators/kyivstar'), 404)
  assertError(await alpha.call('GET', '/Operators'), 404)
  const answer = await alpha.call('POST', '/operators', { body: {} })
  assertError(answer, 405)
  assert.match(answer.headers.get('allow') ?? '', /\bGET\b/)
})
