/** The country and the time zone of a campaign, and one's own time zone: lists that are searched by typing, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible, closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, openMerchant, type Partner } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { button, dialog, field, inPage, sees, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let merchant: Partner
let manager: Account
let edited: string
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  merchant = await openMerchant(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'editor')
  const year = new Date().getFullYear() + 1
  const period = { dateFrom: `${year}-01-05T00:00:00.000Z`, dateTo: `${year}-01-20T00:00:00.000Z` }
  edited = await createCampaign(platform, { name: 'In Ukraine', ...period }, merchant)
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const timeout = 100_000
const newCampaign = '/merchant/campaigns/new'
const editPage = () => `/merchant/campaigns/${edited}/edit`

const choice = (page: Page, name: 'Country' | 'Time zone') => page.getByRole('combobox', { name })
const shows = (input: Locator, value: string) =>
  until(`the field shows “${value}”`, async () => (await input.inputValue()) === value, 5_000)

async function clear(input: Locator): Promise<void> {
  await input.press('ControlOrMeta+A')
  await input.press('Delete')
}

/** Replaces the text of the field key by key. */
async function type(input: Locator, text: string): Promise<void> {
  await input.click()
  await clear(input)
  await input.pressSequentially(text)
}

/** The ways through a field by which a person chooses nothing. */
const idleWays: Record<string, (input: Locator) => Promise<void>> = {
  'the text is removed': async input => {
    await input.click()
    await clear(input)
  },
  'only a space is typed': input => type(input, ' '),
  'a letter is typed and removed': async input => {
    await input.click()
    await input.press('End')
    await input.press('x')
    await input.press('Backspace')
  },
  'the arrow keys move through the list': async input => {
    await input.focus()
    await input.press('ArrowDown')
    await input.press('ArrowDown')
  },
}

suite('leaving a list changes nothing unless something was typed', { timeout }, () => {
  test('the country and the time zone of a stored campaign', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    const read = async () => (await merchant.call('GET', `/cashbacks/for-merchant/${edited}`)).body
    const before = await read()
    await visitor.logIn(manager, editPage())
    for (const [name, stored] of [
      ['Country', 'Ukraine, UAH'],
      ['Time zone', 'UTC'],
    ] as const) {
      const input = choice(page, name)
      await shows(input, stored)
      for (const [way, go] of Object.entries(idleWays)) {
        await go(input)
        await input.press('Tab')
        assert.equal(await input.inputValue(), stored, `${name}: ${way}`)
      }
      await type(input, ' ')
      await page.getByRole('heading', { level: 1 }).click()
      assert.equal(await input.inputValue(), stored, name)
    }
    await field(page, 'Name').fill('Still in Ukraine')
    await button(page, 'Save').click()
    await titled(page, 'Still in Ukraine')
    const { name: _, updatedAt: __, ...same } = before
    const { name, updatedAt, ...stored } = await read()
    assert.deepEqual(stored, same)
  })

  test('a country that is not chosen yet stays empty', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    const country = choice(page, 'Country')
    for (const [way, go] of Object.entries(idleWays)) {
      await go(country)
      await country.press('Tab')
      assert.equal(await country.inputValue(), '', way)
    }
  })

  test('Enter in an emptied field shows the stored value again and sends nothing', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    const country = choice(page, 'Country')
    await country.click()
    await clear(country)
    await country.press('Enter')
    await shows(country, 'Ukraine, UAH')
    await titled(page, /^Edit /)
  })
})

