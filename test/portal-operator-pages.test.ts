/** The operator's pages in a real browser: partners, access, tariffs, the stock desk, orders, campaigns, customers, the audit, a viewer. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { profileLines } from '../samples/make-profiles.ts'
import { assertAccessible, assertCount, closeBrowser, phone, type Visitor, visit } from './support/browser.ts'
import { campaignDirectory, ids } from './support/campaigns.ts'
import { openBank } from './support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from './support/platform.ts'
import { type Account, addAccount, type Browser, openBrowser } from './support/portal.ts'
import { endedCampaign, header, move, openSides, uploadBank } from './support/reconciliation.ts'

const directory = `${campaignDirectory}${testDirectory.slice(testDirectory.indexOf('esim:\n'))}`

let platform: TestPlatform
let staff: Browser
let admin: Account
let viewer: Account
let soldId: string
let campaignId: string
before(async () => {
  platform = await startPlatform({}, { directory })
  staff = await openBrowser(platform, 'platform', 'admin')
  admin = await addAccount(platform, 'platform', 'admin')
  viewer = await addAccount(platform, 'platform', 'viewer')
  const sides = await openSides(platform)
  await platform.addStock('kyivstar', 'eu-10gb', 3)
  const bank = await openBank(platform, sides.alpha.token)
  soldId = (await bank.reserve('INV-1')).body.orderId
  assert.equal((await bank.confirm(soldId)).status, 200)
  assert.equal((await bank.cancel((await bank.reserve('INV-2')).body.orderId)).status, 200)

  const ended = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Summer' })
  campaignId = ended.id
  const report = `${header}\nTX-1,T-0001,${ended.at},1000.00,50.00\n`
  assert.equal((await uploadBank(sides.alpha, campaignId, report)).status, 201)
  for (const [partner, path] of [
    [sides.grocer, `banks/${ids.alpha}/accept-report`],
    [sides.grocer, `banks/${ids.alpha}/settle`],
    [sides.grocer, 'compensation-paid'],
    [sides.alpha, 'compensation-received'],
  ] as const) {
    const answer = await move(partner, `${campaignId}/${path}`)
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  }
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const read = async (path: string) => (await staff.call('GET', `/admin${path}`)).body
const csv = (text: string) => ({ name: 'profiles.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const field = (page: Page, name: string) => page.getByRole('textbox', { name })
const titled = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const dialog = (page: Page) => page.getByRole('dialog')
/** What a person waits for: a notice, a status, a sentence. */
const sees = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor()

/** In the dialog that has opened. */
const press = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click()
const gone = (page: Page) => dialog(page).waitFor({ state: 'detached' })

async function enter(t: Parameters<typeof visit>[0], path: string, as = admin): Promise<Visitor | null> {
  const visitor = await visit(t, platform)
  await visitor?.logIn(as, path)
  return visitor
}

test('the home page tells what runs out, whether the books are right, and leads there', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(admin)
  await sees(page, 'Every check of the audit holds.')
  await sees(page, '1 suspended')
  await assertAccessible(visitor)
  await page.getByRole('link', { name: 'Київстар · Without stock' }).click()
  await titled(page, 'Without stock')
  await page.getByRole('link', { name: 'Audit' }).click()
  await sees(page, 'Every check holds')
  await button(page, 'Check again').click()
  // While they are read again, the rows that are there already are faint.
  await page.locator('button[data-loading]').waitFor({ state: 'detached' })
  await row(page, 'no profile is on two live orders').getByText('Holds').waitFor()
  await assertAccessible(visitor)
})

