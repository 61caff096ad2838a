/** The bank’s pages in a real browser: from an invitation to the payment, an own campaign, eSIM sales, errors, a viewer. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  assertCount,
  closeBrowser,
  fillLogin,
  phone,
  type Visitor,
  visit,
} from '../support/browser.ts'
import { campaignDirectory, createBankCampaign, createCampaign, ids } from '../support/campaigns.ts'
import { advance, openBank } from '../support/esim.ts'
import { agree, assertFits, button, field, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import {
  endedCampaign,
  header,
  merchantHeader,
  move,
  openSides,
  runningCampaign,
  type Sides,
  uploadBank,
  uploadMerchant,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let manager: Account
let viewer: Account
before(async () => {
  const esim = testDirectory.slice(testDirectory.indexOf('\nesim:\n'))
  platform = await startPlatform({}, { directory: campaignDirectory + esim })
  sides = await openSides(platform)
  manager = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
  viewer = await addAccount(platform, { bank: 'alpha' }, 'VIEWER')
  await sell()
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const orders: Record<string, string> = {}

/** One order of each outcome, for two tariffs. */
async function sell(): Promise<void> {
  await platform.addStock('kyivstar', 'eu-10gb', 60)
  await platform.addStock('roamwide', 'world', 1)
  const bank = await openBank(platform)
  const reserve = async (externalId: string, tariff: object = {}) => {
    orders[externalId] = (await bank.reserve({ externalId, ...tariff })).body.orderId
  }
  await reserve('unpaid-1')
  await advance(platform, 'PT16M')
  await reserve('pay-1')
  await reserve('pay-2', { operatorCode: 'roamwide', tariffCode: 'world' })
  await reserve('back-1')
  for (const paid of ['pay-1', 'pay-2']) assert.equal((await bank.confirm(orders[paid] ?? '')).status, 200)
  assert.equal((await bank.cancel(orders['back-1'] ?? '')).status, 200)
}

const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
/** Waits until the page shows a text: a notice, a status, a sentence. */
const sees = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
const rowsOf = (page: Page, table: string) => page.getByRole('table', { name: table }).getByRole('row')
const at = (id: string, rest = '') => `/bank/campaigns/${id}${rest}`

