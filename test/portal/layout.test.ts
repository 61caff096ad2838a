/** The layout of pages in a real browser: a page opens at its top, and long values do not hide other content. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser, type Visitor, visit } from '../support/browser.ts'
import { createCampaign } from '../support/campaigns.ts'
import { openBank } from '../support/esim.ts'
import { type OperatorSite, openOperatorSite } from '../support/operator-site.ts'
import { button, endSessionIn, field, isInView, titled } from '../support/pages.ts'
import { type Account, addAccount } from '../support/portal.ts'

let site: OperatorSite
let merchant: Account
let bank: Account
before(async () => {
  site = await openOperatorSite()
  merchant = await addAccount(site.platform, { merchant: 'grocer' }, 'admin_user')
  bank = await addAccount(site.platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await closeBrowser()
  await site.platform.close()
})

test('a campaign opens at its top, with the current tab in sight', { timeout: 60_000 }, async t => {
  const id = await createCampaign(site.platform, { name: 'Autumn' })
  const visitor = await visit(t, site.platform, { viewport: { width: 360, height: 420 } })
  if (!visitor) return
  const { page } = visitor
  for (const tab of ['', '?tab=history']) {
    await visitor.logIn(merchant, `/merchant/campaigns/${id}${tab}`)
    await titled(page, 'Autumn')
    const current = page.getByRole('tab', { selected: true })
    await current.waitFor()
    assert.equal(await page.evaluate('scrollY'), 0)
    const box = await current.boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box))
  }
})

const inSight = async ({ page }: Visitor, table: string) => {
  const found = page.getByRole('table', { name: table })
  await found.getByRole('row').nth(1).waitFor()
  const { width } = (await found.boundingBox()) ?? { width: 0 }
  const card = await found.locator('..').boundingBox()
  assert.ok(width > 0 && card && width <= card.width, `${table}: ${width} in ${card?.width} px`)
}

/** The heights of figures and instants, in lines of text. */
const linesOf = (page: Page) =>
  page.evaluate<number[]>(`[...document.querySelectorAll('td .figure')].map(each =>
    Math.round(each.getBoundingClientRect().height / parseFloat(getComputedStyle(each).lineHeight)))`)

test('a long value without spaces leaves the other columns in sight', { timeout: 60_000 }, async t => {
  const name = 'Банк'.repeat(30)
  const directory = `banks:\n  - { code: long, name: ${name}, logoUrl: "", apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }\n`
  const applied = await site.staff.call('POST', '/admin/directory', { body: { directory } })
  assert.equal(applied.status, 200, applied.text)
  await site.platform.addStock('kyivstar', 'eu-10gb', 1)
  const reserved = await (await openBank(site.platform)).reserve('x'.repeat(128))
  assert.equal(reserved.status, 201, reserved.text)
  const visitor = await visit(t, site.platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, '/bank/esim/orders')
  await page.getByText('x'.repeat(128)).waitFor()
  await inSight(visitor, 'eSIM orders')
  assert.ok((await linesOf(page)).every(lines => lines === 1))
  await visitor.logIn(site.admin, '/operator/partners')
  await page.getByText(name).waitFor()
  await inSight(visitor, 'Banks')
})

test('the campaigns of a bank fit beside the navigation, in both languages', { timeout: 60_000 }, async t => {
  await createCampaign(site.platform, { name: 'Everything for the new year' })
  for (const [language, table] of [
    ['en-GB', 'Campaigns'],
    ['uk-UA', 'Кампанії'],
  ] as const) {
    const visitor = await visit(t, site.platform, { language, viewport: { width: 1280, height: 800 } })
    if (!visitor) return
    await visitor.logIn(bank, '/bank/campaigns')
    await inSight(visitor, table)
  }
})

test('the focused field of the campaign form is in sight on small screens', { timeout: 90_000 }, async t => {
  for (const viewport of [
    { width: 320, height: 568 },
    { width: 640, height: 360 },
    { width: 320, height: 256 },
  ]) {
    const visitor = await visit(t, site.platform, { viewport })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, '/merchant/campaigns/new')
    await field(page, 'Name').focus()
    const hidden: string[] = []
    for (let stop = 0; stop < 25; stop++) {
      await page.keyboard.press('Tab')
      const covered = await page.evaluate<string | null>(`(() => {
        const focused = document.activeElement
        const { left, top, width, height } = focused.getBoundingClientRect()
        const shown = document.elementFromPoint(left + Math.min(width, 40) / 2, top + Math.min(height, 40) / 2)
        const isSeen = shown !== null && (shown === focused || focused.contains(shown) || shown.contains(focused) ||
          focused.parentElement.contains(shown))
        return isSeen ? null : focused.outerHTML.slice(0, 80)
      })()`)
      if (covered !== null) hidden.push(covered)
    }
    assert.deepEqual(hidden, [], `${viewport.width} × ${viewport.height}`)
  }
})

