/** The choices in the portal's forms. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { assertRefused, campaignDirectory, ids } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { openBrowser } from '../../support/portal.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
})
after(() => platform.close())

suite('GET /portal/directory', () => {
  const path = '/portal/directory'

  test('countries and payment systems by name, as campaigns name them', async () => {
    const { call } = await openBrowser(platform, { merchant: 'grocer' }, 'viewer')
    const answer = await call('GET', path)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, {
      countries: [
        {
          code: 'PL',
          name: 'Poland',
          currency: { code: 'PLN', name: 'Zloty', symbol: 'zł', icon: 'https://pl.example/zl.svg' },
        },
        { code: 'UA', name: 'Ukraine', currency: { code: 'UAH', name: 'Hryvnia', symbol: '₴', icon: '' } },
      ],
      paymentSystems: [
        { id: ids.mastercard, code: 'mastercard', name: 'Mastercard' },
        { id: ids.visa, code: 'visa', name: 'Visa' },
      ],
    })
  })

  test('for banks and the platform’s people too', async () => {
    for (const owner of [{ bank: 'alpha' }, 'platform'] as const) {
      const { call } = await openBrowser(platform, owner, owner === 'platform' ? 'viewer' : 'VIEWER')
      assert.equal((await call('GET', path)).status, 200)
    }
  })

  test('refused without a session, and with a query', async () => {
    assertRefused(await platform.call('GET', path), 401)
    const { call } = await openBrowser(platform, { bank: 'beta' }, 'ADMIN')
    assertRefused(await call('GET', `${path}?country=UA`), 400, ['country must be omitted'])
  })
})