suite('what is typed and fits is chosen', { timeout }, () => {
  test('by Enter, by Tab, by a click elsewhere, and with the list closed', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    const [country, zone] = [choice(page, 'Country'), choice(page, 'Time zone')]
    const leaving: [name: string, leave: () => Promise<void>][] = [
      ['Enter', () => zone.press('Enter')],
      ['Tab', () => zone.press('Tab')],
      ['a click', () => page.getByRole('heading', { level: 1 }).click()],
      ['Escape and Enter', () => zone.press('Escape').then(() => zone.press('Enter'))],
      ['Escape and Tab', () => zone.press('Escape').then(() => zone.press('Tab'))],
    ]
    for (const [name, leave] of leaving) {
      await type(zone, 'new york')
      await page.getByRole('option', { name: 'America/New_York' }).waitFor()
      await leave()
      assert.equal(await zone.inputValue(), 'America/New_York', name)
      await type(zone, 'utc')
      await zone.press('Tab')
      await shows(zone, 'UTC')
    }
    await type(country, 'pol')
    await country.press('Tab')
    await shows(country, 'Poland, PLN')
    await titled(page, /^Edit /)
  })

  test('when the text is pasted into a closed list, the highlighted row is the chosen one', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    const [country, zone] = [choice(page, 'Country'), choice(page, 'Time zone')]
    await country.focus()
    await country.fill('Poland')
    await page.getByRole('option', { name: 'Poland' }).waitFor()
    await country.press('Tab')
    await shows(country, 'Poland, PLN')
    await zone.focus()
    await zone.fill('america/indiana')
    const rows = page.getByRole('option', { name: 'America/Indiana' })
    const [, second = ''] = await rows.allInnerTexts()
    assert.notEqual(second, '')
    await zone.press('ArrowDown')
    await zone.press('Tab')
    await shows(zone, second)
  })

  test('a time zone is found by its other names', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    const zone = choice(page, 'Time zone')
    for (const [typed, chosen] of [
      ['Europe/Kiev', 'Europe/Kyiv'],
      ['us/pacific', 'America/Los_Angeles'],
      ['New_York', 'America/New_York'],
    ] as const) {
      await type(zone, typed)
      await zone.press('Tab')
      await shows(zone, chosen)
      await type(zone, 'UTC')
      await zone.press('Tab')
      await shows(zone, 'UTC')
    }
  })
})

suite('what is typed and fits nothing is told', { timeout }, () => {
  test('Enter sends nothing, and Tab leaves an error at the field until something is typed', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    for (const [name, stored, fitting] of [
      ['Country', 'Ukraine, UAH', 'Poland'],
      ['Time zone', 'UTC', 'warsaw'],
    ] as const) {
      const input = choice(page, name)
      await type(input, 'zzz')
      await sees(page, 'Nothing found')
      await input.press('Enter')
      const error = page
        .getByRole('alert')
        .getByText('Nothing in the list matches “zzz”, so the choice has not changed')
      await error.waitFor()
      assert.equal(await input.inputValue(), 'zzz')
      await assertAccessible(visitor)
      await input.press('Tab')
      await shows(input, stored)
      await error.waitFor()
      assert.equal(await input.getAttribute('aria-invalid'), 'true')
      await assertAccessible(visitor)
      await type(input, fitting)
      await error.waitFor({ state: 'detached' })
      await input.press('Escape')
      await type(input, stored)
      await input.press('Tab')
      await shows(input, stored)
    }
    await titled(page, /^Edit /)
  })

  test('a press of the button right after it does not save the old value unseen; the next press saves', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, editPage())
    const zone = choice(page, 'Time zone')
    await field(page, 'Name').fill('Saved on the second press')
    await type(zone, 'zzz')
    await button(page, 'Save').click()
    await page.getByText('Nothing in the list matches “zzz”').waitFor()
    assert.equal(await inPage(zone, 'return element === document.activeElement'), true)
    await shows(zone, 'UTC')
    await button(page, 'Save').click()
    await titled(page, 'Saved on the second press')
  })

  test('in the dialog of one’s own time zone, in Ukrainian', async t => {
    const visitor = await visit(t, platform, { language: 'uk-UA' })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, '/merchant')
    await page.getByRole('button', { name: 'Ваш обліковий запис' }).click()
    await page.getByRole('menuitem', { name: 'Часовий пояс' }).click()
    const zone = dialog(page).getByRole('combobox', { name: 'Часовий пояс' })
    await type(zone, 'zzz')
    await sees(page, 'Нічого не знайдено')
    await zone.press('Enter')
    await page.getByText('У списку немає «zzz», тому вибір не змінено').waitFor()
    await assertAccessible(visitor)
    await type(zone, 'new york')
    await zone.press('Enter')
    await shows(zone, 'America/New_York')
    await zone.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(`localStorage.getItem('perkline.time-zone')`), 'America/New_York')
  })
})
