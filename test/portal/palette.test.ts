/** The command palette in a real browser: its shortcut, its button, and what it finds for each kind of account. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, phone, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids, inDays, openMerchant } from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { addAccount } from '../support/portal.ts'

let platform: TestPlatform
let id: string
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  id = await createCampaign(platform, { name: 'Winter gifts', participantsIds: [ids.alpha] })
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const search = (page: Page) => page.getByRole('dialog').getByRole('combobox')
const command = (page: Page, name: string) => page.getByRole('dialog').getByRole('option', { name, exact: true })
/** The entry of a campaign. Its name is followed by details that distinguish it from campaigns of the same name. */
const campaign = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('option', { name: new RegExp(`^${name} `) })

test('leads to a campaign by a part of its name, a page and an action, for each kind of account', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  for (const [owner, role, area] of [
    [{ merchant: 'grocer' }, 'admin_user', 'merchant'],
    [{ bank: 'alpha' }, 'ADMIN', 'bank'],
    ['platform', 'admin', 'operator'],
  ] as const) {
    await visitor.empty()
    await visitor.logIn(await addAccount(platform, owner, role))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await search(page).fill('GIFTS')
    await campaign(page, 'Winter gifts').waitFor()
    await assertAccessible(visitor)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/app/${area}/campaigns/${id}`)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Search' }).click()
    await command(page, 'Home').click()
    await page.waitForURL(`**/app/${area}`)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await search(page).fill('new camp')
    const isOffered = area !== 'operator'
    if (isOffered) {
      await command(page, 'New campaign').click()
      await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
    } else await page.getByText('Nothing found').waitFor()
  }
})

test('tells screen readers the chosen command and how many there are', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(await addAccount(platform, { merchant: 'grocer' }, 'admin_user'))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const status = page.getByRole('dialog').getByRole('status')
  const chosen = page.getByRole('dialog').getByRole('option', { selected: true })
  /** Waits until the focused field names the option that is marked as chosen, and this one begins with `name`. */
  const chooses = async (name: RegExp) => {
    await chosen.filter({ hasText: name }).waitFor()
    assert.equal(await chosen.count(), 1)
    assert.equal(await search(page).getAttribute('aria-activedescendant'), await chosen.getAttribute('id'))
  }
  await search(page).fill('camp')
  await chooses(/^Campaigns$/)
  await page.keyboard.press('ArrowDown')
  await chooses(/^New campaign$/)
  await status.getByText('2 results').waitFor({ state: 'attached' })
  const list = page.getByRole('dialog').getByRole('listbox')
  assert.equal(await search(page).getAttribute('aria-controls'), await list.getAttribute('id'))
  assert.equal(await search(page).getAttribute('aria-expanded'), 'true')
  await page.getByRole('group', { name: 'Pages' }).waitFor()
  await assertAccessible(visitor)
  await search(page).fill('nothing of this name')
  await status.getByText('Nothing found').waitFor()
  assert.equal(await search(page).getAttribute('aria-expanded'), 'false')
  assert.equal(await search(page).getAttribute('aria-activedescendant'), null)
  await assertAccessible(visitor)
  await search(page).fill('gifts')
  await chooses(/^Winter gifts/)
  await status.getByText('1 result').waitFor({ state: 'attached' })
})

test('tells campaigns of one name apart: by period and status, and by merchant where there are several', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const name = 'Twin'
  const periods = [1, 2].map(place => ({ dateFrom: inDays(platform, place), dateTo: inDays(platform, place + 40) }))
  for (const period of periods) await createCampaign(platform, { name, ...period })
  await createCampaign(platform, { name, ...periods[0] }, await openMerchant(platform, 'voltshop'))
  for (const [owner, role, count] of [
    [{ merchant: 'grocer' }, 'viewer', 2],
    [{ bank: 'alpha' }, 'EDITOR', 3],
    ['platform', 'viewer', 3],
  ] as const) {
    await visitor.empty()
    await visitor.logIn(await addAccount(platform, owner, role))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await search(page).fill(name)
    await campaign(page, name)
      .nth(count - 1)
      .waitFor()
    const texts = await campaign(page, name).allInnerTexts()
    assert.equal(new Set(texts).size, count, texts.join('\n'))
    for (const text of texts) assert.match(text, /\d{4}.*Awaiting decisions/s)
    if (count === 3) assert.equal(texts.filter(text => text.includes('Вольт')).length, 1, texts.join('\n'))
    await assertAccessible(visitor)
    await page.keyboard.press('Escape')
  }
})

test('offers nobody what the role may not do', async t => {
  const visitor = await visit(t, platform, { viewport: phone })
  if (!visitor) return
  const { page } = visitor
  for (const [owner, role, text] of [
    [{ merchant: 'grocer' }, 'viewer', 'Campaigns'],
    [{ bank: 'alpha' }, 'VIEWER', 'eSIM sales'],
  ] as const) {
    await visitor.empty()
    await visitor.logIn(await addAccount(platform, owner, role))
    await page.getByRole('button', { name: 'Search' }).click()
    await command(page, text).waitFor()
    assert.equal(await command(page, 'New campaign').count(), 0)
    assert.equal(await command(page, 'Campaigns').count(), role === 'viewer' ? 1 : 0)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  }
})

test('in a Ukrainian keyboard layout the same key opens it, and its code is loaded only then', async t => {
  const visitor = await visit(t, platform, { language: 'uk-UA', isNew: true })
  if (!visitor) return
  const { page } = visitor
  const scripts: string[] = []
  page.on('request', request => request.resourceType() === 'script' && scripts.push(request.url()))
  await visitor.logIn(await addAccount(platform, { merchant: 'grocer' }, 'admin_user'))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  assert.ok(scripts.every(url => !url.includes('command-palette')))
  await page.evaluate(`document.body.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'л', code: 'KeyK', ctrlKey: true, bubbles: true, cancelable: true }))`)
  await page.getByRole('dialog').getByPlaceholder('Пошук кампаній і сторінок').waitFor()
  assert.ok(scripts.some(url => url.includes('command-palette')))
})

test('its key does nothing while a dialog is open', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(await addAccount(platform, { bank: 'alpha' }, 'ADMIN'), '/account/people')
  const dialogs = page.getByRole('dialog')
  await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
  await page.keyboard.press('Control+k')
  await search(page).waitFor()
  await page.keyboard.press('Escape')
  await dialogs.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.getByRole('textbox', { name: 'Login' }).fill('half-typed')
  await page.keyboard.press('Control+k')
  await page.evaluate('new Promise(shown => setTimeout(shown, 500))')
  assert.equal(await dialogs.count(), 1)
  assert.equal(await page.getByRole('textbox', { name: 'Login' }).inputValue(), 'half-typed')
})
