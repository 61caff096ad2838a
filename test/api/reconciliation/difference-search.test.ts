/** GET /portal/cashbacks/:id/banks/:bankId/differences: all differences found page by page (contract/reconciliation.md, "Differences"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { assertRefused, campaignDirectory, ids, openMerchant, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  header,
  line,
  merchantHeader,
  openSides,
  reconciliationOf,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let campaign: Ended
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  campaign = await endedCampaign(sides, [sides.alpha])
  const lines = Array.from({ length: 3_000 }, (_, index) =>
    line(campaign, `Чек-${index}`, { terminalId: 'nowhere', ...(index % 1000 === 999 && { cashback: '9.99' }) }),
  )
  assert.equal((await uploadBank(sides.alpha, campaign.id, [header, ...lines].join('\n'))).status, 201)
  const own = Array.from({ length: 1_500 }, (_, index) => `Own-${index},T-0001,${campaign.at},200`)
  assert.equal((await uploadMerchant(sides.grocer, campaign.id, [merchantHeader, ...own].join('\n'))).status, 201)
})
after(() => platform.close())

const find = (query: string, partner: Partner = sides.grocer, id = campaign.id, bankId: string = ids.alpha) =>
  partner.call('GET', `/portal/cashbacks/${id}/banks/${bankId}/differences${query}`)

async function found(query: string) {
  const { status, body, text } = await find(query)
  assert.equal(status, 200, text)
  return {
    ids: body.data.map(({ transactionId }: { transactionId: string }) => transactionId),
    items: body.data,
    total: body.pagination.totalItems,
    pagination: body.pagination,
  }
}

suite('what is found', () => {
  test('every kind has as many as the summary says, and the pages are those of the whole list', async () => {
    const { differences } = await reconciliationOf(sides.grocer, campaign.id)
    assert.equal((await found('')).total, differences.total)
    for (const [kind, count] of Object.entries(differences.byKind))
      assert.equal((await found(`?kind=${kind}`)).total, count, kind)
    const pages = await Promise.all(Array.from({ length: 10 }, (_, index) => found(`?page=${index + 1}&pageSize=100`)))
    assert.deepEqual(
      pages.flatMap(({ items }) => items),
      differences.items,
    )
  })

  test('beyond the first thousand: by kind, and by a part of the id in any case and alphabet', async () => {
    const wrong = await found('?kind=wrong-cashback')
    assert.deepEqual([wrong.ids, wrong.total], [['Чек-999', 'Чек-1999', 'Чек-2999'], 3])
    assert.deepEqual((await found(`?search=${encodeURIComponent('чЕК-299')}&kind=unknown-terminal`)).ids, [
      'Чек-299',
      ...Array.from({ length: 10 }, (_, index) => `Чек-${2990 + index}`),
    ])
    assert.deepEqual((await found('?search=own-1499')).ids, ['Own-1499'])
    const last = await found('?kind=only-in-merchant-report&pageSize=100&page=15')
    assert.deepEqual([last.ids.at(-1), last.pagination.hasNextPage], ['Own-1499', false])
  })

  test('nothing: a text that none has, a page past the end, signs of patterns', async () => {
    for (const query of ['?search=absent', '?search=.*', '?search=%5Cd', '?search=%25', '?kind=budget-exceeded'])
      assert.deepEqual([(await found(query)).ids, (await found(query)).total], [[], 0], query)
    const past = await found('?page=1000000')
    assert.deepEqual([past.ids, past.pagination.hasPrevPage], [[], true])
  })

  test('before a report there is none', async () => {
    const other = await endedCampaign(sides, [sides.alpha])
    const { status, body } = await find('', sides.alpha, other.id)
    assert.deepEqual([status, body.data, body.pagination.totalItems], [200, [], 0])
  })
})

suite('who asks, and how', () => {
  test('the merchant and that bank alone', async () => {
    assert.equal((await find('', sides.alpha)).status, 200)
    assertRefused(await find('', sides.beta), 404)
    assertRefused(await find('', sides.alpha, campaign.id, ids.beta), 404)
    assertRefused(await find('', await openMerchant(platform, 'voltshop')), 403)
    assertRefused(await find('', sides.grocer, ids.alpha), 404)
  })

  for (const query of ['?kind=odd', '?page=0', '?pageSize=101', '?sort=kind', `?search=${'x'.repeat(129)}`])
    test(`400: ${query.slice(0, 20)}`, async () => assertRefused(await find(query), 400))
})