suite('partners and access', { timeout: 120_000 }, () => {
  test('a bank is added, with the rules at its fields, and suspended', async t => {
    const visitor = await enter(t, '/operator/partners')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Add a bank').click()
    await page.locator('[data-path=code]:focus').waitFor()
    await field(page, 'Code').fill('delta bank')
    await press(page, 'Save')
    await sees(page, /^Must be 1 to 64 letters/)
    assert.equal(await field(page, 'Code').getAttribute('aria-invalid'), 'true')
    assert.match(errors.splice(0).join(), /400/)
    await assertAccessible(visitor)
    await field(page, 'Code').fill('delta')
    await field(page, 'Name').fill('Delta Bank')
    await dialog(page).getByRole('switch', { name: 'Sells every mobile operator' }).press('Space')
    await dialog(page).getByRole('combobox', { name: 'Mobile operators' }).click()
    await page.getByRole('option', { name: 'Роамвайд' }).click()
    await page.keyboard.press('Tab')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Delta Bank is saved')
    await gone(page)
    const suspend = row(page, 'Delta Bank').getByRole('button', { name: 'Suspend' })
    // Whoever presses Enter or Escape without reading has done nothing, and is where they were.
    for (const key of ['Enter', 'Escape']) {
      await suspend.press('Enter')
      await sees(page, /^Its tokens stop working/)
      await page.locator('button:focus', { hasText: 'Cancel' }).waitFor()
      await page.keyboard.press(key)
      await gone(page)
      await page.locator('button:focus', { hasText: 'Suspend' }).waitFor()
    }
    await suspend.click()
    await press(page, 'Suspend')
    await sees(page, 'Delta Bank is suspended')
    await row(page, 'Delta Bank').getByRole('button', { name: 'Resume' }).waitFor()
    const { banks } = await read('/partners')
    const { entry } = banks.find((bank: any) => bank.entry.code === 'delta')
    assert.deepEqual([entry.name, entry.status, entry.esim.operators], ['Delta Bank', 'suspended', ['roamwide']])
    const edited = row(page, 'Alpha Bank').getByRole('button', { name: 'Edit' })
    await edited.click()
    assert.ok(await dialog(page).getByRole('switch', { name: 'Sells every mobile operator' }).isChecked())
    await press(page, 'Cancel')
    await gone(page)
    await assertAccessible(visitor)
  })

  test('a merchant is found and changed; what the form does not show stays', async t => {
    const visitor = await enter(t, '/operator/partners?tab=merchants')
    if (!visitor) return
    const { page } = visitor
    await page.getByRole('searchbox', { name: 'Search merchants' }).fill('вольт')
    await page.waitForURL(/search=/)
    await row(page, 'Вольт').getByRole('button', { name: 'Edit' }).click()
    await field(page, 'Name in English').fill('Volt')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Вольт is saved')
    const [{ entry, terminals }] = (await read('/partners?search=volt')).merchants.data
    assert.deepEqual([entry.nameEn, entry.excludedBanks, terminals], ['Volt', ['beta'], 1])
    await assertAccessible(visitor)
  })

  test('a new merchant is added, with the rules at its fields', async t => {
    const visitor = await enter(t, '/operator/partners?tab=merchants')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Add a merchant').click()
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('bakery')
    await press(page, 'Save')
    await sees(page, '1 to 200 characters, in one line')
    assert.match(errors.splice(0).join(), /400/)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Пекарня')
    await field(page, 'Domains').fill('bakery.example, bread.example')
    await dialog(page).getByRole('combobox', { name: 'Excluded banks' }).click()
    await page.getByRole('option', { name: 'Бета Банк' }).click()
    await page.keyboard.press('Tab')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Пекарня is saved')
    await row(page, 'Пекарня').waitFor()
    const [{ entry, terminals }] = (await read('/partners?search=bakery')).merchants.data
    const { status, domain, excludedBanks } = entry
    assert.deepEqual(
      [status, domain, excludedBanks, terminals],
      ['active', ['bakery.example', 'bread.example'], ['beta'], 0],
    )
  })

  test('a user is added for a merchant that is looked up, and switched off', async t => {
    const visitor = await enter(t, '/operator/access')
    if (!visitor) return
    const { page, errors } = visitor
    await assertAccessible(visitor)
    await button(page, 'Add a user').click()
    await press(page, 'Add a user')
    await sees(page, 'Fill this in')
    await page.getByRole('combobox', { name: 'Merchant' }).fill('grocer')
    await page.getByRole('option', { name: 'Гросер' }).click()
    await field(page, 'Login').fill(admin.login)
    await page.locator('input[autocomplete=new-password]').fill('a long password of hers')
    await press(page, 'Add a user')
    await sees(page, `The login ${admin.login} is taken`)
    assert.match(errors.splice(0).join(), /409/)
    await assertAccessible(visitor)
    await field(page, 'Login').fill('olena')
    await press(page, 'Add a user')
    await sees(page, 'olena can log in')
    await gone(page)
    assert.equal(await row(page, admin.login).getByRole('button').count(), 0, 'nobody locks themselves out')
    await row(page, 'olena').getByRole('button', { name: 'Switch off' }).click()
    await press(page, 'Switch off')
    await row(page, 'olena').getByText('Disabled').waitFor()
    const olena = (await read('/users')).find((user: any) => user.login === 'olena')
    assert.deepEqual([olena.merchant, olena.role, olena.disabledAt !== null], ['grocer', 'editor', true])
  })

  test('a credential’s secret is shown once, and again only as a new one', async t => {
    const visitor = await enter(t, '/operator/access?tab=credentials')
    if (!visitor) return
    const { page } = visitor
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Issue a credential').click()
    await page.getByRole('combobox', { name: 'Bank', exact: true }).click()
    await page.getByRole('option', { name: 'Бета Банк' }).click()
    await field(page, 'Purpose').fill('Beta’s backend')
    await assertAccessible(visitor)
    await press(page, 'Issue a credential')
    await sees(page, 'The secret, shown this once')
    await assertAccessible(visitor)
    const first = await keepSecret(visitor)
    await row(page, 'Beta’s backend').getByRole('button', { name: 'New secret' }).click()
    await press(page, 'New secret')
    const second = await keepSecret(visitor)
    assert.equal(second.clientId, first.clientId)
    assert.notEqual(second.secret, first.secret)
    for (const body of [first, second])
      assert.equal(
        (await platform.call('POST', '/getToken/auth', { body })).status,
        200,
        'the one before works for a day',
      )
    await row(page, 'Beta’s backend').getByText('Expiring').waitFor()
    await assertAccessible(visitor)
    await row(page, 'Beta’s backend').getByRole('button', { name: 'Revoke' }).click()
    await press(page, 'Revoke')
    await row(page, 'Beta’s backend').getByText('Revoked').waitFor()
    assert.equal((await platform.call('POST', '/getToken/auth', { body: second })).status, 400)
  })
})

