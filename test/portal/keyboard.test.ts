/**
 * The portal without a mouse, on slow computers and with bad connections, in a real browser: the focus, searches, and answers that
 * break off.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser, phone, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, inDays, openCampaignBank } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { button, field, sees, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let manager: Account
let banker: Account
let staff: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  manager = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
  banker = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  staff = await addAccount(platform, 'platform', 'admin')
  for (let each = 0; each < 21; each++)
    await createCampaign(platform, { name: `Many ${each}`, dateTo: inDays(platform, 20 + each) })
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent`)

suite('the focus', () => {
  test('stays on the page when the pressed button is disabled or gone', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, '/merchant/campaigns?name=Many')
    await button(page, 'Next page').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/page=2/)
    await page.locator('[aria-current=page][aria-label="Page 2"]:focus').waitFor()
    await page.getByRole('searchbox').fill('none of these')
    await button(page, 'Clear filters').focus()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus').waitFor()
    await page.getByRole('searchbox').fill('Many')
    await button(page, 'Clear the search').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => !url.searchParams.has('name'))
    await page.locator('input[type=search]:focus').waitFor()
  })

  test('on a phone: never goes to an invisible element', async t => {
    const visitor = await visit(t, platform, { viewport: phone })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank/campaigns')
    await page.getByRole('link', { name: 'Many 20' }).waitFor()
    await page.getByRole('combobox', { name: 'Sort' }).first().focus()
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Many 20')
  })

  test('on a phone: goes through the navigation only while it is open', async t => {
    const visitor = await visit(t, platform, { viewport: phone })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank/campaigns')
    await page.getByRole('link', { name: 'Many 20' }).waitFor()
    const link = page.getByRole('link', { name: 'Campaigns', exact: true })
    // Tab first reaches the link to the content and the buttons of the header. The closed navigation would come next.
    for (let stop = 0; stop < 16; stop++) {
      await page.keyboard.press('Tab')
      assert.equal(
        await page.evaluate(`document.activeElement.getBoundingClientRect().right > 0`),
        true,
        await focused(page),
      )
    }
    await button(page, 'Open the navigation').click()
    await link.focus()
    await page.locator('nav a:focus').waitFor()
    await page.keyboard.press('Enter')
    await button(page, 'Open the navigation').waitFor()
    await link.waitFor({ state: 'hidden' })
  })

  test('on a phone: stays out of the page behind the open navigation, which Escape closes', async t => {
    const visitor = await visit(t, platform, { viewport: phone })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank/campaigns')
    await page.getByRole('link', { name: 'Many 20' }).waitFor()
    await button(page, 'Open the navigation').click()
    const navigation = page.getByRole('navigation', { name: 'Main navigation' })
    await navigation.getByRole('link').last().focus()
    for (let stop = 0; stop < 8; stop++) {
      await page.keyboard.press('Tab')
      assert.equal(await page.evaluate(`document.activeElement.closest('main') !== null`), false, await focused(page))
    }
    await navigation.getByRole('link').last().focus()
    await page.keyboard.press('Escape')
    await navigation.waitFor({ state: 'hidden' })
    assert.equal(await focused(page), 'Open the navigation')
    await page.keyboard.press('Enter')
    await button(page, 'Close the navigation').waitFor()
    // Without a burger the navigation is beside the page, and covers nothing.
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('link', { name: 'Many 20' }).click()
    await titled(page, 'Many 20')
  })

  test('is never under the header on the way back through a page', async t => {
    const visitor = await visit(t, platform, { viewport: { width: 390, height: 500 } })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, '/bank/campaigns')
    await page.getByRole('link', { name: 'Many 20' }).waitFor()
    await button(page, 'Next page').focus()
    const hidden: string[] = []
    for (let stop = 0; stop < 24; stop++) {
      await page.keyboard.press('Shift+Tab')
      const isHidden = await page.evaluate<boolean>(`document.activeElement.closest('main') !== null &&
        document.activeElement.getBoundingClientRect().top < document.querySelector('header').getBoundingClientRect().bottom`)
      if (isHidden) hidden.push(await focused(page))
    }
    assert.deepEqual(hidden, [])
  })

  test('reaches the button that shows the password', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.open('/')
    const password = page.locator('input[autocomplete=current-password]')
    await password.fill('Correct horse battery')
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Show the password')
    await page.keyboard.press('Space')
    assert.equal(await field(page, 'Password').inputValue(), 'Correct horse battery')
    assert.equal(await password.getAttribute('type'), 'text')
  })
})

test('a slow computer loses no letter of a search', async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(banker, '/bank/campaigns')
  await page.getByRole('link', { name: 'Many 20' }).waitFor()
  const browser = await page.context().newCDPSession(page)
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 6 })
  const search = page.getByRole('searchbox')
  await search.focus()
  // Each pause is as long as the field waits before it reports the text.
  for (const letter of 'Many 20') {
    await page.keyboard.type(letter)
    await page.waitForTimeout(330)
  }
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.waitForURL(/name=Many(\+|%20)20/)
  assert.equal(await search.inputValue(), 'Many 20')
})

test('a page kept for “Back” shows nothing after a logout in another tab', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(banker, '/bank/campaigns')
  await titled(page, 'Campaigns')
  // A page that the browser keeps for "Back" gets no event when another tab changes the storage.
  await page.evaluate(`localStorage.removeItem('perkline.session')
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
  await page.waitForURL('**/login*')
  await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor()
})

