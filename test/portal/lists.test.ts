/** The homes and lists of merchants and banks in a real browser: many tasks, pages out of range, page sizes, export, names, words. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { assertAccessible, assertCount, closeBrowser, phone, visit } from '../support/browser.ts'
import { campaignDirectory, createBankCampaign, createCampaign, ids, inDays } from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { endedCampaign, line, move, openSides, reportOf, type Sides, uploadBank } from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let manager: Account
let viewer: Account
let banker: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
  viewer = await addAccount(platform, { merchant: 'grocer' }, 'viewer')
  banker = await addAccount(platform, { bank: 'beta' }, 'ADMIN')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const count = 45
const invite = async () => {
  for (let each = 1; each <= count; each++)
    await createCampaign(
      platform,
      {
        name: `Invitation ${String(each).padStart(2, '0')}`,
        participantsIds: [ids.beta],
        dateTo: inDays(platform, 20 + each),
      },
      sides.grocer,
    )
}

suite('home', { timeout: 120_000 }, () => {
  before(invite)

  test('many tasks are shown in pages below the counts, and a task is two clicks away', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker)
    const mine = page.getByRole('region', { name: 'Needs your action' })
    await mine.getByRole('heading', { name: `Needs your action ${count}` }).waitFor()
    await assertCount(mine.locator('[data-task]'), 10)
    const height = await page.evaluate('document.documentElement.scrollHeight')
    assert.ok(Number(height) < 2600, `${height} px`)
    const [counts, tasks] = await Promise.all([
      page.getByRole('region', { name: 'Campaigns', exact: true }).boundingBox(),
      mine.boundingBox(),
    ])
    assert.ok(counts && tasks && counts.y < tasks.y)
    await assertAccessible(visitor)
    await mine.getByRole('button', { name: 'Page 2' }).click()
    await page.waitForURL(/page=2/)
    await page.getByRole('link', { name: 'Decide: Invitation 11' }).click()
    await page.getByRole('heading', { level: 1, name: 'Invitation 11' }).waitFor()
  })

  test('a page past the end leads to the last one', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank?page=999')
    await page.waitForURL(/\?page=5$/)
    await assertCount(page.locator('[data-task]'), 5)
  })

  test('each count equals the length of the list that it links to, with or without deleted campaigns', async t => {
    const gone = await createCampaign(platform, { name: 'Gone', participantsIds: [ids.beta] }, sides.grocer)
    assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${gone}`)).status, 200)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker)
    for (const name of ['Awaiting decision', 'Awaiting approval', 'Closed']) {
      await page.getByRole('link', { name: 'Home', exact: true }).click()
      const tile = page.getByRole('link', { name, exact: false }).first()
      const shown = /^\d+/.exec((await tile.textContent()) ?? '')?.[0]
      await tile.click()
      await page
        .getByRole('status')
        .getByText(`${shown} ${shown === '1' ? 'entry' : 'entries'}`)
        .waitFor()
    }
  })

  test('each step has its money, and who may only read is not told to act', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Autumn', participantsIds: [ids.alpha] })
    const path = `${campaign.id}/banks/${ids.alpha}`
    assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(line(campaign, 'a-1')))).status, 201)
    for (const step of ['accept-report', 'settle'])
      assert.equal((await move(sides.grocer, `${path}/${step}`)).status, 200)
    const { body } = await sides.grocer.call('GET', '/portal/home?kind=mark-paid')
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, empty } = visitor
    await visitor.logIn(manager)
    await page.getByText('Pay the compensation').waitFor()
    await page
      .getByText(`₴${body.tasks[0].amount.toFixed(2)}`)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Pay: Autumn' }).click()
    await page.getByRole('heading', { level: 1, name: 'Autumn' }).waitFor()
    await empty()
    await visitor.logIn(viewer)
    await page.getByRole('heading', { name: /^Needs your team’s action/ }).waitFor()
    await page.getByRole('link', { name: 'View: Autumn' }).first().waitFor()
    assert.equal(await page.getByRole('link', { name: /^Pay/ }).count(), 0)
    assert.equal(await page.getByText('You act').count(), 0)
  })

  test('a campaign that a bank has created at the merchant’s cost is told, also once it is approved', async t => {
    const id = await createBankCampaign(platform, sides.alpha, { name: 'Of the bank' })
    assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    const visitor = await visit(t, platform, { viewport: phone })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    const told = page.getByRole('region', { name: 'Created by banks at your cost' })
    await told.getByText('You pay 60% of the 5% cashback').waitFor()
    await told.getByText(/^Created by Alpha Bank/).waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await assertAccessible(visitor)
    await told.getByRole('link', { name: 'Of the bank' }).click()
    await page.getByRole('heading', { level: 1, name: 'Of the bank' }).waitFor()
  })
})

suite('lists', { timeout: 120_000 }, () => {
  test('a page past the end leads to the last one, and a size is kept for the person', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open } = visitor
    const rows = page.getByRole('table', { name: 'Campaigns' }).getByRole('row')
    for (const [account, path] of [
      [manager, '/merchant/campaigns'],
      [banker, '/bank/campaigns'],
    ] as const) {
      await visitor.empty()
      await visitor.logIn(account, `${path}?page=999&name=Invitation`)
      await page.waitForURL(/page=3/)
      await page.getByRole('link', { name: 'Invitation' }).first().waitFor()
      await assertCount(rows, 1 + 5)
      assert.equal(await page.getByText('No campaigns yet').count(), 0)
      await page.getByRole('combobox', { name: 'Rows per page' }).selectOption('50')
      await assertCount(rows, 1 + count)
      await open(`${path}?name=Invitation`)
      await assertCount(rows, 1 + count)
      await assertAccessible(visitor)
    }
  })

  test('leave as CSV with the present filters', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    for (const [account, path] of [
      [manager, '/merchant/campaigns?name=Invitation%201&group=awaitingApproval'],
      [banker, '/bank/campaigns?name=Invitation%201&decision=pending'],
    ] as const) {
      await visitor.empty()
      await visitor.logIn(account, path)
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      assert.equal(saved.suggestedFilename(), 'campaigns.csv')
      const rows: { name: string }[] = parse(await readFile(await saved.path()), { columns: true, bom: true })
      const names = rows.map(({ name }) => name)
      assert.equal(names.length, 10)
      assert.ok(names.every(name => /^Invitation 1\d$/.test(name)))
    }
  })

  test('name merchants in the language of the page, and periods by their last day', async t => {
    const dates = { dateFrom: '2030-11-27T22:00:00Z', dateTo: '2030-11-30T22:00:00Z' }
    const id = await createCampaign(
      platform,
      { name: 'Three days', participantsIds: [ids.beta], ...dates },
      sides.grocer,
    )
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank/campaigns?name=Three')
    await page.getByRole('table').getByText('Grocer', { exact: true }).waitFor()
    await page.getByText(/^28\s?–\s?30 Nov 2030$/).waitFor()
    await page.getByRole('button', { name: 'Українська' }).click()
    await page.getByRole('table').getByText('Гросер', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'English' }).click()
    await visitor.empty()
    await visitor.logIn(manager, `/merchant/campaigns/${id}`)
    await page.getByText('Ends 30 Nov 2030').first().waitFor()
  })

  test('the address of a campaign that does not exist shows a clear message', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, errors } = visitor
    await visitor.logIn(manager, '/merchant/campaigns/xyz')
    await page.getByRole('heading', { level: 1, name: 'Campaign not found' }).waitFor()
    assert.equal(await page.getByText('UUID').count(), 0)
    await assertAccessible(visitor)
    await visitor.empty()
    await visitor.logIn(banker, '/bank/campaigns/xyz')
    await page.getByRole('heading', { level: 1, name: 'Campaign not found' }).waitFor()
    assert.ok(errors.splice(0).every(error => /40[04]/.test(error)))
  })

  test('the logo is marked as the current page only on the home page', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    const logo = page.getByRole('link', { name: 'Perkline: Home' })
    assert.equal(await logo.getAttribute('aria-current'), 'page')
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor()
    assert.equal(await logo.getAttribute('aria-current'), null)
  })
})

test('clearing the filters: an empty list is told once it is read; its length is a text that changes', {
  timeout: 60_000,
}, async t => {
  await createCampaign(platform, { name: 'To clear', participantsIds: [ids.beta] }, sides.grocer)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, '/merchant/campaigns?name=NoSuchName')
  const status = page.locator('main').getByRole('status')
  await status.getByText('No campaigns found').waitFor()
  const told = await status.filter({ hasText: 'No campaigns found' }).elementHandle()
  let answer = () => {}
  const isAsked = new Promise<void>(resolve => {
    answer = resolve
  })
  await page.route(/cashbacks\/for-merchant\?/, async route => {
    await isAsked
    await route.continue()
  })
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await status.getByText('Loading').waitFor({ state: 'attached' })
  assert.equal(await page.getByText(/^No campaigns/).count(), 0)
  answer()
  await status.getByText(/^\d+ entr/).waitFor({ state: 'attached' })
  assert.equal(await status.filter({ hasText: /entr/ }).count(), 1)
  assert.match((await told?.textContent()) ?? '', /^\d+ entr/)
  await assertAccessible(visitor)
})

test('a list that is too long to be read whole has a button to its next part and one back', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const next = `1795377600000000_${ids.grocer}`
  const asked: (string | null)[] = []
  await page.route('**/portal/cashbacks?*', async route => {
    const answer = await route.fetch()
    const body = await answer.json()
    const after = new URL(route.request().url()).searchParams.get('after')
    asked.push(after)
    Object.assign(body.pagination, after === null ? { isComplete: false, next } : { isComplete: true, next: null })
    await route.fulfill({ response: answer, json: body })
  })
  await visitor.logIn(banker, '/bank/campaigns?page=99')
  await page.getByText('10,000').waitFor()
  await page.getByRole('button', { name: 'Look at the next ones' }).click()
  await page.waitForURL(url => url.searchParams.get('after') === next && !url.searchParams.has('page'))
  await page.getByRole('button', { name: 'Back to the first ones' }).click()
  await page.waitForURL(url => !url.searchParams.has('after'))
  assert.deepEqual([...new Set(asked)], [null, next])
})
