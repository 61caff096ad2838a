/**
 * Daily statements in a real browser. A bank reads its month, one statement and the open day. The operator reads the
 * statements of all banks, and sees which are missing.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, phone, visit } from '../support/browser.ts'
import { advance, type Bank, openBank } from '../support/esim.ts'
import { titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { addStatements, withManyBanks } from '../support/statements.ts'

/**
 * The directory of the tests, with one more tariff: it has the same code and name as a tariff of another mobile
 * operator.
 */
const directory = testDirectory.replace(
  '{ code: world,',
  '{ code: eu-10gb, name: Europe 10 GB, price: 9.50, currency: EUR, validityDays: 30 }\n        - { code: world,',
)

/** A month in the future, so that no day of a bank is overdue. 38 banks have a statement for each day. */
const fullMonth = { from: '2054-12-01', to: '2054-12-31' }
const banks = 38

let platform: TestPlatform
let bank: Bank
let viewer: Account
let admin: Account
let day: string
let soldToday: string
before(async () => {
  // No worker runs here, because it would close the statements that one test needs as missing. The other statements are
  // closed when the clock is moved.
  platform = await startPlatform(
    {},
    { directory: withManyBanks(banks, directory), only: ['auth', 'cashback', 'esim', 'partner', 'portal', 'admin'] },
  )
  await addStatements(platform, { banks, ...fullMonth })
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  await platform.addStock('roamwide', 'world', 5)
  await platform.addStock('roamwide', 'eu-10gb', 5)
  bank = await openBank(platform)
  viewer = await addAccount(platform, { bank: 'alpha' }, 'VIEWER')
  admin = await addAccount(platform, 'platform', 'admin')
  for (const externalId of ['payment-1', 'payment-2', 'payment-3']) await sell({ externalId }, 'PR-9')
  await sell({ externalId: 'payment-4', operatorCode: 'roamwide', tariffCode: 'world' })
  await sell({ externalId: 'payment-6', operatorCode: 'roamwide' })
  await advance(platform, 'P1DT5M')
  const latest = await platform.call('GET', '/partner/v1/statements?limit=1', { token: bank.token })
  day = latest.body.data[0].day
  soldToday = await sell({ externalId: 'payment-5' })
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

async function sell(given: object, reference?: string): Promise<string> {
  const { body } = await bank.reserve({ ...given })
  const headers = reference === undefined ? {} : { 'perkline-payment-reference': reference }
  assert.equal((await bank.call('POST', `/orders/${body.orderId}/confirm`, { headers })).status, 200)
  return body.orderId
}
/** The month of the day before an instant. */
const monthOfYesterday = (now: string) => new Date(Date.parse(now) - 86_400_000).toISOString().slice(0, 7)
const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name })
const month = () => `/bank/statements?month=${day.slice(0, 7)}`

test('a bank reads its month, a statement with its lines, and the open day', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, month())
  await titled(page, 'Statements')
  await page.getByRole('region', { name: 'Open day' }).getByText('₴399.00').first().waitFor()
  await assertAccessible(visitor)
  await row(page, '₴1,197.00').getByRole('link').click()
  await page.getByText('Statement no. 1').waitFor()
  await row(page, 'payment-1').getByText('PR-9').waitFor()
  await page.getByRole('region', { name: 'Sales by tariff' }).waitFor()
  // Two mobile operators have a tariff with the same code and name.
  const byTariff = page.getByRole('table', { name: 'Sales by tariff' })
  for (const [name, sum] of [
    ['Europe 10 GB · Kyivstar', '₴1,197.00'],
    ['Europe 10 GB · Роамвайд', '€9.50'],
  ] as const)
    await byTariff.getByRole('row').filter({ hasText: name }).filter({ hasText: sum }).waitFor()
  await assertAccessible(visitor)
  // A printed statement shows the name of its bank.
  const letterhead = page.getByText('Alpha Bank · Perkline')
  assert.equal(await letterhead.isVisible(), false)
  await page.emulateMedia({ media: 'print' })
  await letterhead.waitFor()
  await page.emulateMedia({ media: null })
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  assert.equal((await download).suggestedFilename(), `statement-${day}.csv`)
  await page.getByRole('link', { name: 'payment-1' }).click()
  await titled(page, 'payment-1')
  await page.getByText('On a daily statement').waitFor()
  await page.getByRole('link', { name: /, no\. 1$/ }).click()
  await page.getByText('Statement no. 1').waitFor()
})

