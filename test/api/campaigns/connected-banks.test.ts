/** GET /cashbacks/for-merchant/banks. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertMerchantsOnly, assertRefused, campaignDirectory, ids, openMerchant } from '../../support/campaigns.ts'
import { changed } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
})
after(() => platform.close())

const path = '/cashbacks/for-merchant/banks'

test('200: the connected banks by name, with exactly the documented fields', async () => {
  const answer = await (await openMerchant(platform)).call('GET', path)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body, [
    { id: ids.alpha, name: 'Alpha Bank', logoUrl: 'https://alpha.example/logo.svg', apiVersion: '1.0' },
    { id: ids.gamma, name: 'Gamma Bank', logoUrl: 'https://gamma.example/logo.svg', apiVersion: '1.0' },
    { id: ids.beta, name: 'Бета Банк', logoUrl: 'data:image/png;base64,aGk=', apiVersion: '1.1' },
  ])
})

test('banks that the merchant excludes and suspended ones are left out, from the moment the directory says so', async () => {
  const voltshop = await openMerchant(platform, 'voltshop')
  const names = async () => (await voltshop.call('GET', path)).body.map((bank: any) => bank.name)
  assert.deepEqual(await names(), ['Alpha Bank', 'Gamma Bank'])
  await platform.applyDirectory(changed(campaignDirectory, ['excludedBanks: [beta]', 'excludedBanks: [alpha, beta]']))
  assert.deepEqual(await names(), ['Gamma Bank'])
  await platform.applyDirectory(changed(campaignDirectory, ['status: suspended', 'status: active']))
  assert.deepEqual(await names(), ['Alpha Bank', 'Closed Bank', 'Gamma Bank'])
  await platform.applyDirectory(campaignDirectory)
})

test('400: a query', async () => {
  assertRefused(await (await openMerchant(platform)).call('GET', `${path}?name=x`), 400, ['name must be omitted'])
})

test('401 and 403: merchants of every role', async () => {
  await assertMerchantsOnly(platform, {
    isChange: false,
    statusFor: 200,
    call: partner => platform.call('GET', path, { token: partner?.token ?? null }),
  })
})
