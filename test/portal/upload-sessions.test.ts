/**
 * The session ends while a file is being sent: the login comes at once, nothing of the page stays visible, and after the
 * login the person can go on.
 */
import assert from 'node:assert/strict'
import { after, before, suite, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser, expectRefusals, fillLogin, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids, inDays } from '../support/campaigns.ts'
import { agree, button, sees, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { endedCampaign, line, openSides, reconciliationOf, reportOf, type Sides } from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let bank: Account
let merchant: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  bank = await addAccount(platform, { bank: 'alpha' }, 'EDITOR')
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const file = (name: string, content: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(content) })
const atBank = (id: string) => `/bank/campaigns/${id}/reconciliation`
const ended = 'Your session has ended. Log in to'
/** What must not be visible behind or above the login. */
const assertLoginAlone = async (page: Page) => {
  await page.getByRole('textbox', { name: 'Login' }).waitFor()
  for (const text of ['Leave while the file is being uploaded?', 'Something went wrong', 'problem on our side'])
    assert.equal(await page.getByText(text).count(), 0, text)
  assert.equal(await page.getByRole('navigation').count(), 0)
}

/** Begins to send a bank's report, whose upload never ends. @returns undefined without a browser */
async function beginUpload(t: TestContext, name: string) {
  const campaign = await endedCampaign(sides, [sides.alpha], { name })
  const visitor = await visit(t, platform)
  if (!visitor) return undefined
  const { page } = visitor
  await visitor.logIn(bank, atBank(campaign.id))
  await page.locator('input[type=file]').setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
  await button(page, 'Send to Grocer').waitFor()
  await page.route(/bank-report$/, () => {})
  await button(page, 'Send to Grocer').click()
  await button(page, 'Cancel').waitFor()
  return visitor
}

suite('the session ends while a file is being sent', { timeout: 60_000 }, () => {
  test('a checked report is there again after the login, and is sent', async t => {
    const campaign = await endedCampaign(sides, [sides.alpha], { name: 'Ended on the way' })
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page, errors } = visitor
    await visitor.logIn(bank, atBank(campaign.id))
    await page.locator('input[type=file]').setInputFiles(file('ours.csv', reportOf(line(campaign, 'a'))))
    await button(page, 'Send to Grocer').waitFor()
    await page.context().clearCookies()
    await button(page, 'Send to Grocer').click()
    await sees(page, `${ended} continue where you left off.`)
    await assertLoginAlone(page)
    await fillLogin(page, bank)
    await page.waitForURL(`**/app${atBank(campaign.id)}`)
    await page.getByRole('region', { name: 'Check before you send' }).getByText('ours.csv').first().waitFor()
    await sees(page, /^The upload of ours\.csv was interrupted/)
    await button(page, 'Send to Grocer').click()
    await sees(page, 'The report was sent to Grocer')
    assert.equal((await reconciliationOf(sides.alpha, campaign.id)).reports.length, 1)
    assert.match(errors.splice(0).join(), /401/)
  })

  test('logging out in another tab hides the page at once', async t => {
    const visitor = await beginUpload(t, 'Left on the way')
    if (!visitor) return
    const { page } = visitor
    const other = await page.context().newPage()
    await other.goto('/app/account/profile')
    await titled(other, 'Profile')
    await button(other, /^Your account/).click()
    await other.getByRole('menuitem', { name: 'Log out' }).click()
    const question = other.getByRole('dialog').getByRole('button', { name: 'Log out' })
    await question.click()
    await sees(page, 'You logged out in another tab.')
    await assertLoginAlone(page)
    await expectRefusals(visitor)
  })

  test('logging out in the same tab asks first', async t => {
    const visitor = await beginUpload(t, 'Kept on the way')
    if (!visitor) return
    const { page } = visitor
    await button(page, /^Your account/).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('dialog').getByText('The upload is stopped').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await button(page, 'Cancel').waitFor()
    assert.equal((await page.request.get('/portal/session')).status(), 200)
  })

  test('a segment: no question and no failure on our side', async t => {
    const id = await createCampaign(
      platform,
      { participantsIds: [ids.alpha], dateFrom: inDays(platform, 10) },
      sides.grocer,
    )
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    const path = `/merchant/campaigns/${id}?tab=segment`
    await visitor.logIn(merchant, path)
    await page.locator('input[type=file]').setInputFiles(file('loyal.csv', 'customerId\nA-1\n'))
    await sees(page, 'Upload “loyal.csv”?')
    await page.context().clearCookies()
    await agree(page, 'Upload')
    await sees(page, ended)
    await assertLoginAlone(page)
    await fillLogin(page, merchant)
    await page.waitForURL(`**/app${path}`)
    await sees(page, /^The upload of loyal\.csv was interrupted/)
    await expectRefusals(visitor)
  })
})
