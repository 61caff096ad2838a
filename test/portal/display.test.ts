/** The portal as people set up their displays, in a real browser: large text. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign } from '../support/campaigns.ts'
import { titled } from '../support/pages.ts'
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