/** Copies the secret that is shown; a slip of the hand does not close it, and afterwards the page knows it no more. */
async function keepSecret({ page }: Visitor): Promise<{ clientId: string; secret: string }> {
  await sees(page, 'The secret, shown this once')
  const clientId = await field(page, 'Client id').inputValue()
  const secret = await field(page, 'Secret').inputValue()
  assert.ok(secret.length >= 32)
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await press(page, 'Copy')
  await press(page, 'Copied')
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
  await press(page, 'I have it')
  await gone(page)
  const kept = `document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(each => each.value)
    + JSON.stringify([localStorage, sessionStorage])`
  assert.ok(!String(await page.evaluate(kept)).includes(secret))
  return { clientId, secret }
}

suite('eSIM', { timeout: 120_000 }, () => {
  const tariff = async (code: string) => {
    const { mobileOperators } = await read('/partners')
    return mobileOperators.flatMap((operator: any) => operator.tariffs).find((each: any) => each.code === code)
  }

  test('a tariff goes off sale and on again, changes its price, and its operator is suspended', async t => {
    const visitor = await enter(t, '/operator/mobile-operators')
    if (!visitor) return
    const { page, errors } = visitor
    const onSale = page.getByRole('switch', { name: 'On sale: Ukraine 5 GB' })
    for (const isOn of [false, true]) {
      await onSale.press('Space')
      await sees(page, `Ukraine 5 GB is ${isOn ? 'on' : 'off'} sale`)
      assert.equal((await tariff('ua-5gb')).onSale, isOn)
    }
    await row(page, 'Ukraine 5 GB').getByRole('button', { name: 'Edit' }).click()
    await field(page, 'Price').fill('')
    await press(page, 'Save')
    await sees(page, 'Fill this in')
    assert.match(errors.splice(0).join(), /400/)
    await assertAccessible(visitor)
    await field(page, 'Price').fill('149.5')
    await press(page, 'Save')
    await sees(page, '₴149.50')
    assert.equal((await tariff('ua-5gb')).price, 149.5)
    assert.equal((await tariff('eu-10gb')).price, 399)
    await gone(page)
    const status = page.getByRole('combobox', { name: 'Status: Роамвайд' })
    await status.selectOption('suspended')
    await press(page, 'Suspend')
    await sees(page, 'Роамвайд is saved')
    assert.equal(await status.inputValue(), 'suspended')
    await assertAccessible(visitor)
  })

  test('a new tariff is added to its operator', async t => {
    const visitor = await enter(t, '/operator/mobile-operators')
    if (!visitor) return
    const { page, errors } = visitor
    await page.getByRole('region', { name: 'Роамвайд' }).getByRole('button', { name: 'Add a tariff' }).click()
    await press(page, 'Save')
    await sees(page, /^Must be 1 to 64 letters|^Fill this in/)
    assert.match(errors.splice(0).join(), /400/)
    await field(page, 'Code').fill('asia-3gb')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Asia 3 GB')
    await field(page, 'Price').fill('12.4')
    await field(page, 'Currency').fill('EUR')
    await field(page, 'Data in MB').fill('3072')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Asia 3 GB is saved')
    await row(page, 'Asia 3 GB').getByText('€12.40').waitFor()
    const { price, currency, dataVolumeMb, onSale } = await tariff('asia-3gb')
    assert.deepEqual([price, currency, dataVolumeMb, onSale], [12.4, 'EUR', 3072, true])
    assert.equal((await tariff('world')).onSale, true, 'the others stay')
  })

  test('profiles are tried before they are loaded, and withdrawn', async t => {
    const visitor = await enter(t, '/operator/stock')
    if (!visitor) return
    const { page, errors } = visitor
    await page.getByRole('combobox', { name: 'Level' }).selectOption('out')
    await page.waitForURL(/level=out/)
    await assertAccessible(visitor)
    await page.getByRole('link', { name: 'Without stock' }).click()
    await titled(page, 'Without stock')
    const [head = '', ...lines] = [...profileLines({ count: 3, seed: 4242 })]
    const choose = page.locator('input[type=file]')
    await choose.setInputFiles(csv(`${head}${lines[0]}1234,+380501112233,1234,LPA:1$a.example$X\n${lines[1]}too,few\n`))
    await sees(page, 'Faulty lines: 2. Nothing is imported.')
    await sees(page, 'Line 3, iccid: must be 18 to 20 digits')
    await sees(page, 'Line 5: must have four columns, as the header has')
    assert.equal(await button(page, /^Load/).count(), 0)
    await assertAccessible(visitor)
    await button(page, 'Try another file').click()
    await choose.setInputFiles(csv([head, ...lines].join('')))
    const trial = 'New: 3 profiles. In stock already: 0'
    await sees(page, trial)
    // The platform cannot be reached just then; afterwards somebody thinks better of it.
    await page.route(/admin\/profiles/, route => route.abort())
    await button(page, 'Load 3 profiles').click()
    await sees(page, 'Perkline can’t be reached')
    assert.match(errors.splice(0).join(), /ERR_FAILED/)
    await assertAccessible(visitor)
    await page.unroute(/admin\/profiles/)
    await page.route(/admin\/profiles/, () => {})
    await choose.setInputFiles(csv([head, ...lines].join('')))
    await button(page, 'Cancel').click()
    await sees(page, 'The upload was cancelled. Nothing was changed.')
    await page.unroute(/admin\/profiles/)
    await choose.setInputFiles(csv([head, ...lines].join('')))
    await sees(page, trial)
    const free = async () => (await read('/stock-desk')).find((each: any) => each.tariffCode === 'empty').free
    assert.equal(await free(), 0, 'a trial keeps nothing')
    await button(page, 'Load 3 profiles').click()
    await sees(page, 'Put in stock: 3 profiles')
    assert.equal(await free(), 3)

    const iccids = lines.map(line => line.split(',', 1)[0])
    await field(page, 'ICCIDs').fill(`${iccids[0]}\n${iccids[1]}`)
    await button(page, 'Withdraw profiles').click()
    await sees(page, 'Withdraw 2 profiles?')
    await press(page, 'Withdraw profiles')
    await sees(page, 'Withdrawn: 2; not free: 0')
    assert.equal(await free(), 1)
    await gone(page)
    await assertAccessible(visitor)
  })

  test('orders are found by bank, status, external id and id, and one has its history', async t => {
    const visitor = await enter(t, '/operator/orders')
    if (!visitor) return
    const { page } = visitor
    await assertAccessible(visitor)
    const rows = page.getByRole('table', { name: 'eSIM orders' }).getByRole('row')
    await page.getByRole('combobox', { name: 'Status' }).selectOption('cancelled')
    await page.getByRole('link', { name: 'INV-1' }).waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Status' }).selectOption('')
    await page.getByRole('combobox', { name: 'Bank' }).selectOption('beta')
    await sees(page, 'No order is like that')
    await page.getByRole('combobox', { name: 'Bank' }).selectOption('alpha')
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    for (const words of ['INV-1', soldId]) {
      await page.getByRole('searchbox').fill(words)
      await page.getByRole('link', { name: 'INV-2' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'INV-1' }).waitFor()
      await rows.nth(2).waitFor({ state: 'detached' })
      await assertCount(rows, 2) // a head and one order
      await page.getByRole('searchbox').fill('')
      await page.getByRole('link', { name: 'INV-2' }).waitFor()
    }
    await visitor.open('/operator/orders?from=2020-02-01&to=2020-02-03')
    await sees(page, 'No order is like that')
    await page.getByRole('link', { name: 'eSIM orders' }).click()
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    const today = `new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })`
    const day = String(await page.evaluate(today))
    await button(page, 'Days').click()
    for (const _ of ['first', 'last']) await button(page, day).click()
    await page.waitForURL(/from=.*&to=/)
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    await assertAccessible(visitor)

    await platform.addStock('kyivstar', 'eu-10gb', 50)
    const bank = await openBank(platform)
    for (let number = 0; number < 50; number++) assert.equal((await bank.reserve(`many-${number}`)).status, 201)
    await visitor.open('/operator/orders')
    await page.getByRole('link', { name: 'many-0', exact: true }).waitFor()
    await assertCount(rows, 51)
    await button(page, 'Show more').click()
    await page.getByRole('link', { name: 'INV-1' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'INV-1' }).waitFor()
    assert.deepEqual([await rows.count(), await button(page, 'Show more').count()], [53, 0])
    await page.getByRole('link', { name: 'INV-1' }).click()
    await titled(page, 'INV-1')
    for (const text of ['Sold', 'Reserved', 'The profile was imported', '₴399.00']) await sees(page, text)
    assert.ok(!(await page.content()).includes('LPA:'))
    await assertAccessible(visitor)
  })
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
    await assertAccessible(visitor)
    await button(page, 'Complete now').click()
    await press(page, 'Complete now')
    await sees(page, 'The campaign is completed')
    await button(page, 'Complete now').waitFor({ state: 'detached' })
    assert.equal((await read(`/campaigns/${campaignId}`)).status, 'completed')
    await walk(`/operator/campaigns/${ids.alpha}`)
    await titled(page, 'This campaign cannot be shown')
    assert.match(errors.splice(0).join(), /404/)
    await assertAccessible(visitor)
  })

  test('customers are loaded, and looked up', async t => {
    const visitor = await enter(t, '/operator/customers')
    if (!visitor) return
    const { page, errors } = visitor
    await assertAccessible(visitor)
    await page.getByRole('combobox', { name: 'Of the bank' }).selectOption('beta')
    await page.locator('input[type=file]').setInputFiles(csv('customer\nB-1\n'))
    await sees(page, 'The file was not accepted. Fix these lines and upload it again:')
    assert.match(errors.splice(0).join(), /400/)
    await page.locator('input[type=file]').setInputFiles(csv('customerId\nB-1\nB-2\n'))
    await sees(page, '2 new customers, 0 were there already')
    await row(page, 'Бета Банк').getByText('2', { exact: true }).waitFor()
    await field(page, 'Customer id').fill(' B-2 ')
    await button(page, 'Find').click()
    await sees(page, 'A customer of Бета Банк')
    await field(page, 'Customer id').fill('B-3')
    await button(page, 'Find').click()
    await sees(page, 'No bank has this customer')
    assert.match(errors.splice(0).join(), /404/)
    await assertAccessible(visitor)
  })
})

