/** In a real browser: the second press of a double click, or a second Enter, sends nothing again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { closeBrowser, expectRefusals } from '../support/browser.ts'
import { createCampaign } from '../support/campaigns.ts'
import { gone, type OperatorSite, openOperatorSite, press } from '../support/operator-site.ts'
import { button, dialog, field, sees } from '../support/pages.ts'
import { type Account, addAccount } from '../support/portal.ts'

let site: OperatorSite
let bank: Account
before(async () => {
  site = await openOperatorSite()
  bank = await addAccount(site.platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await closeBrowser()
  await site.platform.close()
})

/** Collects the paths of the changes that the page sends from now on. */
function changesOf(page: Page): string[] {
  const sent: string[] = []
  page.on('request', request => {
    if (request.method() !== 'GET' && request.method() !== 'HEAD') sent.push(new URL(request.url()).pathname)
  })
  return sent
}

const inDialog = (page: Page, name: string): Locator => dialog(page).getByRole('button', { name, exact: true })

test('a campaign is declined once', { timeout: 60_000 }, async t => {
  const id = await createCampaign(site.platform, { name: 'Unwanted' })
  const visitor = await site.enter(t, `/bank/campaigns/${id}`, bank)
  if (!visitor) return
  const { page } = visitor
  const sent = changesOf(page)
  await button(page, 'Decline').click()
  await inDialog(page, 'Decline').dblclick()
  await sees(page, 'Your bank has declined')
  await gone(page)
  assert.deepEqual(sent, [`/cashbacks/${id}/reject`])
})

test('a question is asked once', { timeout: 60_000 }, async t => {
  const id = await createCampaign(site.platform, { name: 'Asked once' })
  const visitor = await site.enter(t, `/bank/campaigns/${id}`, bank)
  if (!visitor) return
  const { page } = visitor
  const sent = changesOf(page)
  await button(page, 'Take part').dblclick()
  await inDialog(page, 'Take part').click()
  await sees(page, /^Your bank takes part/)
  await gone(page)
  assert.equal(sent.length, 1)
  assert.equal(await dialog(page).count(), 0)
})

test('a bank is added once, and its changes are applied once', { timeout: 60_000 }, async t => {
  const visitor = await site.enter(t, '/operator/partners')
  if (!visitor) return
  const { page } = visitor
  const sent = changesOf(page)
  await button(page, 'Add bank').click()
  await field(page, 'Code').fill('delta')
  await field(page, 'Name').fill('Delta Bank')
  await inDialog(page, 'Save').dblclick()
  await sees(page, 'Delta Bank is saved')
  assert.equal(sent.splice(0).length, 1)
  await page.goto(`${site.platform.url}/app/operator/partners/banks/delta`)
  await button(page, 'Edit').click()
  await field(page, 'Name').fill('Delta & Sons')
  await press(page, 'Review changes')
  await inDialog(page, 'Apply changes').waitFor()
  sent.splice(0)
  await inDialog(page, 'Apply changes').dblclick()
  await sees(page, 'Delta & Sons is saved')
  await gone(page)
  assert.equal(sent.length, 1)
})

test('an authenticator app gets one key', { timeout: 60_000 }, async t => {
  const person = await addAccount(site.platform, { bank: 'beta' }, 'VIEWER')
  const visitor = await site.enter(t, '/account/profile', person)
  if (!visitor) return
  const { page } = visitor
  const sent = changesOf(page)
  await button(page, 'Set up').dblclick()
  await field(page, 'Code').waitFor()
  assert.deepEqual(sent, ['/portal/mfa/totp'])
})

test('a factor is sent once, as each attempt counts', { timeout: 60_000 }, async t => {
  const manager = await addAccount(site.platform, { bank: 'beta' }, 'ADMIN')
  const visitor = await site.enter(t, '/account/security', manager)
  if (!visitor) return
  const { page } = visitor
  await site.platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  await field(page, 'Session length, minutes').fill('60')
  await button(page, 'Save').click()
  await dialog(page).locator('input[autocomplete=current-password]').fill('not the password of theirs')
  const sent = changesOf(page)
  await inDialog(page, 'Continue').dblclick()
  await dialog(page).getByRole('alert').waitFor()
  assert.deepEqual(sent, ['/portal/session/verify'])
  await expectRefusals(visitor)
})
