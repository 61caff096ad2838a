/** The operator’s home, campaigns and customers in a real browser, as an administrator, a viewer and on a phone. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { assertAccessible, closeBrowser, phone, visit } from '../support/browser.ts'
import { ids } from '../support/campaigns.ts'
import { addOrders, csv, type OperatorSite, openOperatorSite, press, row } from '../support/operator-site.ts'
import { button, dialog, field, sees, titled } from '../support/pages.ts'

let site: OperatorSite
before(async () => {
  site = await openOperatorSite()
})
after(async () => {
  await closeBrowser()
  await site.platform.close()
})

const read: OperatorSite['read'] = (...args) => site.read(...args)
const enter: OperatorSite['enter'] = (...args) => site.enter(...args)

test('the home page tells what runs out, what is sold in all, whether the checks pass, and leads there', async t => {
  const visitor = await visit(t, site.platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(site.admin)
  await sees(page, 'All checks passed')
  // One profile was sold, another one was returned.
  await page
    .locator('div', { has: page.getByText('Sold in total', { exact: true }) })
    .last()
    .getByText('1', { exact: true })
    .waitFor()
  await sees(page, '1 in the last 24 hours')
  await sees(page, '1 suspended')
  assert.equal(await page.title(), 'Perkline')
  await assertAccessible(visitor)
  await page.getByRole('link', { name: 'Kyivstar · Without stock' }).click()
  await titled(page, 'Without stock')
  await page.getByRole('link', { name: 'Data checks' }).click()
  await sees(page, 'All checks passed')
  await button(page, 'Check again').click()
  // Rows are pale while they are read again, so the accessibility check must wait.
  await page.locator('button[data-loading]').waitFor({ state: 'detached' })
  await row(page, 'No profile is in two open orders').getByText('Passed').waitFor()
  await assertAccessible(visitor)
})

suite('campaigns and customers', { timeout: 120_000 }, () => {
  test('a campaign is found, has its whole history, and is completed', async t => {
    const visitor = await enter(t, '/operator/campaigns')
    if (!visitor) return
    const { page, walk, errors } = visitor
    await page.getByRole('searchbox').fill('summ')
    await page.waitForURL(/search=/)
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Summer' }).click()
    await titled(page, 'Summer')
    for (const text of ['Payment received', 'The campaign was created', 'Alpha Bank uploaded its report'])
      await sees(page, text)
    // The campaign has no segment.
    await page.getByRole('cell', { name: 'All customers' }).waitFor()
    await assertAccessible(visitor)
    await button(page, 'Complete now').click()
    await press(page, 'Complete now')
    await sees(page, 'The campaign is completed')
    await button(page, 'Complete now').waitFor({ state: 'detached' })
    assert.equal((await read(`/campaigns/${site.campaignId}`)).status, 'completed')
    await walk(`/operator/campaigns/${ids.alpha}`)
    await titled(page, 'Campaign not found')
    assert.match(errors.splice(0).join(), /404/)
    await assertAccessible(visitor)
  })

  test('customers are loaded, and looked up', async t => {
    const visitor = await enter(t, '/operator/customers')
    if (!visitor) return
    const { page, errors } = visitor
    await assertAccessible(visitor)
    await page.getByRole('combobox', { name: 'Bank' }).selectOption('beta')
    await page.locator('input[type=file]').setInputFiles(csv('customer\nB-1\n'))
    await sees(page, 'The file was not accepted. Fix these lines and upload it again:')
    await sees(page, 'Line 1: the first line must name the column customerId and no other')
    assert.match(errors.splice(0).join(), /400/)
    await page.locator('input[type=file]').setInputFiles(csv('customerId\nB-1\nB-2\n'))
    await sees(page, 'New customers: 2. Already known: 0')
    await row(page, 'Бета Банк').getByText('2', { exact: true }).waitFor()
    await field(page, 'Customer id').fill(' B-2 ')
    await button(page, 'Find').click()
    await sees(page, 'Customer of Бета Банк')
    await field(page, 'Customer id').fill('B-3')
    await button(page, 'Find').click()
    await sees(page, 'No bank has this customer')
    assert.match(errors.splice(0).join(), /404/)
    await assertAccessible(visitor)
  })
})

test('a viewer sees everything and can change nothing', { timeout: 60_000 }, async t => {
  const visitor = await enter(t, '/operator', site.viewer)
  if (!visitor) return
  const { page, walk } = visitor
  const main = page.getByRole('main')
  for (const [path, seen] of [
    ['/partners', 'Alpha Bank'],
    ['/access', site.admin.login],
    ['/partners?tab=merchants', 'Grocer'],
    ['/access?tab=credentials', 'System'],
    ['/mobile-operators', 'Europe 10 GB'],
    ['/stock/kyivstar/eu-10gb', 'Withdrawn'],
    ['/customers', 'Alpha Bank'],
    [`/campaigns/${site.campaignId}`, 'Participating'],
  ] as const) {
    await walk(`/operator${path}`)
    await sees(page, seen)
    const names = await main.getByRole('button').allInnerTexts()
    assert.deepEqual(
      names.filter(name => name !== 'Find'),
      [],
      path,
    )
    assert.equal(await main.locator('input[type=file], [role=switch], textarea').count(), 0, path)
  }
  await walk('/operator/mobile-operators')
  await sees(page, 'Yes')
  await assertAccessible(visitor)
})

test('українською, на телефоні', { timeout: 60_000 }, async t => {
  await addOrders(site.platform)
  const visitor = await visit(t, site.platform, { language: 'uk-UA', viewport: phone })
  if (!visitor) return
  const { page, walk } = visitor
  await visitor.logIn(site.admin, '/operator/audit')
  for (const [path, seen] of [
    ['', 'Усі перевірки пройдено'],
    ['/partners', 'У застосунку банку'],
    ['/access?tab=credentials', 'Новий секрет'],
    ['/mobile-operators', '30 днів'],
    ['/stock/kyivstar/eu-10gb', 'Завантажити профілі'],
    ['/orders', 'Показати ще'],
    [`/campaigns/${site.campaignId}`, 'Оплату отримано'],
    ['/customers', 'Знайти банк клієнта'],
    ['/audit', 'Усі перевірки пройдено'],
  ] as const) {
    await walk(`/operator${path}`)
    await sees(page, seen)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, path)
  }
  await walk('/operator/partners/merchants/grocer')
  await page.locator('input[type=file]').setInputFiles(csv('terminalId,name\n,Крамниця\n'))
  await sees(page, 'Рядок 2, terminalId: має бути від 1 до 128 символів в одному рядку')
  assert.match(visitor.errors.splice(0).join(), /400/)
  await walk('/operator/access?tab=credentials')
  await button(page, 'Видати ключ').click()
  await dialog(page).getByRole('button', { name: 'Видати ключ' }).click()
  await sees(page, 'Заповніть це поле')
  await assertAccessible(visitor)
})
