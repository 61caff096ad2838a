/**
 * In a real browser: nobody agrees to terms that they have not seen, and edits and segments are shown with old and new
 * values.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertCount, closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createBankCampaign, createCampaign, ids, inDays } from '../support/campaigns.ts'
import { button, sees } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { endedCampaign, line, openSides, reportOf, type Sides, uploadBank } from '../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment } from '../support/segments.ts'

let platform: TestPlatform
let sides: Sides
let bank: Account
let merchant: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  bank = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const detailsOf = async (id: string) => (await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body
async function edit(id: string, body: object): Promise<void> {
  const answer = await sides.grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body })
  assert.equal(answer.status, 200, answer.text)
}

test('a bank does not agree to terms that it has not seen: it is told what changed, and decides again', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const id = await createCampaign(platform, {}, sides.grocer)
  await visitor.logIn(bank, `/bank/campaigns/${id}`)
  for (const [decision, sent] of [
    ['Take part', 'Take part'],
    ['Decline', 'Decline'],
  ] as const) {
    await button(page, decision).waitFor()
    await edit(id, { percentage: decision === 'Take part' ? 20 : 30, merchantCompensationPercentage: 10 })
    await button(page, decision).click()
    await inDialog(page, sent).click()
    await sees(page, 'The campaign has changed')
    await sees(page, decision === 'Take part' ? 'Cashback: 5% → 20%' : 'Cashback: 20% → 30%')
    if (decision === 'Take part') await sees(page, 'Share the merchant pays: 60% → 10%')
    await assertAccessible(visitor)
    assert.match(errors.splice(0).join(), /412/)
    assert.equal((await detailsOf(id)).banks[0].status, 'pending')
    await inDialog(page, 'Review the campaign').click()
  }
  await button(page, 'Take part').click()
  await sees(page, /90%/)
  await inDialog(page, 'Take part').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await button(page, 'Take part').waitFor({ state: 'detached' })
  assert.equal((await detailsOf(id)).banks[0].status, 'approved')
})

test('a long history is shown from the newest step on, and to its beginning on demand', async t => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, sides.grocer)
  const rejected = await sides.beta.call('POST', `/cashbacks/${id}/reject`, { body: { comment: 'Not this season' } })
  assert.equal(rejected.status, 201, rejected.text)
  await platform.platform.database.execute(
    `insert into campaign_history (cashback_id, at, actor_type, actor_id, subject, trigger, from_state, to_state, changes)
     select cashback_id, at + interval '1 hour', actor_type, actor_id, subject, 'edit', to_state, to_state,
       jsonb_build_object('minAmount', jsonb_build_array(n - 1, n))
     from campaign_history, generate_series(1, 210) as n where cashback_id = $1 and trigger = 'create' order by n`,
    [id],
  )
  const staff = await addAccount(platform, 'platform', 'viewer')
  for (const [account, path] of [
    [bank, `/bank/campaigns/${id}?tab=history`],
    [staff, `/operator/campaigns/${id}`],
    [merchant, `/merchant/campaigns/${id}?tab=history`],
  ] as const) {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(account, path)
    const edits = page.getByText('The terms were changed')
    await assertCount(edits, 100)
    await assertAccessible(visitor)
    for (const shown of [200, 210]) {
      await button(page, 'Show earlier steps').click()
      await assertCount(edits, shown)
    }
    await sees(page, 'The campaign was created')
    assert.equal(await button(page, 'Show earlier steps').count(), 0)
    if (account !== merchant) continue
    await page.getByRole('tab', { name: 'Banks' }).click()
    await sees(page, /Not this season/)
  }
})

test('a stale tab does not delete a launched campaign', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const id = await createCampaign(platform, {}, sides.grocer)
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  await button(page, 'Delete').click()
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  assert.equal((await sides.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)).status, 201)
  await inDialog(page, 'Delete').click()
  await sees(page, 'The campaign has changed')
  await sees(page, 'The merchant launched the campaign')
  assert.match(errors.splice(0).join(), /412/)
  assert.equal((await detailsOf(id)).status, 'approved')
})

test('an action on a campaign that was deleted meanwhile shows that it was deleted', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const acts = [
    [merchant, 'Launch', 'Launch'],
    [bank, 'Take part', 'Take part'],
    [bank, 'Decline', 'Decline'],
  ] as const
  for (const [who, offered, sent] of acts) {
    const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, sides.grocer)
    if (offered === 'Launch') assert.equal((await sides.beta.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    await visitor.logIn(who, `/${who === bank ? 'bank' : 'merchant'}/campaigns/${id}`)
    await button(page, offered).click()
    assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    await inDialog(page, sent).click()
    const told = page.getByRole('dialog', { name: 'The campaign was deleted' })
    await told.getByText('Nothing was done, because the campaign was deleted in the meantime.').waitFor()
    // Both the title and the entry of the history contain the sentence.
    await assertCount(told.getByText('The campaign was deleted', { exact: true }), 2)
    assert.equal(await told.getByText('decide again').count(), 0)
    await assertAccessible(visitor)
    assert.match(errors.splice(0).join(), who === merchant ? /412/ : /400/)
    await inDialog(page, 'Review the campaign').click()
    await visitor.empty()
  }
})

test('accepting a report with outdated figures shows what has changed', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const campaign = await endedCampaign(sides, [sides.alpha, sides.beta])
  const { id } = campaign
  assert.equal((await uploadBank(sides.alpha, id, reportOf(line(campaign, 'V-1')))).status, 201)
  await visitor.logIn(merchant, `/merchant/campaigns/${id}/banks/${ids.alpha}`)
  await button(page, 'Accept the report').click()
  assert.equal((await uploadBank(sides.beta, id, reportOf(line(campaign, 'V-2')))).status, 201)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Accept/ })
    .click()
  await sees(page, 'Бета Банк uploaded its report')
  assert.match(errors.splice(0).join(), /412/)
  await inDialog(page, 'Review the campaign').click()
  await button(page, 'Accept the report').click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Accept/ })
    .click()
  await button(page, 'Accept the report').waitFor({ state: 'detached' })
  await platform.call('DELETE', '/sandbox/clock')
})

for (const [language, texts] of [
  [
    'en-GB',
    [
      'The terms were changed',
      'Cashback: 5% → 7.5%',
      'Text for customers: changed',
      'Customers in the segment: none → 20',
    ],
  ],
  ['uk-UA', ['Умови змінено', 'Кешбек: 5', 'Текст для клієнтів: змінено', 'Клієнти в сегменті: немає → 20']],
] as const)
  test(`the history tells edits and segments in people’s words: ${language}`, async t => {
    const visitor = await visit(t, platform, { language })
    if (!visitor) return
    const { page } = visitor
    const id = await createCampaign(platform, {}, sides.grocer)
    await edit(id, {
      percentage: 7.5,
      description: 'New',
      participantsIds: [ids.alpha, ids.beta],
      paymentSystemsId: [ids.visa, ids.mastercard],
    })
    await addCustomers(platform, 'alpha', customers('V', 25))
    assert.equal((await putSegment(sides.grocer, id, fileOf(customers('V', 25)))).status, 200)
    await visitor.logIn(merchant, `/merchant/campaigns/${id}?tab=history`)
    for (const text of texts) await sees(page, text)
    await sees(page, /Alpha Bank.*→.*Бета Банк/)
    await sees(page, /Visa → Visa .* Mastercard/)
    await assertAccessible(visitor)
    await visitor.empty()
    await visitor.logIn(bank, `/bank/campaigns/${id}?tab=history`)
    await sees(page, texts[1])
    await sees(page, /→ 25|25/)
    assert.equal(await page.getByText('Бета Банк').count(), 0, 'which other banks are invited is not told')
  })

test('a launch whose answer is lost is done once, and pressing again says so', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const id = await createCampaign(platform, {}, sides.grocer)
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  const sent: (string | undefined)[] = []
  await page.route(`**/cashbacks/for-merchant/${id}/confirm`, async route => {
    sent.push(route.request().headers()['idempotency-key'])
    if (sent.length > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  // The page must not notice the launch before the button is pressed again.
  await page.route(`**/cashbacks/for-merchant/${id}`, route => route.abort())
  await button(page, 'Launch').click()
  await inDialog(page, 'Launch').click()
  await page.getByRole('alert').first().waitFor()
  assert.equal((await detailsOf(id)).status, 'approved')
  await button(page, 'Launch').click()
  await inDialog(page, 'Launch').click()
  await sees(page, 'The campaign is launched')
  assert.equal(sent.length, 2)
  assert.ok(sent[0] !== undefined && sent[0] === sent[1], 'the same key')
  await page.unroute(`**/cashbacks/for-merchant/${id}`)
  // The page has logged the requests that the test caused to fail. It is left first, so that no more of these errors
  // follow.
  await page.goto('about:blank')
  errors.splice(0)
})

test('a start in the past: the question says that the campaign starts at once', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const dateFrom = inDays(platform, -1)
  const id = await createCampaign(platform, { dateFrom }, sides.grocer)
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  await button(page, 'Launch').click()
  await sees(page, /^The campaign starts at once with Alpha Bank, because its start date has passed\./)
  const own = await createBankCampaign(platform, sides.alpha, { dateFrom })
  await visitor.logIn(bank, `/bank/campaigns/${own}`)
  await button(page, 'Start the campaign').click()
  await sees(page, 'The campaign starts at once, because its start date has passed. This can’t be undone.')
})
