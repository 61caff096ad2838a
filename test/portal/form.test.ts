/** The form of a campaign in a real browser: input, sections, the save bar, copies. Its rules are tested without a browser. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ApiError } from '../../portal/src/api/errors.ts'
import { errorsByField } from '../../portal/src/api/field-errors.ts'
import { withListedValues } from '../../portal/src/campaigns/form/listed-values.ts'
import { emptyValues, periodOf, withTimes } from '../../portal/src/campaigns/form/values.ts'
import { isMissingDay, readClock, readDay, writeClock, writeDay } from '../../portal/src/i18n/typed-day.ts'
import { readNumber, writeNumber } from '../../portal/src/i18n/typed-number.ts'
import { assertAccessible, closeBrowser, phone, visit } from '../support/browser.ts'
import { campaignDirectory, createBankCampaign, createCampaign, ids } from '../support/campaigns.ts'
import { button, field, inPage, isInView, sees } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { openSides, type Sides } from '../support/reconciliation.ts'
import { addCustomers, customers, fileOf, putSegment } from '../support/segments.ts'

let platform: TestPlatform
let sides: Sides
let manager: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'editor')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const create = 'Create and invite the banks'
const newCampaign = '/merchant/campaigns/new'

suite('what is typed', { timeout: 60_000 }, () => {
  test('numbers: as the language writes them, or refused', () => {
    const cases: [typed: string, en: number | null, uk: number | null][] = [
      ['0', 0, 0],
      ['5000', 5000, 5000],
      ['5000.5', 5000.5, 5000.5],
      ['5000,5', 5000.5, 5000.5],
      ['1 234,56', 1234.56, 1234.56],
      ['1\u00a0234.56', 1234.56, 1234.56],
      ['1,234', 1234, null],
      ['1,234.56', 1234.56, null],
      ['1,234,567', 1234567, null],
      ['20.000', null, null],
      ['1.234,56', null, null],
      ['1e6', null, null],
      ['12,34,567', null, null],
      ['-5', null, null],
      ['5%', null, null],
      ['', null, null],
      ['9999999999999.99', 9999999999999.99, 9999999999999.99],
      ['99999999999999.99', null, null],
      ['9 999 999 999,99', 9_999_999_999.99, 9_999_999_999.99],
    ]
    for (const [typed, en, uk] of cases)
      assert.deepEqual([readNumber(typed, 'en'), readNumber(typed, 'uk')], [en, uk], typed)
    for (const language of ['en', 'uk'] as const)
      for (const value of [0, 5.5, 20, 1234.56, 1234567])
        assert.equal(readNumber(writeNumber(value, language), language), value)
  })

  test('days and times of day: the forms of both languages, or refused', () => {
    const cases: [typed: string, day: string | null][] = [
      ['31.12.2026', '2026-12-31'],
      ['1.2.2026', '2026-02-01'],
      ['1/2/2026', '2026-02-01'],
      ['2026-12-31', '2026-12-31'],
      ['31 Dec 2026', '2026-12-31'],
      ['30 Sept 2026', '2026-09-30'],
      ['30 Sep 2026', '2026-09-30'],
      ['31 December 2026', '2026-12-31'],
      ['31 грудня 2026', '2026-12-31'],
      ['31 груд. 2026 р.', '2026-12-31'],
      ['31.02.2026', null],
      ['12/31/2026', null],
      ['31.12.26', null],
      ['31.12', null],
      ['tomorrow', null],
    ]
    for (const [typed, day] of cases) assert.equal(readDay(typed), day, typed)
    const missing = ['31.11.2026', '30/02/2026', '2026-02-29', '31 Nov 2026', '31 листопада 2026', '0.5.2026']
    for (const typed of missing) assert.deepEqual([readDay(typed), isMissingDay(typed)], [null, true], typed)
    for (const [typed] of cases) assert.equal(isMissingDay(typed), typed === '31.02.2026', typed)
    for (const language of ['en', 'uk'] as const)
      for (let month = 1; month <= 12; month++) {
        const day = `2027-${String(month).padStart(2, '0')}-09`
        assert.equal(readDay(writeDay(day, language)), day)
      }
    assert.deepEqual(['9:30', '09.30', '23:59:59', '24:00', '9', '9:5'].map(readClock), [
      '09:30:00',
      '09:30:00',
      '23:59:59',
      null,
      null,
      null,
    ])
    assert.deepEqual(['09:30:00', '09:30:15'].map(writeClock), ['09:30', '09:30:15'])
  })

  test('a period is the same with times and in whole days', () => {
    const values = { ...emptyValues('Europe/Kyiv'), days: ['2026-12-05', '2026-12-20'] as [string, string] }
    const period = { dateFrom: '2026-12-04T22:00:00.000Z', dateTo: '2026-12-20T22:00:00.000Z' }
    assert.deepEqual(periodOf(values), period)
    const timed = { ...values, ...withTimes(values, true) }
    assert.deepEqual([timed.days, periodOf(timed)], [['2026-12-05', '2026-12-21'], period])
    assert.deepEqual(withTimes(timed, false).days, values.days)
  })

  test('a time that the clocks skip is refused at its field, and taken in another zone', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('switch', { name: 'Set start and end times' }).check()
    await field(page, 'Start date').fill('28.03.2027')
    await field(page, 'Start time').fill('03:30')
    await button(page, create).click()
    const problem = page.getByText('This time does not exist on that day: clocks are set forward')
    await problem.waitFor()
    assert.equal(await field(page, 'Start time').getAttribute('aria-invalid'), 'true')
    await assertAccessible(visitor)
    await field(page, 'Start time').fill('04:30')
    await button(page, create).click()
    await problem.waitFor({ state: 'detached' })
    await field(page, 'Start time').fill('03:30')
    await button(page, create).click()
    await problem.waitFor()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('UTC')
    await page.getByRole('option', { name: 'UTC', exact: true }).click()
    await problem.waitFor({ state: 'detached' })
  })

  test('an error about a value in a list names the value', () => {
    const message = 'merchantCategoryCode.1 must be four digits'
    const rule = { field: 'merchantCategoryCode.1', rule: 'four-digits', params: {}, message } as const
    const error = new ApiError(400, [message], null, { fieldErrors: [rule] })
    const sent = { sku: [], categoryId: [], merchantCategoryCode: ['5411', '54a1'], terminals: [] }
    const { byField } = errorsByField(withListedValues(error, sent) as ApiError, ['merchantCategoryCode'], 'en')
    assert.deepEqual(byField, { merchantCategoryCode: '54a1: A code of four digits' })
  })

  test('an error about a terminal names the terminal', () => {
    const rules = ['terminals.1.terminal_id', 'terminals.0.terminal_name'].map(name => ({
      field: name,
      rule: 'plain-line',
      params: {},
      message: `${name} must be one line`,
    }))
    const error = new ApiError(400, [], null, { fieldErrors: rules as never })
    const terminals = ['T-1', 'T-2'].map(terminal_id => ({ terminal_id, terminal_name: 'Shop' }))
    const sent = { sku: [], categoryId: [], merchantCategoryCode: [], terminals }
    const { byField } = errorsByField(withListedValues(error, sent as never) as ApiError, ['terminals'], 'en')
    assert.match(byField.terminals ?? '', /^T-2: .*; T-1, terminal_name: /)
  })

  test('a wrong category code is refused as soon as it is typed', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    const codes = page.locator('input[data-path=merchantCategoryCode]')
    await codes.fill('5411')
    await codes.press('Enter')
    await codes.fill('54a1')
    await codes.press('Enter')
    const problem = page.getByText('54a1: enter a code of four digits')
    await problem.waitFor()
    assert.equal(await page.locator('form [aria-invalid=true]').count(), 1)
    await codes.press('Backspace')
    await problem.waitFor({ state: 'detached' })
  })

  test('input that cannot be read stays in its field with an error, and nothing is sent', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await field(page, 'Name').fill('Typed')
    await field(page, 'First day').fill('31.02.2027')
    await field(page, /^Cashback/).fill('1e6')
    await field(page, /^Maximum purchase/).fill('20.000')
    await field(page, /^Budget per bank/).fill('1.234,56')
    await button(page, create).click()
    await page.locator('[data-path=countryCode]:focus').waitFor()
    await sees(page, 'There is no such day in this month')
    assert.equal(await page.getByText('Enter the number like this: 1,234.50').count(), 3)
    assert.equal(await field(page, /^Maximum purchase/).inputValue(), '20.000')
    assert.equal(await field(page, 'First day').inputValue(), '31.02.2027')
    await sees(page, /^\d+ fields need your attention$/)
    await assertAccessible(visitor)
    await field(page, /^Maximum purchase/).fill('20 000,5')
    await field(page, /^Maximum purchase/).fill('20000.5')
    await field(page, 'First day').fill('1.2.2027')
    await field(page, 'Name').focus()
    assert.equal(await field(page, /^Maximum purchase/).inputValue(), '20,000.5')
    assert.equal(await field(page, 'First day').inputValue(), '1 Feb 2027')
  })
})

suite('a text that is too long', { timeout: 60_000 }, () => {
  const said = (page: Page) => page.getByText(/too many/).allInnerTexts()

  test('is counted in one place, before and after the form is sent', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await field(page, 'Name').fill('👍'.repeat(29))
    await sees(page, '2 characters too many')
    await button(page, create).click()
    await page.locator('[data-path=name]:focus').waitFor()
    assert.equal(await field(page, 'Name').getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await said(page), ['2 characters too many'])
    await assertAccessible(visitor)
    await field(page, /^Terms of participation/).fill('t'.repeat(1025))
    assert.deepEqual((await said(page)).at(-1)?.match(/1 character too many\.$/)?.length, 1)
  })

  test('of a comment is counted, and nothing is cut off or sent', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    const campaign = await createCampaign(platform, { name: 'Declined at length' }, sides.grocer)
    await visitor.logIn(await addAccount(platform, { bank: 'alpha' }, 'ADMIN'), `/bank/campaigns/${campaign}`)
    await button(page, 'Decline').click()
    await sees(page, /1,000 characters left\.$/)
    const send = page.getByRole('dialog').getByRole('button', { name: 'Decline' })
    await field(page, 'Reason').fill('👍'.repeat(1002))
    await sees(page, /2 characters too many\.$/)
    assert.equal(await field(page, 'Reason').getAttribute('aria-invalid'), 'true')
    assert.equal(await send.isDisabled(), true)
    await assertAccessible(visitor)
    const reason = '👍'.repeat(1000)
    await field(page, 'Reason').fill(reason)
    await sees(page, /0 characters left\.$/)
    await send.click()
    await sees(page, /^Your bank has declined this campaign\./)
    const { body } = await sides.grocer.call('GET', `/portal/cashbacks/${campaign}/history`)
    assert.equal(body.find(({ trigger }: { trigger: string }) => trigger === 'reject').comment, reason)
  })
})

suite('sections and saving', { timeout: 60_000 }, () => {
  test('the navigation shows the state of each section and leads there; the save button is always visible', async t => {
    for (const viewport of [{ width: 1440, height: 900 }, phone]) {
      const visitor = await visit(t, platform, { viewport })
      if (!visitor) return
      const { page } = visitor
      await visitor.logIn(manager, newCampaign)
      const sections = page.getByRole('navigation', { name: 'Sections of the form' })
      await sections.getByRole('link', { name: 'Money, not complete' }).waitFor()
      await sections.getByRole('link', { name: 'Banners, complete' }).waitFor()
      assert.ok(await isInView(page, button(page, create)), 'before anything is scrolled')
      await sections.getByRole('link', { name: /^Payment systems/ }).click()
      await page.locator('h2:focus', { hasText: 'Payment systems' }).waitFor()
      assert.ok(await isInView(page, page.getByRole('checkbox', { name: 'Visa' })))
      assert.ok(await isInView(page, button(page, create)), 'further down')
      assert.ok(await isInView(page, sections), 'the navigation stays')
      await page.getByRole('checkbox', { name: 'Visa' }).check()
      await sections.getByRole('link', { name: 'Payment systems, complete' }).waitFor()
      await button(page, create).click()
      await page.locator('[data-path=name]:focus').waitFor()
      await sections.getByRole('link', { name: 'Money, has errors' }).waitFor()
      assert.ok(await isInView(page, field(page, 'Name')))
      assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
      await assertAccessible(visitor)
    }
  })

  test('a long word does not leave the preview card', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await field(page, 'Name').fill('W'.repeat(27))
    const card = page.getByRole('region', { name: 'As a customer sees it' })
    await card.getByText('W'.repeat(27)).waitFor()
    const hidden = await inPage(card.getByText('W'.repeat(27)), 'return element.scrollWidth - element.clientWidth')
    assert.equal(hidden, 0)
  })
})

test('a list of terminals in another encoding is refused, with the way to save it', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await page.getByRole('radio', { name: 'A list from a file' }).check()
  const choose = (buffer: Buffer) =>
    page.locator('input[type=file]').first().setInputFiles({ name: 'terminals.csv', mimeType: 'text/csv', buffer })
  // "Каса" in windows-1251.
  await choose(Buffer.from('terminal_id;terminal_name\r\nT-1;\xca\xe0\xf1\xe0\r\n', 'latin1'))
  await sees(page, 'save the file in UTF-8 (in Excel as “CSV UTF-8”)')
  await sees(page, '0 terminals')
  await assertAccessible(visitor)
  await choose(Buffer.from('\ufeffterminal_id;terminal_name\r\nT-1;Каса\r\n', 'utf16le'))
  await sees(page, 'Каса')
})

test('a file of terminals that is refused leaves the list as it was, and the page says so', {
  timeout: 60_000,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await page.getByRole('radio', { name: 'A list from a file' }).check()
  const choose = (name: string, content: string) => {
    const mimeType = name.endsWith('.csv') ? 'text/csv' : 'image/png'
    return page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name, mimeType, buffer: Buffer.from(content) })
  }
  await choose('two.csv', 'terminal_id\nT-1\nT-2\n')
  await sees(page, '2 terminals added')
  for (const [name, content, error] of [
    ['twice.csv', 'terminal_id\nT-3\nT-3\n', 'Line 3: this terminal is already in the file'],
    ['picture.png', 'x', /This file type isn’t supported here/],
  ] as const) {
    await choose(name, content)
    await sees(page, error)
    await sees(page, 'The list stays as it was: 2 terminals')
    assert.equal(await page.getByText('2 terminals added').count(), 0)
    await choose('two.csv', 'terminal_id\nT-1\nT-2\n')
    await sees(page, '2 terminals added')
  }
})

suite('a copy of a campaign', { timeout: 60_000 }, () => {
  const terminals = [{ terminal_id: '=A-1', terminal_name: 'Store, 1' }, { terminal_id: 'B-2' }]
  const fillDates = async (page: Page) => {
    const year = new Date().getFullYear() + 1
    await field(page, 'First day').fill(`05.01.${year}`)
    await field(page, 'Last day').fill(`20.01.${year}`)
  }

  test('of a merchant: terms, banks and terminals; the dates are asked for', async t => {
    const given = {
      name: 'Original',
      percentage: 7.5,
      maxBudget: 1000,
      participantsIds: [ids.alpha, ids.beta],
      terminalsPlatform: false,
      terminals,
    }
    const id = await createCampaign(platform, given, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, `/merchant/campaigns/${id}`)
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { level: 1, name: 'New campaign from a copy' }).waitFor()
    assert.equal(await field(page, 'First day').inputValue(), '')
    await button(page, create).click()
    await page.locator('[data-path=dateFrom]:focus').waitFor()
    await fillDates(page)
    await assertAccessible(visitor)
    await button(page, create).click()
    await page.getByRole('heading', { level: 1, name: 'Original' }).waitFor()
    const copy = new URL(page.url()).pathname.split('/').at(-1)
    assert.notEqual(copy, id)
    const read = async (cashbackId: string | undefined) =>
      (await sides.grocer.call('GET', `/cashbacks/for-merchant/${cashbackId}`)).body
    const [original, copied] = await Promise.all([read(id), read(copy)])
    assert.notEqual(copied.dateFrom, original.dateFrom)
    const own = ['cashbackId', 'dateFrom', 'dateTo', 'createdAt', 'updatedAt']
    for (const name of Object.keys(original).filter(each => !own.includes(each)))
      assert.deepEqual(copied[name], original[name], name)
  })

  test('of a bank’s own campaign', async t => {
    const banker = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
    const id = await createBankCampaign(platform, sides.alpha, {
      name: 'Bank’s own',
      percentage: 3,
      terminalsPlatform: false,
      terminals,
    })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(banker, `/bank/campaigns/${id}`)
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { level: 1, name: 'New campaign from a copy' }).waitFor()
    await sees(page, '2 terminals')
    await fillDates(page)
    await button(page, 'Create the campaign').click()
    await page.getByRole('heading', { level: 1, name: 'Bank’s own' }).waitFor()
    const copy = new URL(page.url()).pathname.split('/').at(-1)
    assert.notEqual(copy, id)
    const { body } = await sides.alpha.call('GET', `/portal/cashbacks/${copy}/own-terminals`)
    const shape = { terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null }
    assert.deepEqual(
      body.terminals,
      terminals.map(terminal => ({ ...shape, ...terminal })),
    )
    const invited = await createCampaign(platform, { name: 'Invited' }, sides.grocer)
    await visitor.walk(`/bank/campaigns/${invited}`)
    await button(page, 'Take part').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Duplicate' }).count(), 0)
  })
})

test('the merchant sees every bank’s name, when it decided and what it said, at every stage', {
  timeout: 60_000,
}, async t => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, sides.grocer)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, open } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}?tab=banks`)
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  for (const name of ['Alpha Bank', 'Бета Банк']) await row(name).waitFor()
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  const declined = await sides.beta.call('POST', `/cashbacks/${id}/reject`, {
    body: { comment: 'The budget is spent' },
  })
  assert.equal(declined.status, 201)
  await open(`/merchant/campaigns/${id}?tab=banks`)
  await row('Бета Банк').getByText('“The budget is spent”').waitFor()
  await row('Alpha Bank').locator('time').waitFor()
  await assertAccessible(visitor)
})

test('a bank downloads the terminals and its customers of a campaign as CSV files', { timeout: 60_000 }, async t => {
  const banker = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
  await addCustomers(platform, 'alpha', customers('A', 30))
  const id = await createCampaign(platform, {}, sides.grocer)
  assert.equal((await putSegment(sides.grocer, id, fileOf(customers('A', 30)))).status, 200)
  for (const viewport of [{ width: 1440, height: 900 }, phone]) {
    const visitor = await visit(t, platform, { viewport })
    if (!visitor) return
    const { page } = visitor
    const save = async () => {
      const saved = page.waitForEvent('download')
      await button(page, 'Export CSV').click()
      return readFile(await (await saved).path(), 'utf8')
    }
    await visitor.logIn(banker, `/bank/campaigns/${id}`)
    assert.equal((await save()).split('\r\n').length, 32, 'a header, 30 customers, an empty rest')
    await assertAccessible(visitor)
    await page.getByRole('tab', { name: 'Terminals' }).click()
    await page.getByRole('searchbox').fill('T-0001')
    await page.waitForURL(/find=/)
    await page.getByText('T-0002').waitFor({ state: 'detached' })
    const file = await save()
    assert.match(file, /T-0001/)
    assert.doesNotMatch(file, /T-0002/)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await assertAccessible(visitor)
  }
})

test('what is wrong is read aloud once: with the field that takes the focus, or alone', {
  timeout: 60_000,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.waitFor()
  await button(page, create).click()
  await page.locator('[data-path=name]:focus').waitFor()
  await sees(page, 'Fill in this field')
  const [error] = ((await name.getAttribute('aria-describedby')) ?? '').split(' ').filter(id => id.endsWith('-error'))
  assert.equal(await page.locator(`[id="${error}"]`).textContent(), 'Fill in this field')
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Fill in this field').waitFor({ state: 'attached' })
  assert.equal(await page.getByRole('alert').count(), 1)
  await assertAccessible(visitor)
  await page.keyboard.press('Tab')
  await page.getByRole('alert').waitFor({ state: 'detached' })
})
