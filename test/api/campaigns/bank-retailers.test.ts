/** GET /retailers and GET /retailers/:id. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  assertRefused,
  campaignDirectory,
  ids,
  openCampaignBank,
  openMerchant,
  type Partner,
} from '../../support/campaigns.ts'
import { changed } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const cardPresentationId = '99999999-9999-4999-8999-999999999999'
const directory = changed(campaignDirectory, [
  'nameEn: Grocer',
  `nameEn: Grocer
    description: "Їжа щодня, \\"свіжа\\""
    logoUrl: https://grocer.example/logo.svg
    urlIdent: grocer
    domain: [grocer.example, grocer.ua]
    merchantCategoryCode: ["5411", "5499"]
    cardPresentationId: ${cardPresentationId}
    isReview: true
    isMask: false
    iosAppUrl: https://apps.example/ios
    excludedBanks: [gamma]`,
])
const suspended = changed(directory, ['code: voltshop', 'code: voltshop\n    status: suspended'])

let platform: TestPlatform
let alpha: Partner
before(async () => {
  platform = await startPlatform({}, { directory })
  alpha = await openCampaignBank(platform)
})
after(() => platform.close())
afterEach(() => platform.applyDirectory(directory))

const ownAffairs = {
  webhookUrl: null,
  apiUrl: null,
  login: null,
  rro: null,
  cardIssuing: null,
  dataSaleToWebhook: null,
  excludedBank: null,
}
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('200', () => {
  test('the whole record, every field of the document and no other', async () => {
    const { status, body } = await alpha.call('GET', `/retailers/${ids.grocer}`)
    assert.equal(status, 200)
    const { createdAt, updateAt, ...record } = body
    for (const at of [createdAt, updateAt]) assert.match(at, instant)
    assert.deepEqual(record, {
      retailerId: ids.grocer,
      name: 'Гросер',
      description: 'Їжа щодня, "свіжа"',
      logoUrl: 'https://grocer.example/logo.svg',
      urlIdent: 'grocer',
      nameEn: 'Grocer',
      cardPresentationId,
      isReview: true,
      isMask: false,
      domain: ['grocer.example', 'grocer.ua'],
      merchantCategoryCode: ['5411', '5499'],
      iosAppUrl: 'https://apps.example/ios',
      androidAppUrl: null,
      ...ownAffairs,
    })
  })

  test('a merchant that says little about itself', async () => {
    const { body } = await alpha.call('GET', `/retailers/${ids.voltshop.toUpperCase()}`)
    const { createdAt: _, updateAt: __, ...record } = body
    assert.deepEqual(record, {
      retailerId: ids.voltshop,
      name: 'Вольт',
      description: '',
      logoUrl: '',
      urlIdent: 'voltshop',
      nameEn: 'Вольт',
      cardPresentationId: null,
      isReview: false,
      isMask: false,
      domain: [],
      merchantCategoryCode: [],
      iosAppUrl: null,
      androidAppUrl: null,
      ...ownAffairs,
    })
  })

  test('the list has all of them, as each is read alone', async () => {
    const { status, body } = await alpha.call('GET', '/retailers')
    assert.equal(status, 200)
    const alone = await Promise.all(
      [ids.voltshop, ids.grocer].map(async id => (await alpha.call('GET', `/retailers/${id}`)).body),
    )
    assert.deepEqual(body, alone)
  })

  test('a change of the directory shows in updateAt', async () => {
    const before = (await alpha.call('GET', `/retailers/${ids.grocer}`)).body
    await platform.applyDirectory(changed(directory, ['isReview: true', 'isReview: false']))
    const after = (await alpha.call('GET', `/retailers/${ids.grocer}`)).body
    assert.deepEqual(after, { ...before, isReview: false, updateAt: after.updateAt })
    assert.ok(after.updateAt > before.updateAt)
  })

  test('a suspended merchant is not in the list', async () => {
    await platform.applyDirectory(suspended)
    const { body } = await alpha.call('GET', '/retailers')
    assert.deepEqual(
      body.map(({ retailerId }: { retailerId: string }) => retailerId),
      [ids.grocer],
    )
  })

  test('HEAD', async () => {
    const answer = await alpha.call('HEAD', '/retailers')
    assert.deepEqual([answer.status, answer.text], [200, ''])
  })
})

describe('404', () => {
  test('unknown, or suspended', async () => {
    assertRefused(await alpha.call('GET', `/retailers/${randomUUID()}`), 404, 'The merchant was not found')
    await platform.applyDirectory(suspended)
    assertRefused(await alpha.call('GET', `/retailers/${ids.voltshop}`), 404, 'The merchant was not found')
  })
})

describe('400', () => {
  test('an id that is no UUID', async () => {
    for (const id of ['x', ids.grocer.slice(1), `urn:uuid:${ids.grocer}`, '%7B%7D', 'a'.repeat(3_000)])
      assertRefused(await alpha.call('GET', `/retailers/${id}`), 400, ['id must be a UUID'])
  })

  test('a query', async () => {
    for (const path of ['/retailers?page=1', `/retailers/${ids.grocer}?page=1`])
      assertRefused(await alpha.call('GET', path), 400, ['page must be omitted'])
  })
})

test('401 without a token, 403 for a VIEWER and for a merchant, before anything else', async () => {
  const viewer = await openCampaignBank(platform, 'alpha', 'VIEWER')
  const merchant = await openMerchant(platform)
  for (const path of ['/retailers', `/retailers/${ids.grocer}`, '/retailers/x', '/retailers?page=1']) {
    assertRefused(await platform.call('GET', path), 401)
    for (const caller of [viewer, merchant]) assertRefused(await caller.call('GET', path), 403)
  }
})
