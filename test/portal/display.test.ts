/** The portal in a real browser with special displays: large text, forced colours, weak contrast, and print. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign } from '../support/campaigns.ts'
import { button, field, inPage, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let merchant: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

test('with text twice as large, the names of a campaign’s states stay apart', { timeout: 60_000 }, async t => {
  const id = await createCampaign(platform, { name: 'Large' })
  const visitor = await visit(t, platform, { language: 'uk-UA' })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  await titled(page, 'Large')
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
  const overlapping = await page.evaluate<string[]>(`(() => {
    const boxes = [...document.querySelectorAll('main ol li span:not(:empty)')].map(each => {
      const range = document.createRange()
      range.selectNodeContents(each)
      return { text: each.textContent, box: range.getBoundingClientRect() }
    }).filter(({ box }) => box.width > 2)
    return boxes.flatMap(({ text, box }, index) => boxes.slice(index + 1)
      .filter(({ box: other }) => box.left < other.right && other.left < box.right && box.top + 2 < other.bottom && other.top + 2 < box.bottom)
      .map(({ text: other }) => text + ' / ' + other))
  })()`)
  assert.deepEqual(overlapping, [])
})

/** Fails if the element looks the same before and after the action. */
async function assertLooksDifferent(element: Locator, act: () => Promise<unknown>): Promise<void> {
  const picture = async () => {
    await element.page().mouse.move(0, 0)
    return element.screenshot({ animations: 'disabled' })
  }
  const before = await picture()
  await act()
  assert.notDeepEqual(await picture(), before, `${element} looks the same`)
}

test('with forced colours, what is chosen differs from what is not', { timeout: 90_000 }, async t => {
  const id = await createCampaign(platform, { name: 'Contrast' })
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await page.emulateMedia({ forcedColors: 'active' })
  await visitor.open('/')
  const kind = page.locator('label').filter({ hasText: 'a bank' })
  await kind.waitFor()
  await assertLooksDifferent(kind, () => kind.click())

  await visitor.logIn(merchant, '/merchant/campaigns/new')
  await field(page, 'Name').waitFor()
  // The browser shows a choice by an element beside the control, so the parent of both is compared.
  for (const control of [
    page.getByRole('radio', { name: 'Selected products' }),
    page.getByRole('checkbox', { name: 'Alpha Bank' }),
    page.getByRole('switch', { name: 'Set start and end times' }),
  ])
    await assertLooksDifferent(control.locator('..'), () => control.check({ force: true }))
  await page.getByRole('combobox', { name: 'Country' }).click()
  await assertLooksDifferent(page.getByRole('option').first(), () => page.keyboard.press('ArrowDown'))
  await page.keyboard.press('Escape')
  const calendar = button(page, 'Open the calendar: Start date')
  await calendar.click()
  const day = button(page, /^15 [A-Z]/)
  await assertLooksDifferent(day, () => day.click().then(() => calendar.click()))

  await visitor.logIn(merchant, '/merchant/campaigns')
  const chip = page.locator('label').filter({ hasText: 'Running' })
  await assertLooksDifferent(chip, () => chip.click())
  await visitor.walk(`/merchant/campaigns/${id}`)
  const tab = page.getByRole('tab', { name: 'Banks' })
  await assertLooksDifferent(tab, () => tab.click())
})

test('the borders of controls stand out from what is around them', { timeout: 60_000 }, async t => {
  for (const colourScheme of ['light', 'dark'] as const) {
    const visitor = await visit(t, platform, { colourScheme })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, '/merchant/campaigns/new')
    await field(page, 'Name').waitFor()
    for (const control of [
      field(page, 'Name'),
      page.getByRole('combobox', { name: 'Country' }),
      page.getByRole('radio', { name: 'Selected products' }),
      page.getByRole('checkbox', { name: 'Alpha Bank' }),
      page.getByRole('switch', { name: 'Set start and end times' }).locator('xpath=following-sibling::*[1]'),
    ]) {
      const [inside, outside] = await inPage<[number, number]>(control, contrastsOfBorder)
      const told = `${control} in ${colourScheme}: ${inside} inside, ${outside} outside`
      assert.ok(inside >= 3 && outside >= 3, told)
    }
  }
})

/** The contrasts (WCAG 1.4.11) of an element's border with its own background and with that of the page around it. */
const contrastsOfBorder = `
  const luminance = colour => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map(part => {
      const share = Number(part) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const isClear = colour => /, 0\\)$/.test(colour)
  const backgroundOf = each => {
    const { backgroundColor } = getComputedStyle(each)
    return isClear(backgroundColor) && each.parentElement ? backgroundOf(each.parentElement) : backgroundColor
  }
  const border = luminance(getComputedStyle(element).borderTopColor)
  return [element, element.parentElement].map(each => {
    const [darker, lighter] = [border, luminance(backgroundOf(each))].sort((one, other) => one - other)
    return Math.round(((lighter + 0.05) / (darker + 0.05)) * 100) / 100
  })`

test('a page in dark mode is printed dark on white, without buttons', { timeout: 60_000 }, async t => {
  const id = await createCampaign(platform, { name: 'Paper' })
  const visitor = await visit(t, platform, { colourScheme: 'dark' })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  await titled(page, 'Paper')
  const edit = page.getByRole('link', { name: 'Edit' })
  await edit.waitFor()
  const scheme = (name: string) => page.locator(`html[data-mantine-color-scheme=${name}]`)
  const title = () => page.evaluate<string>(`getComputedStyle(document.querySelector('h1')).color`)
  const onScreen = await title()
  await page.emulateMedia({ media: 'print' })
  await scheme('light').waitFor()
  assert.equal(await title(), 'rgb(20, 32, 27)')
  assert.equal(await edit.isVisible(), false)
  await page.emulateMedia({ media: null })
  await scheme('dark').waitFor()
  assert.equal(await title(), onScreen)
  await edit.waitFor()
})
