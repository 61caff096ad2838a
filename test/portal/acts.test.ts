/**
 * What a page does after an action, in a real browser: where the focus goes, messages about refused actions and lost
 * answers, input that is kept, and the way back to the list.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { assertAccessible, closeBrowser, type Visitor, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids } from '../support/campaigns.ts'
import { agree, assertFits, button, dialog, field, loseAnswer, sees, titled } from '../support/pages.ts'
import { codeOf, logInAs } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import {
  endedCampaign,
  header,
  line,
  move,
  openSides,
  reportOf,
  type Sides,
  uploadBank,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let merchant: Account
let bank: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
  bank = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const press = async (page: Page, name: string) => {
  await button(page, name).focus()
  await page.keyboard.press('Enter')
  await dialog(page).waitFor()
  await dialog(page).getByRole('button', { name }).focus()
  await page.keyboard.press('Enter')
  await dialog(page).waitFor({ state: 'detached' })
}
const headingFocused = (page: Page) => page.locator('h1:focus').waitFor()
const forget = ({ errors }: Visitor, expected: RegExp) => {
  assert.ok(errors.splice(0).every(error => expected.test(error)))
}

suite('the focus after an action', { timeout: 90_000 }, () => {
  test('goes to the heading when the button is gone: a bank takes part, the merchant launches', async t => {
    const id = await createCampaign(platform, { name: 'By keyboard', participantsIds: [ids.alpha] }, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(bank, `/bank/campaigns/${id}`)
    await press(page, 'Take part')
    await sees(page, /^Your bank takes part\. Waiting for/)
    await headingFocused(page)
    await visitor.empty()
    await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
    await press(page, 'Launch')
    await button(page, 'Launch').waitFor({ state: 'detached' })
    await headingFocused(page)
  })

  test('returns to the button when the action fails', async t => {
    const id = await createCampaign(platform, { name: 'As it was' }, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, `/merchant/campaigns/${id}/edit`)
    await field(page, 'Name').fill('Not saved')
    // The request takes longer than the page waits before it looks for a lost focus.
    const hold = (route: Route) => void setTimeout(() => void route.abort(), 600)
    await page.route(`**/for-merchant/${id}`, hold, { times: 1 })
    await button(page, 'Save').focus()
    await page.keyboard.press('Enter')
    await sees(page, /can’t be reached/)
    await page.locator('button[type=submit]:focus').waitFor()
    forget(visitor, /ERR_FAILED/)
  })
})

test('a report whose upload gets no answer stays chosen and checked', { timeout: 60_000 }, async t => {
  const { id, at } = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Lost report' })
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, `/bank/campaigns/${id}/reconciliation`)
  const report = `${header}\nTX-1,T-0001,${at},200.00,10.00\n`
  const csv = { name: 'report.csv', mimeType: 'text/csv', buffer: Buffer.from(report) }
  await page.locator('input[type=file]').setInputFiles(csv)
  await sees(page, 'Check before you send')
  await page.route('**/bank-report', route => route.abort(), { times: 1 })
  await button(page, 'Send to Grocer').click()
  await sees(page, /can’t be reached/)
  await assertAccessible(visitor)
  await button(page, 'Send to Grocer').focus()
  await page.keyboard.press('Enter')
  await sees(page, 'The report was sent to Grocer')
  await headingFocused(page)
  forget(visitor, /ERR_FAILED/)
})

suite('an action', { timeout: 60_000 }, () => {
  test('that is too late says so, and the page shows the campaign as it is', async t => {
    const id = await createCampaign(platform, { name: 'Too late', participantsIds: [ids.alpha] }, sides.grocer)
    assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
    await button(page, 'Launch').click()
    await sees(page, 'Launch “Too late”?')
    const launched = await sides.grocer.call('POST', `/cashbacks/for-merchant/${id}/confirm`)
    assert.equal(launched.status, 201)
    await dialog(page).getByRole('button', { name: 'Launch' }).click()
    await sees(page, 'The campaign has changed')
    await sees(page, 'The merchant launched the campaign')
    await dialog(page).getByRole('button', { name: 'Review the campaign' }).click()
    await button(page, 'Launch').waitFor({ state: 'detached' })
    forget(visitor, /412/)
  })

  test('without an answer is no error once the page shows that it was done', async t => {
    const id = await createCampaign(platform, { name: 'Lost answer' }, sides.grocer)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(bank, `/bank/campaigns/${id}`)
    await loseAnswer(page, 'POST', /\/confirm$/)
    await press(page, 'Take part')
    await sees(page, /^Your bank takes part\. Waiting for/)
    await page.getByText(/can’t be reached/).waitFor({ state: 'detached' })
    forget(visitor, /ERR_CONNECTION_RESET/)
  })

  test('without an answer leaves no error beside the next action: a settlement', async t => {
    const ended = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Lost settlement' })
    const uploaded = await uploadBank(sides.alpha, ended.id, reportOf(line(ended, 'a')))
    assert.equal(uploaded.status, 201, uploaded.text)
    assert.equal((await move(sides.grocer, `${ended.id}/banks/${ids.alpha}/accept-report`)).status, 200)
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(merchant, `/merchant/campaigns/${ended.id}/banks/${ids.alpha}`)
    await loseAnswer(page, 'POST', /\/settle$/)
    await press(page, 'Confirm settlement')
    await button(page, 'Mark as paid').waitFor()
    await page.getByText(/can’t be reached/).waitFor({ state: 'detached' })
    forget(visitor, /ERR_CONNECTION_RESET/)
  })
})

test('the way back to the list keeps its filters, also from another tab of the campaign', async t => {
  await createCampaign(platform, { name: 'Filtered' }, sides.grocer)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  for (const [who, area] of [
    [merchant, 'merchant'],
    [bank, 'bank'],
  ] as const) {
    await visitor.logIn(who, `/${area}/campaigns?name=Filtered&sortBy=name`)
    await page.getByRole('link', { name: 'Filtered' }).click()
    await titled(page, 'Filtered')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.waitForURL(/tab=history/)
    await page.getByRole('link', { name: 'All campaigns' }).click()
    await page.waitForURL(/\/campaigns\?.*name=Filtered/)
    assert.match(page.url(), /sortBy=name/)
    await visitor.empty()
  }
})

test('drafts belong to their tabs; the draft of a closed tab is offered again', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  const restored = /^Your unsaved changes from/
  await visitor.logIn(merchant, '/merchant/campaigns/new')
  await field(page, 'Name').fill('In the first tab')
  const second = await page.context().newPage()
  await second.goto('/app/merchant/campaigns/new')
  assert.equal(await field(second, 'Name').inputValue(), '')
  await field(second, 'Name').fill('In the second tab')
  await second.reload()
  await sees(second, restored)
  assert.equal(await field(second, 'Name').inputValue(), 'In the second tab')
  await button(second, 'Discard changes').click()
  await page.reload()
  await sees(page, restored)
  assert.equal(await field(page, 'Name').inputValue(), 'In the first tab')
  await page.close()
  await second.reload()
  await sees(second, restored)
  assert.equal(await field(second, 'Name').inputValue(), 'In the first tab')
})

test('a draft is back after a reload during which the old page keeps its lock for a while', {
  timeout: 60_000,
}, async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, '/merchant/campaigns/new')
  await field(page, 'Name').fill('On a slow machine')
  const second = await page.context().newPage()
  await second.goto('/app/login')
  // The second page asks for the lock of the first page. It gets the lock when the first page is left, and keeps it for
  // 2.5 seconds.
  await second.evaluate(`navigator.locks.query().then(({ held }) => {
    for (const { name } of held)
      if (name.startsWith('perkline.tab/')) navigator.locks.request(name, () => new Promise(done => setTimeout(done, 2_500)))
  })`)
  await page.reload()
  await sees(page, /^Your unsaved changes from/)
  assert.equal(await field(page, 'Name').inputValue(), 'On a slow machine')
})

test('a home fits on the narrowest phone: the account button and the tiles are whole', async t => {
  const visitor = await visit(t, platform, { viewport: { width: 320, height: 640 } })
  if (!visitor) return
  const { page } = visitor
  for (const who of [bank, merchant]) {
    await visitor.logIn(who)
    await page.getByRole('region', { name: 'Campaigns' }).first().waitFor()
    // Elements that reach beyond the edge of the screen, or whose content is too wide for them.
    const wide =
      await page.evaluate(`[...document.querySelectorAll('header button, header button > *, section a, section a > *')]
      .filter(each => each.checkVisibility() && getComputedStyle(each).position !== 'absolute')
      .filter(each => each.getBoundingClientRect().right > innerWidth || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
      .map(each => each.outerHTML.slice(0, 200))`)
    assert.deepEqual(wide, [])
    await visitor.empty()
  }
})

test('the login page fits on the narrowest phone', async t => {
  for (const language of ['en-GB', 'uk-UA'] as const) {
    const visitor = await visit(t, platform, { language, viewport: { width: 320, height: 640 } })
    if (!visitor) return
    await visitor.open('/login')
    await visitor.page.locator('input[autocomplete=current-password]').waitFor()
    await assertFits(visitor.page)
  }
})

test('what ends access is reported, and its buttons name what they end', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const account = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  const manager = await logInAs(platform, account)
  await logInAs(platform, account)
  const issued = await manager.call('POST', '/portal/credentials', { label: 'Backend', role: 'EDITOR' })
  assert.equal(issued.status, 201, issued.text)
  await visitor.logIn(account, '/account/credentials')
  await button(page, 'New secret: Backend').waitFor()
  await button(page, 'Revoke: Backend').click()
  await agree(page, 'Revoke')
  await sees(page, '“Backend” is revoked')
  await visitor.walk('/account/profile')
  await button(page, /^End: .+, last active /)
    .first()
    .click()
  await sees(page, 'The session has ended')
  await button(page, 'End all other sessions').click()
  await sees(page, 'All other sessions have ended')
  await button(page, 'Set up').click()
  const key = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
  await field(page, 'Code').fill(codeOf(key.replaceAll(' ', '')))
  await button(page, 'Confirm').click()
  await button(page, 'I have saved it').click()
  await button(page, 'Turn off').click()
  await agree(page, 'Turn off')
  await sees(page, 'Two-step login is turned off')
  await assertAccessible(visitor)
})

test('a campaign that was not launched has not started, although its first day is past', async t => {
  const id = await createCampaign(platform, { name: 'Never launched', participantsIds: [ids.alpha] }, sides.grocer)
  // This is the last test of the file, because it moves the platform's clock.
  const moved = await platform.call('POST', '/sandbox/clock', { body: { advance: 'P12D' } })
  assert.equal(moved.status, 200, moved.text)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, `/merchant/campaigns/${id}`)
  const life = page.getByRole('list', { name: 'The campaign’s life' })
  await life.waitFor()
  const notes = (await life.innerText()).match(/(Start|End)(s|ed)(?= \d)/g)
  assert.deepEqual(notes, ['Starts', 'Ends'])
})