/** The text of the page as it is printed on A4 with usual margins. */
async function printedText(page: Page): Promise<string> {
  const margin = { top: '10mm', right: '10mm', bottom: '10mm', left: '10mm' }
  const pdf = await page.pdf({ format: 'A4', margin })
  const { status, stdout, stderr } = spawnSync('pdftotext', ['-layout', '-', '-'], { input: pdf, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}

test('on paper: the statements are tables with all their columns', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, month())
  await row(page, '₴1,197.00').getByRole('link').waitFor()
  assert.match(await printedText(page), /Day .*Sales .*Commission .*Late/)
  await row(page, '₴1,197.00').getByRole('link').click()
  await row(page, 'payment-6').waitFor()
  const statement = await printedText(page)
  assert.match(statement, /Order .*Tariff .*Commission .*/)
  // One line on paper has all figures of a sale: amount, commission and net.
  assert.match(statement, /payment-6 .*€9\.50 .*€\d\.\d\d .*€\d\.\d\d/)
})

test('on paper: charts are tables of their figures', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, '/bank/esim/sales')
  const chart = page.getByRole('region', { name: 'By tariff' })
  await chart.locator('svg').first().waitFor()
  assert.match(await printedText(page), /Europe 10 GB · Kyivstar +4 +0 +0/)
  await chart.locator('svg').first().waitFor()
  assert.equal(await chart.getByRole('table').count(), 0)
})

test('on the narrowest screen: charts draw each bar, and lists show all sums', async t => {
  const visitor = await visit(t, platform, { viewport: { width: 320, height: 640 } })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, '/bank/esim/sales')
  const bar = page.getByRole('region', { name: 'By tariff' }).locator('.recharts-bar-rectangle path').first()
  await bar.waitFor()
  assert.ok(((await bar.boundingBox())?.height ?? 0) >= 10, 'the bars are thick enough to be seen')
  await visitor.walk(month())
  for (const title of ['Commission', 'Late']) await page.locator(`td[data-title="${title}"]`).first().waitFor()
  await row(page, '₴1,197.00').getByRole('link').click()
  await page.getByText('Statement no. 1').waitFor()
  await page.locator('td[data-title="Commission"]').first().waitFor()
})

test('with forced colours, the legend of a chart tells its series apart', async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await page.emulateMedia({ forcedColors: 'active' })
  await visitor.logIn(viewer, '/bank/esim/sales')
  const swatches = page.getByRole('region', { name: 'By tariff' }).locator('.mantine-ColorSwatch-root')
  await swatches.nth(2).waitFor()
  const pictures = await Promise.all([0, 1, 2].map(at => swatches.nth(at).screenshot({ animations: 'disabled' })))
  assert.equal(new Set(pictures.map(picture => picture.toString('base64'))).size, 3)
})

test('the exact time of a sale: in a list by pointing at it, on the order’s page as text', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const exact = /day,? \d.* at \d\d:\d\d:\d\d/
  await visitor.logIn(viewer, '/bank/esim/orders?externalId=payment-4')
  const time = row(page, 'payment-4').locator('time').first()
  await time.waitFor()
  const { x, y } = (await time.boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.move(x + 4, y - 30)
  await page.mouse.move(x + 4, y + 4)
  await page.getByRole('tooltip').filter({ hasText: exact }).waitFor()
  // A click on the time opens the order, as anywhere in its row.
  await page.mouse.click(x + 4, y + 4)
  await titled(page, 'payment-4')
  await page.mouse.move(0, 0)
  await page.locator('dl').getByText(exact).first().waitFor()
})

test('an order is found by exactly its id', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, '/bank/esim/orders?externalId=payment')
  await row(page, 'payment-4').waitFor()
  await page.getByRole('checkbox', { name: 'Exactly this ID' }).check()
  await page
    .getByText('No order fits the filters')
    .or(page.getByText(/No orders/))
    .first()
    .waitFor()
})

test('an order that was sold today says when its statement follows: to the bank and to the operator', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  for (const [account, path] of [
    [viewer, `/bank/esim/orders/${soldToday}`],
    [admin, `/operator/orders/${soldToday}`],
  ] as const) {
    await visitor.logIn(account, path)
    await page.getByText('Follows after midnight, UTC time').waitFor()
    await assertAccessible(visitor)
    await visitor.empty()
  }
})

test('on a phone, in Ukrainian', async t => {
  const visitor = await visit(t, platform, { viewport: phone, language: 'uk-UA' })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(viewer, month())
  await page.getByRole('heading', { level: 1 }).waitFor()
  await assertAccessible(visitor)
})

