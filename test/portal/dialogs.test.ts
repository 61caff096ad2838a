/**
 * Checks in a real browser what happens to open dialogs when the person leaves the page, when the session ends, and when
 * a change asks for a fresh factor.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, expectRefusals, visit } from '../support/browser.ts'
import { button, dialog, endSessionIn, field, sees, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let manager: Account
let staff: Account
before(async () => {
  platform = await startPlatform()
  staff = await addAccount(platform, 'platform', 'admin')
  manager = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

test('a dialog closes with its page; what is shown once stays until it is kept', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  await logIn(manager, '/account/profile')
  await titled(page, 'Profile')
  await walk('/account/people')
  await button(page, 'Invite').click()
  await dialog(page).waitFor()
  await page.goBack()
  await titled(page, 'Profile')
  await dialog(page).waitFor({ state: 'detached' })

  await walk('/account/credentials')
  await button(page, 'Issue a credential').click()
  await field(page, 'Name').fill('Of the shop')
  await dialog(page).getByRole('button', { name: 'Issue a credential' }).click()
  const secret = dialog(page).getByRole('textbox', { name: 'Secret' })
  await secret.waitFor()
  await page.goBack()
  await titled(page, 'Profile')
  assert.notEqual(await secret.inputValue(), '')
})

test('no dialog stays over the login when the session ends', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(manager, '/account/people')
  await button(page, 'Invite').click()
  await field(page, 'Login').fill('half-typed')
  await page.context().clearCookies()
  await dialog(page).getByRole('button', { name: 'Invite' }).click()
  // The dialog keeps no draft, so the login page promises to return to the page, but not to restore the input.
  await sees(page, 'Your session has ended. Log in to return to the page you were on.')
  await dialog(page).waitFor({ state: 'detached' })

  await logIn(manager, '/account/credentials')
  await button(page, 'Issue a credential').click()
  await field(page, 'Name').fill('Of the till')
  await dialog(page).getByRole('button', { name: 'Issue a credential' }).click()
  await dialog(page).getByRole('textbox', { name: 'Secret' }).waitFor()
  const other = await page.context().newPage()
  await other.goto('/app/account/profile')
  await other.getByRole('button', { name: 'Account' }).click()
  await other.getByRole('menuitem', { name: 'Log out' }).click()
  await titled(page, 'Log in')
  await dialog(page).waitFor({ state: 'detached' })
  await expectRefusals(visitor)
})

/** The dialog that asks for a fresh factor. */
const factor = (page: Page) => page.getByRole('dialog', { name: 'Confirm it’s you' })

test('a form below the dialog of the factor keeps its input and shows the refusal', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(staff, '/account/people')
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  await button(page, 'Invite').click()
  const form = page.getByRole('dialog', { name: 'Invite someone' })
  await form.getByRole('textbox', { name: 'Login' }).fill('petro')
  await form.getByRole('textbox', { name: 'Email' }).fill('petro@')
  const invite = form.getByRole('button', { name: 'Invite' })
  const assertKept = async () => {
    await factor(page).waitFor({ state: 'detached' })
    await invite.and(page.locator(':not([data-loading])')).waitFor()
    assert.equal(await form.getByRole('textbox', { name: 'Login' }).inputValue(), 'petro')
    assert.equal(await form.getByRole('textbox', { name: 'Email' }).inputValue(), 'petro@')
  }
  for (const cancel of [
    () => page.keyboard.press('Escape'),
    () => factor(page).getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await invite.click()
    await factor(page).locator('input:focus').waitFor()
    await cancel()
    await assertKept()
    assert.equal(await page.getByRole('alert').count(), 0)
  }
  await invite.click()
  await factor(page).getByText('more than 15 minutes ago').waitFor()
  await factor(page).locator('input[autocomplete=current-password]').fill('not the password of theirs')
  await factor(page).getByRole('button', { name: 'Continue' }).click()
  await factor(page).getByText('This isn’t right').waitFor()
  await assertAccessible(visitor)
  await factor(page).locator('input[autocomplete=current-password]').fill(staff.password)
  await factor(page).getByRole('button', { name: 'Continue' }).click()
  await form.locator('[aria-invalid=true]:focus').waitFor()
  await assertKept()
  await expectRefusals(visitor)
})

test('a change that is cancelled in the dialog of the factor shows no error', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  await logIn(manager, '/account/security')
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  const minutes = field(page, 'Session length, minutes')
  await minutes.fill('60')
  await button(page, 'Save').click()
  await factor(page).locator('input:focus').waitFor()
  await page.keyboard.press('Escape')
  await factor(page).waitFor({ state: 'detached' })
  await button(page, 'Save').and(page.locator(':not([data-loading])')).waitFor()
  assert.equal(await minutes.inputValue(), '60')
  assert.equal(await page.getByRole('alert').count(), 0)

  await button(page, 'Save').click()
  await factor(page).waitFor()
  await walk('/account/people')
  await factor(page).waitFor({ state: 'detached' })
  await expectRefusals(visitor)
})

test('a new login before the end of the session asks first, and keeps the dialog', { timeout: 60_000 }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await endSessionIn(page, () => 200_000)
  await logIn(manager, '/account/people')
  await button(page, 'Invite').click()
  const form = page.getByRole('dialog', { name: 'Invite someone' })
  await form.getByRole('textbox', { name: 'Login' }).fill('half-typed')
  const notice = page.getByRole('alert').filter({ hasText: 'Your session ends at' })
  const question = page.getByRole('dialog', { name: 'Log in again' })
  for (const refuse of [
    () => page.keyboard.press('Escape'),
    () => question.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await notice.getByRole('button', { name: 'Log in again' }).click()
    await question.getByText('in your other tabs').waitFor()
    await refuse()
    await question.waitFor({ state: 'detached' })
    assert.equal(await form.getByRole('textbox', { name: 'Login' }).inputValue(), 'half-typed')
  }
  assert.equal((await page.request.get('/portal/session')).status(), 200, 'the session goes on')
})