suite('invitations', { timeout: 90_000 }, () => {
  test('one is confirmed, another declined with a reason, which survives a session that ends', async t => {
    const invited = await createCampaign(platform, { name: 'Autumn' }, sides.grocer)
    const declined = await createCampaign(platform, { name: 'Unwanted' }, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, walk, errors } = visitor
    await visitor.logIn(manager)
    await sees(page, 'Needs your action')
    await assertCount(page.getByRole('link', { name: /^Decide: / }), 2)
    await assertAccessible(visitor)

    await page.getByRole('link', { name: 'Awaiting decision' }).click()
    await titled(page, 'Campaigns')
    await page.waitForURL(/decision=pending/)
    await page.getByRole('searchbox', { name: 'Find by name' }).fill('autu')
    await page.waitForURL(/name=autu/)
    await page.getByRole('link', { name: 'Unwanted' }).waitFor({ state: 'detached' })
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Autumn' }).click()
    await titled(page, 'Autumn')
    await sees(page, /^Action needed: decide by .* Created by Grocer\.$/)
    await assertAccessible(visitor)
    await button(page, 'Take part').click()
    await sees(page, 'Check the terms your bank agrees to. This can’t be undone.')
    const terms = page.getByRole('dialog').locator('dl')
    const shown = (await terms.innerText()).replaceAll(/\s+/g, ' ')
    for (const term of ['Your share of the cashback 40%', 'Your bank’s budget', 'Period', 'All customers'])
      assert.ok(shown.includes(term), `${term}: ${shown}`)
    await assertAccessible(visitor)
    await agree(page, 'Take part')
    await sees(page, /^Your bank takes part\. Waiting for/)
    assert.equal(await button(page, 'Decline').count(), 0)

    await walk(at(declined))
    await button(page, 'Decline').click()
    const reason = field(page, 'Reason')
    await reason.waitFor()
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type('The budget is spent')
    await assertAccessible(visitor)
    await page.context().clearCookies()
    await agree(page, 'Decline')
    await sees(page, /Your session has ended/)
    assert.match(errors.splice(0).join(), /401/)
    await fillLogin(page, manager)
    await titled(page, 'Unwanted')
    await button(page, 'Decline').click()
    await reason.waitFor()
    assert.equal(await reason.inputValue(), 'The budget is spent')
    await agree(page, 'Decline')
    await sees(page, /^Your bank has declined this campaign\./)
    await page.getByRole('tab', { name: 'History' }).click()
    await sees(page, '“The budget is spent”')
    const statuses = await Promise.all(
      [invited, declined].map(async id => (await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body.banks),
    )
    assert.deepEqual(
      statuses.map(([bank]) => bank.status),
      ['approved', 'declined'],
    )
  })

  test('its own campaign is withdrawn or kept: the buttons of the question cannot be confused', async t => {
    const id = await createBankCampaign(platform, sides.alpha, { name: 'Of the bank' })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, at(id))
    for (const answered of ['Keep campaign', 'Withdraw campaign']) {
      await button(page, 'Withdraw campaign').click()
      const question = page.getByRole('dialog', { name: 'Withdraw “Of the bank”?' })
      await question.waitFor()
      assert.equal(await question.getByRole('button', { name: 'Cancel' }).count(), 0)
      await assertAccessible(visitor)
      await agree(page, answered)
      await question.waitFor({ state: 'detached' })
    }
    await sees(page, 'The campaign is withdrawn')
    await sees(page, 'Your bank has withdrawn this campaign.')
  })

  test('a banner in the campaign is shown; a banner of another site is a link without a referrer, and is not loaded', async t => {
    const pixel = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==`
    const elsewhere = 'https://pictures.example/banner.png'
    const shown = await createCampaign(platform, { bannerBig: pixel, bannerSmall: pixel }, sides.grocer)
    const linked = await createCampaign(platform, { bannerBig: elsewhere, bannerSmall: elsewhere }, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, walk } = visitor
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await visitor.logIn(manager)
    await walk(at(shown))
    await page.locator(`img[src="${pixel}"]`).first().waitFor()
    await walk(at(linked))
    const link = page.getByRole('link', { name: 'Open the banner' })
    await link.waitFor()
    const attributes = await Promise.all(['href', 'rel', 'target'].map(name => link.getAttribute(name)))
    assert.deepEqual(attributes, [elsewhere, 'noreferrer', '_blank'])
    assert.equal(await page.locator(`img[src*="pictures.example"]`).count(), 0)
    assert.ok(asked.length > 0 && !asked.some(url => url.includes('pictures.example')))
  })

  test('the terminals that were added since a day', async t => {
    const terminals = [{ terminal_id: 'T-1' }]
    const id = await createCampaign(platform, { name: 'Growing', terminalsPlatform: false, terminals }, sides.grocer)
    await advance(platform, 'P3D')
    const more = { terminals: [...terminals, { terminal_id: 'T-2' }] }
    assert.equal((await sides.grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: more })).status, 200)
    const day = new Date(platform.platform.deps.campaigns.clock.now().getTime() - 86_400_000).toISOString().slice(0, 10)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, at(id, `?tab=terminals&since=${day}`))
    await page.getByRole('cell', { name: 'T-2' }).waitFor()
    assert.equal(await page.getByRole('cell', { name: 'T-1' }).count(), 0)
    await assertAccessible(visitor)
    await button(page, 'Clear the dates').click()
    await page.getByRole('cell', { name: 'T-1' }).waitFor()
    assert.doesNotMatch(page.url(), /since/)
  })
})

test('a report with faults by line, differences, a new report, and the money', { timeout: 90_000 }, async t => {
  const { id, at: when } = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Summer' })
  const line = (number: number, cashback: string) => `TX-${number},T-0001,${when},200.00,${cashback}\n`
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager)
  await page.getByRole('link', { name: 'Upload: Summer' }).click()
  await titled(page, 'Reconciliation')
  await sees(page, 'Action needed: upload your report.')
  await refuseReports(visitor, when)
  const choose = page.locator('input[type=file]')
  await choose.setInputFiles(file('summer.csv', `${header}\n${line(1, '10.00')}${line(2, '9.99')}`))
  await sendChecked(page, '1 difference')
  await sees(page, 'Waiting for the merchant to review your report.')
  assert.equal(await choose.count(), 0)

  const own = { file: `${merchantHeader}\nTX-1,T-0001,${when},200.00\n`, comment: 'TX-2 is not ours' }
  assert.equal((await uploadMerchant(sides.grocer, id, own)).status, 201)
  await page.reload()
  await sees(page, /^Action needed: the merchant sent its own report/)
  await sees(page, '“TX-2 is not ours”')
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('only-in-bank-report')
  await page.waitForURL(/kind=only-in-bank-report/)
  await rowsOf(page, 'Differences').nth(2).waitFor({ state: 'detached' })
  await assertCount(rowsOf(page, 'Differences'), 2) // a head and one difference
  await assertAccessible(visitor)
  await savesFiles(page)
  await choose.setInputFiles(file('summer-2.csv', `${header}\n${line(1, '10.00')}`))
  await sendChecked(page, 'No differences')

  for (const path of [`banks/${ids.alpha}/accept-report`, `banks/${ids.alpha}/settle`, 'compensation-paid'])
    assert.equal((await move(sides.grocer, `${id}/${path}`)).status, 200, path)
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await sees(page, '₴6.00')
  await page.getByRole('link', { name: 'Confirm: Summer' }).click()
  await sees(page, /^Action needed: the merchant has paid/)
  await page.getByRole('main').getByRole('button', { name: 'Confirm receipt' }).click()
  await sees(page, /^You confirm that you have received ₴6\.00/)
  await agree(page, 'Confirm receipt')
  await sees(page, 'Payment received')
  assert.equal(await button(page, 'Confirm receipt').count(), 0)
})

/** Chooses a file with errors, and then another file, whose upload is cancelled. */
async function refuseReports({ page, errors }: Visitor, when: string): Promise<void> {
  const choose = page.locator('input[type=file]')
  const faulty = `${header}\nTX-1,T-0001,yesterday,200.00,10.00\nTX-2,T-0001,${when},-1,10.00\n`
  await choose.setInputFiles(file('faulty.csv', faulty))
  await sees(page, 'The file was not accepted. Fix these lines and upload it again:')
  await sees(page, /^Line 2, transactionAt: must be a date and time/)
  await sees(page, /^Line 3, amount: must be 0 or more/)
  assert.match(errors.splice(0).join(), /400/)
  await assertAccessible({ page })
  await choose.setInputFiles(file('faulty.csv', `${header}\n${'x\n'.repeat(1_025)}`))
  await sees(page, 'These are the first 20 of 1,025 errors.')
  assert.match(errors.splice(0).join(), /400/)
  await page.route('**/bank-report?*', () => {})
  await choose.setInputFiles(file('slow.csv', `${header}\n`))
  await button(page, 'Cancel').click()
  await sees(page, 'The upload was cancelled. Nothing was changed.')
  await page.unroute('**/bank-report?*')
}

/** Waits until the page shows the result of the report's check, and sends the report. */
async function sendChecked(page: Page, differences: string): Promise<void> {
  const checked = page.getByRole('region', { name: 'Check before you send' })
  await checked.getByText(differences, { exact: true }).waitFor()
  await assertAccessible({ page })
  await button(page, 'Send to Grocer').click()
  await sees(page, 'The report was sent to Grocer')
}

async function savesFiles(page: Page): Promise<void> {
  for (const [name, saved] of [
    ['Download all as CSV', /^differences-.*\.csv$/],
    ['Download summer.csv', /^summer\.csv$/],
  ] as const) {
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, name).first().click()])
    assert.match(download.suggestedFilename(), saved)
  }
}

test('a campaign of the bank’s own: faults at their fields, a draft, and its start', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, '/bank/campaigns')
  await page.getByRole('link', { name: 'New campaign' }).click()
  await titled(page, 'New campaign')
  await button(page, 'Create the campaign').click()
  await sees(page, 'Choose a merchant')
  await page.locator('[data-path=retailerId]:focus').waitFor()
  await assertAccessible(visitor)

  await page.getByRole('combobox', { name: 'Merchant', exact: true }).click()
  await page.getByRole('option', { name: 'Grocer' }).click()
  await field(page, 'Name').fill('Ours')
  await page.reload()
  await sees(page, /^Your unsaved changes from/)
  assert.equal(await field(page, 'Name').inputValue(), 'Ours')
  await sees(page, 'Grocer')
  await page.getByRole('combobox', { name: /^Country/ }).click()
  await page.getByRole('option', { name: 'Ukraine, UAH' }).click()
  const year = new Date().getFullYear() + 1
  await field(page, 'First day').fill(`05.01.${year}`)
  await field(page, 'Last day').fill(`20 January ${year}`)
  await field(page, /^Cashback/).fill('5')
  await field(page, /^Share the merchant pays/).fill('70')
  await sees(page, 'Your bank pays 30% of the cashback.')
  await field(page, /^Maximum purchase, UAH/).fill('5000')
  await page.getByRole('checkbox', { name: 'Visa' }).check()
  await button(page, 'Create the campaign').click()
  await titled(page, 'Ours')
  await sees(page, /^Action needed: start the campaign by .* Created by your bank for Grocer\.$/)
  await button(page, 'Start the campaign').click()
  await agree(page, 'Start the campaign')
  await sees(page, /^No action needed\. The campaign starts on/)
})

suite('eSIM', { timeout: 90_000 }, () => {
  test('sales and failures by day and tariff; days are those of the bank’s statements', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, walk } = visitor
    await visitor.logIn(viewer, '/bank/esim/sales')
    await sees(page, 'Days are in UTC time')
    const facts = page.locator('dl').first()
    assert.deepEqual(await facts.locator('dd').allInnerTexts(), ['2', '₴399.00\n€25.50', '1', '1'])
    await assertAccessible(visitor)
    await page.getByRole('region', { name: 'By tariff' }).getByRole('button').click()
    await page.getByRole('rowheader', { name: 'Europe 10 GB' }).waitFor()
    await page.getByRole('combobox', { name: 'Tariff' }).selectOption('Europe 10 GB')
    await page.waitForURL(/operator=kyivstar&tariff=eu-10gb/)
    await facts.getByText('₴399.00').waitFor()
    assert.deepEqual(await facts.locator('dd').allInnerTexts(), ['1', '₴399.00', '1', '1'])
    await page.getByRole('region', { name: 'Europe 10 GB: sales and failures by day' }).getByRole('button').click()
    const figures = (await page.locator('section tbody td').allInnerTexts()).map(Number)
    const sums = [0, 1, 2].map(column => figures.reduce((sum, each, at) => (at % 3 === column ? sum + each : sum), 0))
    assert.deepEqual(sums, [1, 1, 1], 'sold, given back, not paid in time')
    await assertAccessible(visitor)
    await open('/bank/esim/sales?from=2020-01-01&to=2020-01-05')
    await sees(page, 'No sales in this period')
    await walk('/bank/esim/sales?from=2020-01-01&to=2021-12-31')
    await sees(page, 'At most 366 days at once')
    await assertAccessible(visitor)
  })

  test('a span over two years: each day is shown with its year, and none of them stays in the next span', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    const to = platform.platform.deps.campaigns.clock.now().toISOString().slice(0, 10)
    const from = new Date(Date.parse(`${to}T00:00:00Z`) - 365 * 86_400_000).toISOString().slice(0, 10)
    const chart = page.getByRole('region', { name: /^Sold/ })
    // Reads the last 30 days first. Later the chart can then show them at once, from the cache.
    await visitor.logIn(viewer, '/bank/esim/sales')
    await chart.waitFor()
    await visitor.walk(`/bank/esim/sales?from=${from}&to=${to}`)
    await sees(page, 'Days are in UTC time')
    await chart.getByRole('button', { name: 'Show as a table' }).click()
    await chart.getByRole('rowheader').nth(365).waitFor()
    const days = () => chart.getByRole('rowheader').allInnerTexts()
    const found = await days()
    assert.deepEqual([found.length, new Set(found).size], [366, 366], 'each day has a name of its own')
    assert.ok(found[0]?.endsWith(from.slice(0, 4)) && found.at(-1)?.endsWith(to.slice(0, 4)))
    await page.getByText('30 days', { exact: true }).click()
    await page.waitForURL(url => !url.searchParams.has('from'))
    await assertCount(chart.getByRole('rowheader'), 30)
  })

  test('the last days end with the day of the bank’s statements, whatever the time zone of the reader', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    // A time zone in which it is a different day than in UTC right now.
    const zone = new Date().getUTCHours() < 11 ? 'Etc/GMT+12' : 'Pacific/Kiritimati'
    const setZone = (timeZone: string) =>
      platform.platform.database.execute(`update banks set esim_time_zone = $1 where code = 'alpha'`, [timeZone])
    await setZone(zone)
    t.after(() => setZone('UTC'))
    await visitor.logIn(viewer, '/bank/esim/sales')
    await sees(page, `Days are in ${zone} time`)
    // Without days, the platform counts until today by the bank's zone.
    const { to } = (await page.evaluate(() => fetch('/portal/esim/sales').then(answer => answer.json()))) as {
      to: string
    }
    await page.getByText('7 days', { exact: true }).click()
    await page.waitForURL(url => url.searchParams.get('to') === to)
  })

  test('orders found by both ids, by day and status, page by page, without secrets, and saved', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, walk } = visitor
    await visitor.logIn(viewer, '/bank/esim/orders')
    await sees(page, '4 orders')
    const text = await page.locator('main').innerText()
    for (const secret of [/LPA:/, /\b\d{18,20}\b/, /PIN/]) assert.doesNotMatch(text, secret)
    await assertAccessible(visitor)
    const byExternalId = page.getByRole('searchbox', { name: 'Your order ID or its first characters' })
    await byExternalId.fill('pay-')
    await sees(page, /^2 orders$/)
    await button(page, 'Clear filters').click()
    const byId = page.getByRole('searchbox', { name: 'Perkline order ID' })
    await byId.fill('019aa5a2')
    await page.getByRole('alert').getByText('Enter the whole order ID').waitFor()
    await assertAccessible(visitor)
    await byId.fill(orders['back-1'] ?? '')
    await sees(page, /^1 order$/)
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor()
    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()])
    assert.equal(saved.suggestedFilename(), 'esim-orders.csv')
    await open('/bank/esim/orders?status=expired&tariff=eu-10gb')
    await sees(page, 'unpaid-1')
    await assertCount(rowsOf(page, 'eSIM orders'), 2)
    await walk('/bank/esim/orders?from=2020-01-01&to=2020-01-02')
    await sees(page, 'No orders match these filters')
    const bank = await openBank(platform)
    for (let number = 0; number < 50; number++) assert.equal((await bank.reserve(`many-${number}`)).status, 201)
    await button(page, 'Clear filters').click()
    await sees(page, '50 orders shown')
    await button(page, 'Show older orders').click()
    await sees(page, '54 orders')
    assert.equal(await button(page, 'Show older orders').count(), 0)
    await page.reload()
    await sees(page, '54 orders')
    await page.getByRole('link', { name: 'eSIM tariffs' }).click()
    await sees(page, 'Available')
    await assertCount(page.getByRole('region', { name: 'Kyivstar' }).getByText('Not available'), 3)
    await assertAccessible(visitor)
  })
})

suite('what may go wrong', { timeout: 60_000 }, () => {
  test('a viewer is told that campaigns are not for it, and what is', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, walk } = visitor
    await visitor.logIn(viewer)
    await sees(page, 'You have access to eSIM sales only')
    assert.equal(await page.getByRole('link', { name: 'Campaigns' }).count(), 0)
    await assertAccessible(visitor)
    for (const path of ['/bank/campaigns', '/bank/campaigns/new', at('7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11')]) {
      await walk(path)
      await sees(page, /Administrators and editors of your bank can see campaigns/)
    }
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Go to eSIM sales' }).click()
    await titled(page, 'eSIM sales')
  })

  test('a campaign that is not there, a decision that came too late, and the platform away', async t => {
    const late = await runningCampaign(sides, [sides.beta], { participantsIds: [ids.alpha, ids.beta], name: 'Late' })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, walk, errors } = visitor
    await visitor.logIn(manager, at('7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'))
    await titled(page, 'Campaign not found')
    await walk(at(late.id))
    await sees(page, /^Your bank had not decided when the merchant launched the campaign/)
    await walk(at(late.id, '/reconciliation'))
    await sees(page, 'Your bank doesn’t take part, so there is nothing to reconcile.')

    const id = await createCampaign(platform, { name: 'Taken back' }, sides.grocer)
    await walk(at(id))
    await button(page, 'Take part').waitFor()
    assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
    await button(page, 'Take part').click()
    await agree(page, 'Take part')
    await agree(page, 'Review the campaign')
    await sees(page, /^The merchant has deleted this campaign\./)
    await page.route('**/portal/esim/stock', route => route.abort())
    await page.getByRole('link', { name: 'eSIM tariffs' }).click()
    await sees(page, 'Perkline can’t be reached. Check your connection and try again.')
    await assertAccessible(visitor)
    await page.unroute('**/portal/esim/stock')
    await button(page, 'Try again').click()
    await sees(page, 'Europe 10 GB')
    assert.ok(errors.splice(0).length > 0)
  })
})

test('українською, на телефоні: від запрошення до звірки й eSIM', { timeout: 60_000 }, async t => {
  await createCampaign(platform, { name: 'Зима' }, sides.grocer)
  const ended = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Літо' })
  await uploadBank(sides.alpha, ended.id, `${header}\nTX-1,T-0001,${ended.at},1000.00,1.00\n`)
  const visitor = await visit(t, platform, { language: 'uk-UA', viewport: phone })
  if (!visitor) return
  const { page, walk } = visitor
  await visitor.logIn(manager)
  await sees(page, 'Ваші завдання')
  await assertFits(page)
  await walk('/bank/campaigns?name=Зима')
  await page.getByRole('link', { name: 'Зима' }).click()
  await button(page, 'Взяти участь').click()
  await agree(page, 'Взяти участь')
  await sees(page, /^Ваш банк бере участь\./)
  await assertFits(page)
  await assertAccessible(visitor)
  await walk(at(ended.id, '/reconciliation'))
  await page.locator('[data-kind=wrong-cashback]').waitFor()
  await assertFits(page)
  for (const [path, text] of [
    ['/bank/campaigns', 'Літо'],
    ['/bank/campaigns/new', 'Торговець, який після кампанії компенсує свою частку.'],
    ['/bank/esim/sales', 'Продано за днями й тарифами'],
    ['/bank/esim/orders', 'many-49'],
    ['/bank/esim/tariffs', 'Київстар'],
  ] as const) {
    await walk(path)
    await sees(page, text)
    await assertFits(page)
  }
  await assertAccessible(visitor)
})
