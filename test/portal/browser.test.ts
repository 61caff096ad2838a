/**
 * The portal's frame in a real browser: login and its errors, the way back after the end of a session, languages,
 * colours, a phone.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { disableUser } from '../../src/access/operations.ts'
import { assertAccessible, assertCount, closeBrowser, fillLogin, phone, visit } from '../support/browser.ts'
import { endSessionIn } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

const gzippedScriptLimit = 250_000

let platform: TestPlatform
let merchant: Account
let bank: Account
let staff: Account
before(async () => {
  platform = await startPlatform()
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
  bank = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  staff = await addAccount(platform, 'platform', 'admin')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

suite('login', () => {
  test('each kind of account gets to its own pages, by keyboard alone', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, empty } = visitor
    for (const [account, area, name] of [
      [merchant, 'merchant', 'Grocer'],
      [bank, 'bank', 'Alpha Bank'],
      [staff, 'operator', 'Perkline'],
    ] as const) {
      await empty()
      await open('/')
      await page.waitForURL('**/app/login')
      await page.locator(`input[type=radio][value=${account.typeAccount}] + label`).click()
      await page.getByRole('textbox', { name: 'Login' }).focus()
      await page.keyboard.type(account.login)
      await page.keyboard.press('Tab')
      await page.keyboard.type(account.password)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/app/${area}`)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      assert.equal(await page.title(), name === 'Perkline' ? name : `${name} · Perkline`)
    }
  })

  test('a wrong password, then the right one', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, errors } = visitor
    await open('/login')
    await fillLogin(page, { ...merchant, password: 'wrong' })
    await page.getByRole('alert').getByText('Wrong login, password or account type').waitFor()
    const password = page.locator('input[autocomplete=current-password]')
    assert.equal(await password.inputValue(), '')
    assert.equal(await page.evaluate(`document.activeElement.autocomplete`), 'current-password')
    assert.match(errors.splice(0).join(), /401/)
    await assertAccessible(visitor)
    // Phones often add a space after a completed word.
    await fillLogin(page, { ...merchant, login: ` ${merchant.login} ` })
    await page.waitForURL('**/app/merchant')
  })

  test('what failed before it is told once, in the person’s language, and not after logging out', async t => {
    const person = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
    for (const [language, texts] of [
      [
        'en-GB',
        [/^Before this login, your password or code was wrong or missing 2 times \(since /, 'Your account', 'Log out'],
      ],
      [
        'uk-UA',
        [
          /^Перед цим входом ваш пароль або код 2 рази був неправильним або відсутнім \(від /,
          'Ваш обліковий запис',
          'Вийти',
        ],
      ],
    ] as const) {
      const visitor = await visit(t, platform, { language })
      if (!visitor) return
      const { page, open } = visitor
      const [notice, account, leave] = texts
      const password = 'wrong'
      for (let index = 0; index < 2; index++)
        assert.equal((await platform.call('POST', '/portal/session', { body: { ...person, password } })).status, 401)
      await open('/login')
      await fillLogin(page, person)
      await page.waitForURL('**/app/bank')
      await page.getByText(notice).waitFor()
      await assertAccessible(visitor)
      await page.getByRole('button', { name: account }).click()
      await page.getByRole('menuitem', { name: leave }).click()
      await page.waitForURL('**/app/login*')
      await page.getByText(notice).waitFor({ state: 'detached' })
      await fillLogin(page, person)
      await page.waitForURL('**/app/bank')
      await page.getByRole('navigation').first().waitFor()
      await page.waitForLoadState('networkidle')
      assert.equal(await page.getByText(notice).count(), 0)
    }
  })

  test('a missing value is shown at its field, without a request', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open } = visitor
    await open('/login')
    await page.getByRole('button', { name: 'Log in' }).click()
    await assertCount(page.getByText('Fill this in'), 2)
    assert.equal(await page.getByRole('textbox', { name: 'Login' }).getAttribute('aria-invalid'), 'true')
  })

  test('the platform away: a message, and the login works once it is back', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, errors } = visitor
    await open('/login')
    await page.route('**/portal/session', route => route.abort())
    await fillLogin(page, merchant)
    await page.getByRole('alert').getByText('can’t be reached').waitFor()
    assert.match(errors.splice(0).join(), /ERR_FAILED/)
    await page.unroute('**/portal/session')
    await fillLogin(page, merchant)
    await page.waitForURL('**/app/merchant')
  })
})

suite('a session', () => {
  test('is out of scripts’ reach, and outlives a reload', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open } = visitor
    await open('/login')
    await fillLogin(page, bank)
    await page.waitForURL('**/app/bank')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Alpha Bank' }).waitFor()
    const kept = await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')
    assert.doesNotMatch(String(kept), /eyJ|perkline_session/)
  })

  test('ends by logging out, in every tab', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn } = visitor
    await logIn(merchant)
    const other = await page.context().newPage()
    await other.goto('/app/merchant')
    await other.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.waitForURL('**/app/login*')
    await page.getByText('You are logged out.').waitFor()
    await other.waitForURL('**/app/login*')
    const [cookie] = await page.context().cookies()
    assert.equal(cookie, undefined)
    await page.goto('/app/merchant')
    await page.waitForURL('**/app/login*')
  })

  test('that has ended leads to the login, and after the login back to the same address', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn, open, errors } = visitor
    await logIn(merchant)
    await page.context().clearCookies()
    await open('/merchant?page=2&name=autumn')
    await page.waitForURL('**/app/login*')
    await fillLogin(page, merchant)
    await page.waitForURL('**/app/merchant?page=2&name=autumn')
    // The refused requests are those for the session and for preloaded data.
    const refused = errors.splice(0)
    assert.ok(refused.length > 0 && refused.every(error => error.includes('401')), refused.join())
  })

  test('of a disabled user ends on the open page with a message', async t => {
    const gone = await addAccount(platform, { merchant: 'grocer' }, 'editor')
    // This test moves the browser's clock, which cannot be undone, so it needs a browser of its own.
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page, logIn, errors } = visitor
    await logIn(gone)
    await disableUser({ database: platform.platform.database }, gone.login)
    await platform.platform.deps.admin.refusals.refresh()
    // When the page becomes visible again, it checks who is logged in.
    await page.clock.install()
    await page.clock.fastForward('05:00')
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await page.getByText('Your session has ended').waitFor()
    assert.match(errors.splice(0).join(), /401/)
  })

  test('that will soon end says so, without taking the focus, and a new login keeps input and page', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn } = visitor
    let endsInMs = 303_000
    await endSessionIn(page, () => endsInMs)
    const manager = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
    await logIn(manager, '/merchant/campaigns/new')
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Half-written')
    const notice = page.getByRole('alert').filter({ hasText: 'Your session ends at' })
    assert.equal(await notice.count(), 0, 'only in the last five minutes')
    await notice.waitFor()
    assert.equal(await page.evaluate('document.activeElement.value'), 'Half-written')
    await assertAccessible(visitor)
    endsInMs = 7_200_000
    await notice.getByRole('button', { name: 'Log in again' }).click()
    const question = page.getByRole('dialog', { name: 'Log in again' })
    await question.waitFor()
    await assertAccessible(visitor)
    await question.getByRole('button', { name: 'Log in again' }).click()
    await page.waitForURL('**/app/login*')
    await notice.waitFor({ state: 'detached' })
    assert.equal((await page.request.get('/portal/session')).status(), 401, 'the old session has ended')
    await fillLogin(page, manager)
    await page.waitForURL('**/app/merchant/campaigns/new')
    await page.getByText('have been restored').waitFor()
    assert.equal(await name.inputValue(), 'Half-written')
    assert.equal(await notice.count(), 0)
  })

  test('is told once that it will end, also when the language changes', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page, logIn } = visitor
    await page.clock.install()
    await logIn(bank, '/bank')
    await page.getByRole('heading', { level: 1, name: 'Alpha Bank' }).waitFor()
    await page.clock.fastForward('01:56:00')
    const notice = page.getByRole('alert').filter({ hasText: /Your session ends at|Ваш сеанс завершиться/ })
    await notice.waitFor()
    await page.getByRole('button', { name: 'Українська' }).click()
    await notice.getByText('Ваш сеанс завершиться').waitFor()
    await notice
      .getByRole('button', { name: 'Закрити' })
      .or(notice.getByRole('button', { name: 'Close' }))
      .click()
    await notice.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('button', { name: 'Українська' }).waitFor()
    await page.clock.runFor(2000)
    assert.equal(await notice.count(), 0)
  })

  test('leads nobody to the pages of another kind of account', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn, open } = visitor
    await logIn(bank, '/merchant')
    await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor()
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Go to home' }).click()
    await page.waitForURL('**/app/bank')
    await open('/login?back=https://elsewhere.example/')
    await page.waitForURL('**/app/bank')
  })

  test('requests no data of pages for another kind of account', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn, open } = visitor
    await logIn(await addAccount(platform, 'platform', 'admin'))
    const read: string[] = []
    page.on('request', request => read.push(new URL(request.url()).pathname))
    for (const area of ['/bank', '/merchant']) {
      await open(area)
      await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor()
    }
    assert.ok(!read.includes('/portal/home'), read.join())
  })
})

suite('the frame', () => {
  test('uses the browser’s language until a person switches it, and keeps the choice', async t => {
    const visitor = await visit(t, platform, { language: 'uk-UA' })
    if (!visitor) return
    const { page, open } = visitor
    await open('/login')
    await page.getByRole('heading', { level: 1, name: 'Вхід' }).waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'uk')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'en')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor()
    assert.equal(await page.title(), 'Log in · Perkline')
  })

  test('is dark like the system until a person switches it, and keeps the choice', async t => {
    const visitor = await visit(t, platform, { colourScheme: 'dark' })
    if (!visitor) return
    const { page, logIn } = visitor
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    await logIn(merchant)
    assert.equal(await scheme(), 'dark')
    await page.getByRole('button', { name: 'Use light theme' }).click()
    assert.equal(await scheme(), 'light')
    await page.reload({ waitUntil: 'commit' })
    await page.getByRole('banner').waitFor()
    assert.equal(await scheme(), 'light')
  })

  test('keeps the time zone that somebody chooses', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn } = visitor
    await logIn(merchant)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Time zone' }).click()
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    assert.equal(await zone.inputValue(), 'Europe/Kyiv')
    await zone.fill('warsaw')
    await page.getByRole('option', { name: 'Europe/Warsaw' }).click()
    await assertAccessible(visitor)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Europe/Warsaw' }).waitFor()
  })

  test('on a phone: the navigation opens and closes, and nothing is wider than the screen', async t => {
    const visitor = await visit(t, platform, { viewport: phone })
    if (!visitor) return
    const { page, logIn, empty } = visitor
    const isTooWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth')
    for (const account of [merchant, bank, staff]) {
      await empty()
      await logIn(account)
      assert.equal(await isTooWide(), false)
      await assertAccessible(visitor)
      await page.getByRole('button', { name: 'Open the navigation' }).click()
      await page.getByRole('link', { name: 'Home', exact: true }).click()
      await page.getByRole('button', { name: 'Open the navigation' }).waitFor()
    }
  })

  test('by keyboard: past the navigation to the content; after a navigation the heading has the focus', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, logIn, open } = visitor
    await logIn(merchant)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
    for (const path of ['/nowhere', '/merchant/nowhere']) {
      await open(path)
      await page.getByRole('main').getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
      await page.getByRole('navigation').first().waitFor()
    }
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Go to home' }).click()
    await page.waitForURL('**/app/merchant')
    await page.locator('h1:focus').waitFor()
  })

  test('is for everybody, in light and in dark', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, open, logIn } = visitor
    await open('/login')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await assertAccessible(visitor)
    await logIn(merchant)
    await assertAccessible(visitor)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).waitFor()
    await assertAccessible(visitor)
  })

  test('requests the data of a first page at the same time as its script, and only once', async t => {
    for (const [account, path, ...reads] of [
      [merchant, '/merchant', '/portal/home', '/portal/home'],
      [merchant, '/merchant/campaigns', '/cashbacks/for-merchant', '/portal/home'],
      [bank, '/bank', '/portal/home', '/portal/home'],
      [staff, '/operator', '/admin/overview', '/admin/stock-desk', '/admin/audit/last'],
    ] as const) {
      const visitor = await visit(t, platform, { isNew: true })
      if (!visitor) return
      const { page, open } = visitor
      await open('/login')
      await fillLogin(page, account)
      await page.getByRole('navigation').first().waitFor()
      await page.waitForLoadState('networkidle')
      const asked: [path: string, type: string][] = []
      page.on('request', request => asked.push([new URL(request.url()).pathname, request.resourceType()]))
      await open(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      const ofPlatform = asked.filter(([pathname]) => !pathname.startsWith('/app'))
      assert.deepEqual(ofPlatform.map(([pathname]) => pathname).sort(), [...reads, '/portal/session'].sort(), path)
      // No script has sent these requests, because requests of scripts have the type `fetch`.
      assert.ok(
        ofPlatform.every(([, type]) => type !== 'fetch'),
        JSON.stringify(ofPlatform),
      )
    }
  })

  test('loads less than 250 kB of compressed script before a person can work', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page, open } = visitor
    const sizes: Promise<number>[] = []
    page.on('requestfinished', request => {
      if (request.resourceType() === 'script')
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    })
    await open('/login')
    await fillLogin(page, merchant)
    await page.getByRole('navigation').first().waitFor()
    await page.waitForLoadState('networkidle')
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    assert.ok(total > 50_000 && total < gzippedScriptLimit, `${total} bytes`)
  })
})