test('a focused text area of the campaign form is above the bar with the buttons', { timeout: 60_000 }, async t => {
  for (const viewport of [
    { width: 1366, height: 768 },
    { width: 390, height: 844 },
  ]) {
    const visitor = await visit(t, site.platform, { viewport })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, '/merchant/campaigns/new')
    const areas = page.locator('form textarea')
    await areas.first().waitFor()
    for (const area of await areas.all()) {
      await page.evaluate('scrollTo(0, 0)')
      await area.focus()
      const [box, bar] = await Promise.all([
        area.boundingBox(),
        page.locator('div:has(> div > button[type=submit])').last().boundingBox(),
      ])
      assert.ok(box && bar && box.y + box.height <= bar.y, JSON.stringify({ box, bar, viewport }))
    }
  }
})

test('on a phone, a notice leaves the buttons of the campaign form in sight', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, site.platform, { viewport: { width: 390, height: 844 } })
  if (!visitor) return
  const { page } = visitor
  await endSessionIn(page, () => 200_000)
  await visitor.logIn(merchant, '/merchant/campaigns/new')
  const notice = page.getByRole('alert').filter({ hasText: 'Your session ends at' })
  await notice.waitFor()
  await page.evaluate('new Promise(shown => setTimeout(shown, 500))')
  const [box, bar] = await Promise.all([
    notice.boundingBox(),
    page.locator('div:has(> div > button[type=submit])').last().boundingBox(),
  ])
  assert.ok(box && bar && box.y + box.height <= bar.y, JSON.stringify({ box, bar }))
})

test('the words of the tiles at home stay whole on the narrowest screen', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, site.platform, { viewport: { width: 320, height: 640 }, language: 'uk-UA' })
  if (!visitor) return
  const { page } = visitor
  for (const account of [merchant, bank]) {
    await visitor.empty()
    await visitor.logIn(account)
    await page.locator('section a p').first().waitFor()
    const broken = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('section a p')].flatMap(({ firstChild }) =>
      [...firstChild.data.matchAll(/\\S+/g)].flatMap(({ 0: word, index }) => {
        const range = document.createRange()
        range.setStart(firstChild, index)
        range.setEnd(firstChild, index + word.length)
        return range.getClientRects().length > 1 ? [word] : []
      }))`)
    assert.deepEqual(broken, [])
  }
})

/** The facts whose name or value is too wide for its cell. */
const overflowingFacts = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('dl > div')].flatMap(fact =>
    [fact, ...fact.querySelectorAll('dt, dd')]
      .filter(each => each.scrollWidth > each.clientWidth)
      .map(each => each.textContent + ': ' + each.scrollWidth + ' in ' + each.clientWidth + ' px'))`)

test('each fact of a campaign stays in its cell', { timeout: 90_000 }, async t => {
  const id = await createCampaign(site.platform, {
    name: 'Winter',
    dateFrom: '2026-12-19T22:00:00.000Z',
    dateTo: '2027-01-13T22:00:00.000Z',
    minAmount: 1000,
    maxAmount: 1_234_567.89,
    maxBudget: 12_345_678.9,
  })
  for (const language of ['uk-UA', 'en-GB'] as const) {
    const visitor = await visit(t, site.platform, { language })
    if (!visitor) return
    const { page } = visitor
    for (const [account, path] of [
      [bank, `/bank/campaigns/${id}`],
      [merchant, `/merchant/campaigns/${id}`],
    ] as const) {
      await visitor.logIn(account, path)
      await titled(page, 'Winter')
      await page.locator('dl').first().waitFor()
      for (const width of [1280, 1024]) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await overflowingFacts(page), [], `${path} in ${language} at ${width} px`)
      }
    }
  }
})

test('the navigation scrolls to its end on low screens', { timeout: 60_000 }, async t => {
  for (const viewport of [
    { width: 1280, height: 500 },
    { width: 320, height: 256 },
  ]) {
    const visitor = await visit(t, site.platform, { viewport })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(site.admin, '/operator')
    if (viewport.width < 768) await button(page, 'Open the navigation').click()
    const last = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link').last()
    await last.waitFor()
    const { height } = viewport
    assert.equal(await isInView(page, last), false, 'the screen is too low for the whole navigation')
    await page.mouse.move(100, height - 40)
    for (let turn = 0; turn < 10 && !(await isInView(page, last)); turn++) await page.mouse.wheel(0, 200)
    assert.equal(await isInView(page, last), true, `${viewport.width} × ${height}`)
  }
})

test('on the narrowest screen, a list shows every value that no other page shows', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, site.platform, { viewport: { width: 320, height: 640 } })
  if (!visitor) return
  const { page } = visitor
  await openBank(site.platform)
  for (const [account, path, titles] of [
    [bank, '/account/people', ['Two-step login', 'Last active']],
    [bank, '/account/credentials', ['Issued by', 'Last used']],
    [site.admin, '/operator/access', ['Created']],
    [site.admin, '/operator/access?tab=credentials', ['Created']],
  ] as const) {
    await visitor.empty()
    await visitor.logIn(account, path)
    for (const title of titles) {
      const cell = page.locator(`td[data-title="${title}"]`).filter({ hasText: /\S/ }).first()
      await cell.waitFor({ timeout: 10_000 })
    }
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, path)
  }
})
