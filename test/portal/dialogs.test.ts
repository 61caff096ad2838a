/** Checks in a real browser what happens to open dialogs when the person leaves the page or the session ends. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeBrowser, expectRefusals, visit } from '../support/browser.ts'
import { button, dialog, field, sees, titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let manager: Account
before(async () => {
  platform = await startPlatform()
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
  await sees(page, 'Your session has ended')
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