suite('a bad connection', () => {
  test('in the middle of a file: the message does not blame the platform', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await page.addInitScript(`{
      const fetch = window.fetch
      const begun = new TextEncoder().encode('id,name')
      window.fetch = (asked, options) => String(asked.url ?? asked).includes('csv')
        ? Promise.resolve(new Response(new ReadableStream({ start(stream) {
            stream.enqueue(begun)
            setTimeout(() => stream.error(new TypeError('network error')), 50)
          } })))
        : fetch(asked, options)
    }`)
    await visitor.logIn(banker, '/bank/campaigns')
    await button(page, 'Export CSV').click()
    await sees(page, /can’t be reached/)
  })

  test('in the middle of an answer: the next try is the same request', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await page.addInitScript(`{
      const fetch = window.fetch
      window.keys = []
      window.fetch = (asked, options) => {
        if (!String(asked.url).endsWith('/confirm')) return fetch(asked, options)
        keys.push(asked.headers.get('idempotency-key'))
        return Promise.resolve(new Response(new ReadableStream({ start(stream) {
          stream.error(new TypeError('network error'))
        } }), { status: 201, headers: { 'content-type': 'application/json' } }))
      }
    }`)
    const id = await createCampaign(platform, { name: 'Cut off' })
    const bank = await openCampaignBank(platform)
    assert.equal((await bank.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    await visitor.logIn(manager, `/merchant/campaigns/${id}`)
    for (const count of [1, 2]) {
      await button(page, /^Launch/)
        .first()
        .click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Launch/ })
        .click()
      await until('the request is sent', () => page.evaluate(`keys.length === ${count}`))
      await sees(page, /can’t be reached/)
    }
    assert.equal(await page.evaluate('new Set(keys).size'), 1)
  })

  test('or a busy platform is not shown as “not found”', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, errors } = visitor
    const id = '01a22460-45ad-7d5c-bb93-72b83f12c2e8'
    await page.route(/\/(esim|admin|partner|portal)\/(?!session).*/, route =>
      route.request().url().includes('/app/') ? route.continue() : route.fulfill({ status: 429, json: {} }),
    )
    for (const [account, path, name] of [
      [banker, `/bank/esim/orders/${id}`, 'This order can’t be shown'],
      [banker, `/bank/statements/${id}`, 'This statement can’t be shown'],
      [staff, `/operator/orders/${id}`, 'This order can’t be shown'],
      [staff, `/operator/campaigns/${id}`, 'This campaign can’t be shown'],
      [staff, '/operator/partners/banks/alpha', 'This partner can’t be shown'],
      [staff, '/operator/stock/kyivstar/eu-10gb', 'This tariff can’t be shown'],
    ] as const) {
      await visitor.empty()
      await visitor.logIn(account, path)
      await titled(page, name)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    assert.ok(errors.splice(0).every(error => error.includes('429')))
  })
})

test('the focus goes to the heading when its button is gone because somebody else was faster', async t => {
  // This test moves the browser's clock, which cannot be undone, so it needs a browser of its own.
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await page.clock.install()
  const id = await createCampaign(platform, { name: 'Faster' })
  await visitor.logIn(banker, `/bank/campaigns/${id}`)
  const takePart = button(page, 'Take part').first()
  await takePart.focus()
  const bank = await openCampaignBank(platform)
  assert.equal((await bank.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  // The page reads the campaign every 30 s.
  await page.clock.fastForward('00:31')
  await takePart.waitFor({ state: 'detached' })
  await page.locator('h1:focus').waitFor()
})