test('the operator reads the statements of all banks, with those that are missing', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await platform.platform.database.execute(
    `insert into statement_lines (order_id, bank_id, external_id, tariff_id, tariff_name, confirmed_at, currency, amount)
     select gen_random_uuid(), bank_id, 'old', 1, 'Old', now() - interval '10 days', 'UAH', 1 from banks where code = 'beta'`,
  )
  await visitor.logIn(admin, `/operator/statements?month=${day.slice(0, 7)}`)
  await titled(page, 'Statements')
  await row(page, 'Alpha Bank').getByText('₴1,197.00').first().waitFor()
  await page.getByText(/^Beta Bank: since/).waitFor()
  await assertAccessible(visitor)
})

test('a month of many banks is shown to its first day, page after page, and for one bank', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(admin, '/operator/statements?month=2054-12')
  const rows = page.getByRole('table', { name: 'Statements' }).locator('tbody').getByRole('row')
  const older = page.getByRole('button', { name: 'Show older statements' })
  await row(page, '31 Dec 2054').first().waitFor()
  for (let shown = 200; ; shown += 200) {
    await rows.nth(Math.min(shown, banks * 31) - 1).waitFor()
    if (shown > banks * 31) break
    await older.click()
  }
  await older.waitFor({ state: 'detached' })
  assert.equal(await rows.count(), banks * 31)
  assert.equal(
    await row(page, '1 Dec 2054')
      .filter({ hasNotText: /\d1 Dec/ })
      .count(),
    banks,
  )
  await page.getByRole('combobox', { name: 'Bank' }).selectOption({ label: 'Bank 007' })
  await row(page, 'Bank 001').first().waitFor({ state: 'detached' })
  await rows.nth(30).waitFor()
  assert.equal(await rows.count(), 31)
  await assertAccessible(visitor)
})

test('the operator’s month and order are those of the platform’s clock and of the statement', async t => {
  await advance(platform, 'P40D')
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(admin, '/operator')
  const asked = page.waitForRequest(/\/admin\/statements\?/)
  await visitor.walk('/operator/statements')
  const now = platform.platform.deps.campaigns.clock.now().toISOString()
  assert.equal(new URL((await asked).url()).searchParams.get('from'), `${monthOfYesterday(now)}-01`)
  await visitor.walk('/operator/orders?externalId=payment-1')
  await page.getByRole('link', { name: 'payment-1' }).click()
  await titled(page, 'payment-1')
  await page.getByText('PR-9').waitFor()
  await page.getByText(/, no\. 1$/).waitFor()
  await page.getByText('Reserved until').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('payment-2')
  await page
    .getByRole('dialog')
    .getByRole('option', { name: /^payment-2 Alpha Bank/ })
    .click()
  await titled(page, 'payment-2')
})

test('on the first day of a month, the statements of the month before are shown', async t => {
  const now = platform.platform.deps.campaigns.clock.now()
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 9))
  await advance(platform, `PT${Math.ceil((first.getTime() - now.getTime()) / 1000)}S`)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const name = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const month = name.format(new Date(first.getTime() - 86_400_000))
  await visitor.logIn(viewer, '/bank/statements')
  await page.getByRole('group', { name: 'Month' }).getByText(month).waitFor()
  await page.getByRole('table', { name: 'Statements' }).getByRole('link').first().waitFor()
  await page.getByRole('button', { name: 'Month after' }).click()
  await page.getByText('No statements in this month').waitFor()
  assert.equal(await page.getByText('The first one is closed').count(), 0)
  await visitor.empty()
  await visitor.logIn(admin, '/operator/statements')
  await page.getByRole('group', { name: 'Month' }).getByText(month).waitFor()
})

test('a day that is closed while the page is open moves to the list', async t => {
  // This test moves the browser's clock, which cannot be undone, so it needs a browser of its own.
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await page.clock.install()
  const open = await platform.call('GET', '/partner/v1/statements/open', { token: bank.token })
  await visitor.logIn(viewer, `/bank/statements?month=${open.body.day.slice(0, 7)}`)
  const shown = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(open.body.day),
  )
  const openDay = page.getByRole('region', { name: 'Open day' })
  await openDay.getByText(shown).waitFor()
  await page.getByText('No statements in this month').or(page.getByRole('table')).first().waitFor()
  await advance(platform, 'P1D')
  await page.clock.fastForward('01:01')
  await page.getByRole('link', { name: shown }).waitFor()
  await openDay.getByText(shown).waitFor({ state: 'detached' })
})