test('a viewer sees everything and can change nothing', { timeout: 60_000 }, async t => {
  const visitor = await enter(t, '/operator', viewer)
  if (!visitor) return
  const { page, walk } = visitor
  const main = page.getByRole('main')
  for (const [path, seen] of [
    ['/partners', 'Alpha Bank'],
    ['/access', admin.login],
    ['/partners?tab=merchants', 'Гросер'],
    ['/access?tab=credentials', 'System'],
    ['/mobile-operators', 'Europe 10 GB'],
    ['/stock/kyivstar/eu-10gb', 'Withdrawn'],
    ['/customers', 'Alpha Bank'],
    [`/campaigns/${campaignId}`, 'Participating'],
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
  const visitor = await visit(t, platform, { language: 'uk-UA', viewport: phone })
  if (!visitor) return
  const { page, walk } = visitor
  await visitor.logIn(admin, '/operator/audit')
  for (const [path, seen] of [
    ['', 'Усі перевірки аудиту пройдено.'],
    ['/partners', 'У застосунку банку'],
    ['/access?tab=credentials', 'Новий секрет'],
    ['/mobile-operators', '30 днів'],
    ['/stock/kyivstar/eu-10gb', 'Завантажити профілі'],
    ['/orders', 'Показати ще'],
    [`/campaigns/${campaignId}`, 'Гроші отримано'],
    ['/customers', 'Чий це клієнт?'],
    ['/audit', 'Усі перевірки пройдено'],
  ] as const) {
    await walk(`/operator${path}`)
    await sees(page, seen)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, path)
  }
  await walk('/operator/access')
  await button(page, 'Додати користувача').click()
  await dialog(page).getByRole('button', { name: 'Додати користувача' }).click()
  await sees(page, 'Заповніть це поле')
  await assertAccessible(visitor)
})
