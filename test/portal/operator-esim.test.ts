/** The operator’s pages of tariffs, stock and orders in a real browser. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { assertAccessible, assertCount, closeBrowser, fillLogin } from '../support/browser.ts'
import { until } from '../support/esim.ts'
import { addOrders, csv, gone, type OperatorSite, openOperatorSite, press, row } from '../support/operator-site.ts'
import { button, dialog, field, sees, titled } from '../support/pages.ts'
import { addAccount } from '../support/portal.ts'

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
      if (!isOn) await press(page, 'Take off sale')
      await sees(page, `Ukraine 5 GB is ${isOn ? 'on' : 'off'} sale`)
      assert.equal((await tariff('ua-5gb')).onSale, isOn)
    }
    let applied = 0
    page.on('requestfinished', request => {
      if (request.method() === 'POST' && request.url().includes('/admin/directory')) applied++
    })
    await onSale.press('Space')
    await press(page, 'Cancel')
    await gone(page)
    assert.equal(await onSale.isChecked(), true)
    // Presses quickly. No press must get lost, even if it comes just when the answer to an earlier press arrives.
    for (let presses = 1; presses <= 8; presses++) {
      await onSale.press('Space')
      if (presses % 2 === 1) {
        await press(page, 'Take off sale')
        await gone(page)
      }
      await until('the switch has moved', async () => (await onSale.isChecked()) === (presses % 2 === 0))
    }
    await until('all are sent', () => applied === 8)
    assert.equal((await tariff('ua-5gb')).onSale, true)
    await until('the switch stays', () => onSale.isChecked())
    await row(page, 'Ukraine 5 GB').getByRole('button', { name: 'Edit' }).click()
    await field(page, 'Price').fill('')
    await press(page, 'Review changes')
    await sees(page, 'Fill this in')
    assert.match(errors.splice(0).join(), /400/)
    await assertAccessible(visitor)
    await field(page, 'Price').fill('149.5')
    await press(page, 'Review changes')
    await sees(page, '199.9')
    await press(page, 'Apply changes')
    await sees(page, '₴149.50')
    assert.equal((await tariff('ua-5gb')).price, 149.5)
    assert.equal((await tariff('eu-10gb')).price, 399)
    await gone(page)
    const status = button(page, /^Status: Роамвайд/)
    await status.focus()
    // Nothing is asked before an action is chosen.
    await page.keyboard.press('ArrowDown')
    assert.equal(await dialog(page).count(), 0)
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Suspend' }).waitFor()
    await assertAccessible(visitor)
    await page.getByRole('menuitem', { name: 'Suspend' }).press('Enter')
    await press(page, 'Suspend')
    await sees(page, 'Роамвайд is saved')
    await button(page, 'Status: Роамвайд, Suspended').waitFor()
    await page.locator('button:focus').filter({ hasText: 'Suspended' }).waitFor()
    await assertAccessible(visitor)
  })

  test('a new tariff is added to its operator', async t => {
    const visitor = await enter(t, '/operator/mobile-operators')
    if (!visitor) return
    const { page, errors } = visitor
    await page.getByRole('region', { name: 'Роамвайд' }).getByRole('button', { name: 'Add tariff' }).click()
    await press(page, 'Save')
    await sees(page, 'Fill this in')
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
    // The zone is one button with a name, and the browser's own input behind it is none.
    const opened = page.waitForEvent('filechooser')
    const zone = button(page, /^Drop a file here or click to choose/)
    await zone.first().waitFor()
    assert.equal(await zone.count(), 1)
    assert.equal(await zone.getAttribute('tabindex'), '0')
    await zone.focus()
    await page.keyboard.press('Enter')
    await opened
    await assertAccessible(visitor)
    const choose = page.locator('input[type=file]')
    await choose.setInputFiles(csv(`${head}${lines[0]}1234,+380501112233,1234,LPA:1$a.example$X\n${lines[1]}too,few\n`))
    await sees(page, '2 lines with errors')
    await sees(page, 'Line 3, iccid: must be 18 to 20 digits')
    await sees(page, 'Line 5: must have four columns')
    assert.equal(await button(page, /^Import/).count(), 0)
    await assertAccessible(visitor)
    await button(page, 'Choose another file').click()
    await choose.setInputFiles(csv([head, ...lines].join('')))
    const trial = '3 profiles to import. Already in stock, or twice in the file: 0'
    await sees(page, trial)
    // The import fails because the platform cannot be reached. Then the person chooses the file again and cancels.
    await page.route(/admin\/profiles/, route => route.abort())
    await button(page, 'Import 3 profiles').click()
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
    await button(page, 'Import 3 profiles').click()
    await sees(page, 'Imported: 3 profiles')
    assert.equal(await free(), 3)

    const iccids = lines.map(line => line.split(',', 1)[0])
    await field(page, 'ICCIDs').fill(`${iccids[0]}\n${iccids[1]}`)
    const typed = await field(page, 'ICCIDs').inputValue()
    await field(page, 'ICCIDs').fill(`${iccids[0]}\nabc\n12`)
    await button(page, 'Withdraw profiles').click()
    await sees(page, 'Line 2, ICCID …abc: must be 18 to 20 digits')
    await sees(page, 'Line 3, ICCID …12: must be 18 to 20 digits')
    await field(page, 'ICCIDs').fill(`${typed}\n${iccids[0]}`)
    await button(page, 'Withdraw profiles').click()
    await sees(page, 'Withdraw 2 profiles?')
    await press(page, 'Withdraw profiles')
    await sees(page, 'Withdrawn: 2 profiles')
    assert.equal(await free(), 1)
    await gone(page)

    // One profile was withdrawn before, and one belongs to another tariff. Both stay unchanged, the page names each of
    // them, and the typed list stays.
    const [, other = ''] = [...profileLines({ count: 1, seed: 4343 })]
    const path = '/admin/profiles?operator=kyivstar&tariff=ua-5gb'
    const loaded = await site.staff.call('POST', path, {
      raw: `${head}${other}`,
      headers: { 'content-type': 'text/csv' },
    })
    assert.equal(loaded.status, 200, loaded.text)
    const foreign = other.split(',', 1)[0] ?? ''
    await field(page, 'ICCIDs').fill(`${iccids[0]}\n\n${foreign}\n${iccids[2]}`)
    await button(page, 'Withdraw profiles').click()
    await press(page, 'Withdraw profiles')
    await sees(page, 'Withdrawn: 1. Not withdrawn: 2')
    await sees(page, `Line 1, ICCID …${iccids[0]?.slice(-4)}: withdrawn before`)
    await sees(page, `Line 3, ICCID …${foreign.slice(-4)}: belongs to another tariff`)
    assert.ok((await field(page, 'ICCIDs').inputValue()).includes(foreign))
    assert.equal((await read('/stock')).find((each: any) => each.tariffCode === 'ua-5gb').free, 1)
    await assertAccessible(visitor)
  })

  test('invalid lines are skipped when somebody says so, and named in the language of the page', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page, errors } = visitor
    await titled(page, 'Ukraine 5 GB')
    await button(page, 'What goes into each column').click()
    await sees(page, 'PIN1: 4 to 8 digits')
    const [head = '', ...lines] = [...profileLines({ count: 2, seed: 4444 })]
    const file = csv(`${head}${lines.join('')}too,few\n`)
    await page.locator('input[type=file]').setInputFiles(file)
    await sees(page, '1 line with errors')
    await button(page, 'Skip these lines and import 2 profiles').click()
    await sees(page, 'Imported: 2 profiles')
    await visitor.page.evaluate(`localStorage.setItem('perkline.language', 'uk')`)
    await page.reload()
    await page.locator('input[type=file]').setInputFiles(file)
    await sees(page, 'Рядок 4: має бути чотири стовпці')
    await page.locator('input[type=file]').or(button(page, 'Вибрати інший файл')).first().waitFor()
    await button(page, 'Вибрати інший файл').click()
    await page.locator('input[type=file]').setInputFiles(csv('a,b\n'))
    await sees(page, /^Рядок 1: у першому рядку мають бути назви стовпців iccid,/)
    assert.match(errors.splice(0).join(), /400/)
  })

  const importNow = async (lines: string[], code = 'ua-5gb') => {
    const { status, text } = await site.staff.call('POST', `/admin/profiles?operator=kyivstar&tariff=${code}`, {
      raw: lines.join(''),
      headers: { 'content-type': 'text/csv' },
    })
    assert.equal(status, 200, text)
  }

  test('an import that is refused after a good check names its lines in the language of the page', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page, errors } = visitor
    await page.evaluate(`localStorage.setItem('perkline.language', 'uk')`)
    await page.reload()
    const [head = '', one = '', two = ''] = [...profileLines({ count: 2, seed: 4545 })]
    const codeOf = (line: string) => line.trim().split(',').at(-1) ?? ''
    await page.locator('input[type=file]').setInputFiles(csv(head + one))
    await button(page, 'Завантажити 1 профіль').waitFor()
    // Meanwhile another profile with the same activation code comes into stock.
    await importNow([head, two.replace(codeOf(two), codeOf(one))], 'eu-10gb')
    await button(page, 'Завантажити 1 профіль').click()
    await sees(page, 'Нічого не завантажено')
    await sees(page, 'Рядок 2, activationCode: цей код активації вже має інший профіль')
    await assertAccessible(visitor)
    assert.match(errors.splice(0).join(), /400/)
    await page.locator('input[type=file]').setInputFiles(csv(head + one))
    await sees(page, 'З помилками: 1 рядок')
    assert.equal(await page.getByText('Нічого не завантажено').count(), 0)
  })

  test('the session ends while an import is sent: the login comes at once, and later the page tells what to do', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page, errors } = visitor
    await page.locator('input[type=file]').setInputFiles(csv([...profileLines({ count: 1, seed: 4747 })].join('')))
    await button(page, 'Import 1 profile').waitFor()
    await page.context().clearCookies()
    await button(page, 'Import 1 profile').click()
    await sees(page, 'Your session has ended')
    assert.equal(await dialog(page).count(), 0)
    assert.equal(await page.getByText('Something went wrong').count(), 0)
    await fillLogin(page, site.admin)
    await sees(page, /^The upload of profiles\.csv was interrupted/)
    assert.match(errors.splice(0).join(), /401/)
  })

  test('duplicates are named by their lines, also those with another activation code', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page } = visitor
    const [head = '', ...lines] = [...profileLines({ count: 30, seed: 4646 })]
    await importNow([head, ...lines.slice(0, 25)])
    const choose = page.locator('input[type=file]')
    const [first = '', second = ''] = lines
    const renamed = second.replace(/[^$]+$/, 'OTHER-1\n')
    await choose.setInputFiles(csv([head, lines[26], first, renamed].join('')))
    await sees(page, '1 profile to import. Already in stock, or twice in the file: 2')
    await sees(page, 'Already in stock, or earlier in the file: lines 3, 4')
    await sees(page, 'The profile with this ICCID has another activation code and stays as it is: line 4')
    await assertAccessible(visitor)
    await button(page, 'Choose another file').click()
    await choose.setInputFiles(csv([head, ...lines.slice(0, 28)].join('')))
    await sees(page, /^Already in stock, or earlier in the file: lines 2, 3, .*, 20, 21 and 5 more lines$/)
    // Another person imports the new profiles first.
    await importNow([head, ...lines.slice(25)])
    await button(page, 'Import 3 profiles').click()
    await sees(page, 'Nothing was imported. Already in stock, or twice in the file: 28 profiles')
    await choose.waitFor({ state: 'attached' })
  })

  test('a file without profiles, a workbook and UTF-16 are told; the list of errors can be saved', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page, errors } = visitor
    const [head = '', ...lines] = [...profileLines({ count: 1, seed: 4747 })]
    const choose = page.locator('input[type=file]')
    await choose.setInputFiles(csv(head))
    await sees(page, 'The file has no profiles, only its first line')
    await button(page, 'Choose another file').click()
    const workbook = { name: 'profiles.xlsx', mimeType: 'application/zip', buffer: Buffer.from('PK\u0003\u0004\n') }
    await choose.setInputFiles(workbook)
    await sees(page, /Save the file as CSV UTF-8 and choose it again/)
    const advice = 'Line 1: save the file in UTF-8 (in Excel as “CSV UTF-8”)'
    for (const buffer of [workbook.buffer, Buffer.from(`\ufeff${head}${lines[0]}`, 'utf16le')]) {
      await choose.setInputFiles({ ...csv(''), buffer })
      await sees(page, advice)
      await choose.setInputFiles(csv('a,b\n'))
      await page.getByText(advice).waitFor({ state: 'detached' })
    }
    await choose.setInputFiles(csv(`${head}${'too,few\n'.repeat(25)}`))
    await sees(page, 'and 5 more lines')
    assert.match(errors.splice(0).join(), /400/)
    const saving = page.waitForEvent('download')
    await button(page, 'Download the list of 25 lines').click()
    const saved = readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\r\n')
    assert.deepEqual([saved.length, saved.at(-1)], [26, '"26","line","must have four columns"'])
    await assertAccessible(visitor)
  })

  test('a file that changes on disk after the check is told from a lost connection', async t => {
    const visitor = await enter(t, '/operator/stock/kyivstar/ua-5gb')
    if (!visitor) return
    const { page, errors } = visitor
    const [head = '', ...lines] = [...profileLines({ count: 2, seed: 4848 })]
    const folder = mkdtempSync(join(tmpdir(), 'stock-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'changing.csv')
    writeFileSync(path, head + lines[0])
    await page.locator('input[type=file]').setInputFiles(path)
    await button(page, 'Import 1 profile').waitFor()
    writeFileSync(path, [head, ...lines].join(''))
    // Moves the time by seconds, because the browser compares only whole seconds.
    utimesSync(path, new Date(), new Date(Date.now() + 5_000))
    await button(page, 'Import 1 profile').click()
    await sees(page, 'The file has changed or was moved since you chose it. Choose it again.')
    await page.locator('input[type=file]').setInputFiles(path)
    await button(page, 'Import 2 profiles').click()
    await sees(page, 'Imported: 2 profiles')
    errors.splice(0)
  })

  test('a mobile operator is added and changed, with its country in the language of the page', async t => {
    const visitor = await enter(t, '/operator/mobile-operators')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Add mobile operator').click()
    await field(page, 'Code').fill('kyivstar')
    await field(page, 'Name in Ukrainian').fill('Вістула')
    await dialog(page).getByRole('combobox', { name: 'Country' }).click()
    await page.getByRole('option', { name: 'Poland' }).click()
    await press(page, 'Save')
    await sees(page, 'This code is taken')
    assert.match(errors.splice(0).join(), /409/)
    await field(page, 'Code').fill('vistula')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await page.getByRole('region', { name: 'Вістула' }).getByText('Poland').waitFor()
    await page.getByRole('region', { name: 'Вістула' }).getByRole('button', { name: 'Edit Вістула' }).click()
    await field(page, 'Name in English').fill('Vistula')
    await press(page, 'Review changes')
    await press(page, 'Apply changes')
    await page.getByRole('region', { name: 'Vistula' }).waitFor()
    const { mobileOperators } = await read('/partners')
    const { nameUk, country, status } = mobileOperators.find((each: any) => each.code === 'vistula')
    assert.deepEqual([nameUk, country, status], ['Вістула', 'PL', 'active'])
    await assertAccessible(visitor)
  })

  test('support finds an order by its number, which gets into no address', async t => {
    const visitor = await enter(t, '/operator/orders')
    if (!visitor) return
    const { page } = visitor
    const { msisdn } = (await read('/orders?externalId=INV-1')).data[0]
    await button(page, 'Find by number or ICCID').click()
    await field(page, 'Phone number or ICCID').fill('12 34 x')
    await press(page, 'Find')
    await sees(page, /^Enter a phone number/)
    await page.locator('[role=dialog] input:focus').waitFor()
    await page.getByRole('alert').getByText('Enter a phone number').waitFor()
    await assertAccessible(visitor)
    await field(page, 'Phone number or ICCID').fill('+380 67 000-00-00')
    await press(page, 'Find')
    await sees(page, 'No reserved or sold eSIM has this number or ICCID')
    await field(page, 'Phone number or ICCID').fill(msisdn)
    await press(page, 'Find')
    await titled(page, 'INV-1')
    assert.ok(!page.url().includes(msisdn.slice(1)))
    assert.ok(page.url().endsWith(site.soldId))
  })

  test('a bank’s order rows open, and its support finds by number, too', async t => {
    const account = await addAccount(site.platform, { bank: 'alpha' }, 'VIEWER')
    const visitor = await enter(t, '/bank/esim/orders', account)
    if (!visitor) return
    const { page } = visitor
    await page.getByRole('link', { name: 'INV-1' }).click()
    await titled(page, 'INV-1')
    await assertAccessible(visitor)
    await page.goBack()
    const { msisdn } = (await read('/orders?externalId=INV-1')).data[0]
    await button(page, 'Find by number or ICCID').click()
    await field(page, 'Phone number or ICCID').fill(msisdn)
    await press(page, 'Find')
    await titled(page, 'INV-1')
    await page.getByText(msisdn).waitFor()
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
    await page.getByRole('status').getByText('No orders found').waitFor()
    await page.getByRole('combobox', { name: 'Bank' }).selectOption('alpha')
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    await page.getByRole('status').getByText('2 entries').waitFor({ state: 'attached' })
    for (const words of ['INV-1', site.soldId]) {
      await page.getByRole('searchbox').fill(words)
      await page.getByRole('link', { name: 'INV-2' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'INV-1' }).waitFor()
      await rows.nth(2).waitFor({ state: 'detached' })
      await assertCount(rows, 2) // a head and one order
      await page.getByRole('searchbox').fill('')
      await page.getByRole('link', { name: 'INV-2' }).waitFor()
    }
    await visitor.open('/operator/orders?from=2020-02-01&to=2020-02-03')
    await sees(page, 'No orders found')
    await page.getByRole('link', { name: 'eSIM orders' }).click()
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    const today = `new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })`
    const day = String(await page.evaluate(today))
    await button(page, 'Days').click()
    for (const _ of ['first', 'last']) await button(page, day).click()
    await page.waitForURL(/from=.*&to=/)
    await page.getByRole('link', { name: 'INV-2' }).waitFor()
    await assertAccessible(visitor)

    await addOrders(site.platform)
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
    for (const text of ['Sold', 'Reserved', 'Profile imported', '₴399.00', /· the bank’s system$/])
      await sees(page, text)
    assert.ok(!(await page.content()).includes('LPA:'))
    await assertAccessible(visitor)

    // The stock of their tariff names the bank that holds them.
    await visitor.open('/operator/stock/kyivstar/eu-10gb')
    await page.getByRole('link', { name: 'Alpha Bank', exact: true }).waitFor()
    await sees(page, /^Alpha Bank: \d+$/)
  })
})
