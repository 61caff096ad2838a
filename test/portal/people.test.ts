/** People, credentials, policy and profile in a real browser (contract/people.md). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { assertAccessible, assertCount, closeBrowser, expectRefusals, fillLogin, visit } from '../support/browser.ts'
import { assertFits, inPage } from '../support/pages.ts'
import { codeOf, logInAs } from '../support/people.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { addAccount } from '../support/portal.ts'
import { requireProgram } from '../support/require-program.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

test('a second factor: set up from its QR code, then asked for at the login', async t => {
  if (!requireProgram(t, 'zbarimg')) return
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const account = await addAccount(platform, { merchant: 'grocer' }, 'viewer')
  await logIn(account, '/account/profile')
  await page.getByRole('button', { name: 'Set up' }).press('Enter')
  await page.locator('form :focus').filter({ hasText: /^Scan/ }).waitFor()
  const picture = await page.getByRole('img', { name: 'QR code for the authenticator app' }).getAttribute('src')
  const png = Buffer.from(String(picture).split(',')[1] ?? '', 'base64')
  const { stdout } = spawnSync('zbarimg', ['--quiet', '--raw', 'png:-'], { input: png, encoding: 'utf8' })
  const secret = new URL(stdout.trim()).searchParams.get('secret') ?? ''
  assert.equal(new TOTP({ secret: Secret.fromBase32(secret) }).digits, 6)
  // A phone cannot scan its own screen.
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  await page.setViewportSize({ width: 360, height: 740 })
  const opener = page.getByRole('link', { name: 'Open in your app' })
  assert.equal(await opener.getAttribute('href'), stdout.trim())
  const shownKey = page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/)
  assert.equal((await shownKey.innerText()).replaceAll(' ', ''), secret)
  const overflow = 'return element.scrollWidth - element.clientWidth'
  assert.equal(await inPage(shownKey, overflow), 0)
  await assertFits(page)
  await assertAccessible(visitor)
  await page.setViewportSize({ width, height })
  await opener.waitFor({ state: 'hidden' })
  await page.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret, -1))
  await page.getByRole('button', { name: 'Confirm' }).click()
  const codes = (await page.getByRole('textbox', { name: 'Recovery codes' }).inputValue()).split('\n')
  assert.equal(codes.length, 10)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('10 recovery codes are left.').waitFor()
  await assertAccessible(visitor)

  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL('**/app/login**')
  await fillLogin(page, account)
  await page.getByRole('textbox', { name: 'Code' }).fill('000000')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('alert').getByText('This code is wrong').waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByRole('textbox', { name: 'Recovery code' }).fill(codes[0] ?? '')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL('**/app/merchant')
  await expectRefusals(visitor)
})

test('a person is invited, chooses a password by the link, and is listed', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, empty, open } = visitor
  const manager = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  await logIn(manager, '/account/people')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('textbox', { name: 'Login' }).fill('browser-olena')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('Invited', { exact: true }).waitFor()
  await assertAccessible(visitor)

  await empty()
  await open(link.slice(link.indexOf('/app') + 4))
  await page.locator('input[autocomplete=new-password]').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Log in as browser-olena').waitFor()
  await assertAccessible(visitor)
  // The keyboard alone is enough from here on: the login is filled in, and setting up the second factor is what the
  // page shows first.
  await page.keyboard.press('Enter')
  await page.locator('input[autocomplete=current-password]').fill('correct horse battery staple')
  assert.equal(await page.locator('input[autocomplete=username]').inputValue(), 'browser-olena')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/app/account/profile')
  await page.getByRole('button', { name: 'Set up' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'People' }).count(), 0, 'a viewer manages nobody')
})

test('a person’s address is set, changed and removed, also the own one', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const manager = await addAccount(platform, { bank: 'gamma' }, 'ADMIN')
  const { login } = await addAccount(platform, { bank: 'gamma' }, 'VIEWER')
  await logIn(manager, '/account/people')
  const openForm = async (of: string) => {
    await page.getByRole('button', { name: `Actions for ${of}`, exact: true }).click()
    await page.getByRole('menuitem', { name: 'Change the email' }).click()
    return page.getByRole('dialog').getByRole('textbox', { name: 'Email' })
  }
  const save = () => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  const field = await openForm(login)
  await assertAccessible(visitor)
  await field.fill('nobody')
  await save()
  await page.getByRole('dialog').locator('[aria-invalid=true]').waitFor()
  await field.fill('olena@gamma.example')
  await save()
  await page.getByText('olena@gamma.example').waitFor()
  assert.equal(await (await openForm(login)).inputValue(), 'olena@gamma.example')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Email' }).fill('')
  await save()
  await page.getByText('olena@gamma.example').waitFor({ state: 'detached' })
  await (await openForm(manager.login)).fill('manager@gamma.example')
  await save()
  await page.getByText('manager@gamma.example').waitFor()
  assert.equal(await page.getByRole('menuitem').count(), 0)
  await expectRefusals(visitor)
})

test('many people and credentials are listed page by page, and found by their names', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  const manager = await addAccount(platform, { merchant: 'voltshop' }, 'admin_user')
  const person = await logInAs(platform, manager)
  for (let number = 10; number < 32; number++) {
    const invited = await person.call('POST', '/portal/invitations', { login: `cashier-${number}`, role: 'viewer' })
    assert.equal(invited.status, 201, invited.text)
    const issued = await person.call('POST', '/portal/credentials', { label: `Till ${number}` })
    assert.equal(issued.status, 201, issued.text)
  }
  for (const [path, last, label] of [
    ['/account/people', 'cashier-31', 'Login or email'],
    ['/account/credentials', 'Till 31', 'Name or client ID'],
  ] as const) {
    if (path === '/account/people') await logIn(manager, path)
    else await walk(path)
    await assertCount(page.getByRole('row'), 21)
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.getByRole('row').filter({ hasText: last }).waitFor()
    await page
      .getByRole('searchbox', { name: label })
      .or(page.getByRole('textbox', { name: label }))
      .fill(last)
    await assertCount(page.getByRole('row').filter({ hasText: last }), 1)
    await page.getByRole('status').getByText('1 entry', { exact: true }).waitFor({ state: 'attached' })
  }
  await assertAccessible(visitor)
})

test('an invitation is withdrawn by its row: one made since with the same login stays', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const account = await addAccount(platform, { bank: 'gamma' }, 'ADMIN')
  const colleague = await logInAs(platform, account)
  const inviteTwin = async () =>
    (await colleague.call('POST', '/portal/invitations', { login: 'stale-olena', role: 'VIEWER' })).body
  const first = await inviteTwin()
  await logIn(account, '/account/people')
  const actions = page.getByRole('button', { name: 'Actions for stale-olena' })
  const withdraw = async () => {
    await actions.click()
    await page.getByRole('menuitem', { name: 'Withdraw the invitation' }).click()
    await page.getByRole('dialog').getByText('The link stops working at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the invitation' }).click()
  }
  await page.getByText('stale-olena').waitFor()
  await actions.click()
  await page.getByRole('menuitem', { name: 'Withdraw the invitation' }).click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('[aria-label="Actions for stale-olena"]:focus').waitFor()
  assert.equal((await colleague.call('DELETE', `/portal/invitations/${first.invitationId}`)).status, 204)
  const second = await inviteTwin()
  await withdraw()
  await page.getByText('This invitation was already accepted, withdrawn or is over').waitFor()
  const left = async () => (await colleague.call('GET', '/portal/invitations')).body.data
  assert.deepEqual(
    (await left()).map((invitation: { invitationId: string }) => invitation.invitationId),
    [second.invitationId],
  )
  await withdraw()
  await page.getByText('The invitation is withdrawn.').waitFor()
  assert.deepEqual(await left(), [])
  await assertAccessible(visitor)
  await expectRefusals(visitor)
})

test('rules that are not saved when the session ends are there again after the login', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const account = await addAccount(platform, { bank: 'gamma' }, 'ADMIN')
  await logIn(account, '/account/security')
  const people = page.getByRole('textbox', { name: 'Networks that people may log in from' })
  const systems = page.getByRole('textbox', { name: 'Networks that your systems may call from' })
  await systems.fill('192.0.2.0/24')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your session has ended. Log in to continue where you left off.').waitFor()
  await fillLogin(page, account)
  await page.getByText(/^Your unsaved changes from/).waitFor()
  assert.deepEqual([await people.inputValue(), await systems.inputValue()], ['', '192.0.2.0/24'])
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByText(/^Your unsaved changes from/).waitFor({ state: 'detached' })
  assert.equal(await systems.inputValue(), '')
  // Nothing is entered now, so the login page does not promise to restore input.
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your session has ended. Log in to return to the page you were on.').waitFor()
  await expectRefusals(visitor)
})

test('rules that a colleague has changed meanwhile are not overwritten', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const account = await addAccount(platform, { bank: 'gamma' }, 'ADMIN')
  const colleague = await logInAs(platform, account)
  await logIn(account, '/account/security')
  const minutes = page.getByRole('textbox', { name: 'Session length, minutes' })
  await minutes.fill('45')
  const policy = { mfa: 'optional', sessionMinutes: 90, addresses: { people: [], systems: [] } }
  assert.equal((await colleague.call('PUT', '/portal/security-policy', policy)).status, 200)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('These rules were changed in the meantime').waitFor()
  assert.equal((await colleague.call('GET', '/portal/security-policy')).body.sessionMinutes, 90)
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'Load the current rules' }).click()
  await page.getByText('These rules were changed').waitFor({ state: 'detached' })
  assert.equal(await minutes.inputValue(), '90')
  await minutes.fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('input[aria-invalid=true]').waitFor()
  assert.equal(await minutes.inputValue(), '5')
  assert.equal((await colleague.call('GET', '/portal/security-policy')).body.sessionMinutes, 90)
  for (const value of ['50', '55']) {
    await minutes.fill(value)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. It takes effect within 10 seconds.').first().waitFor()
    await page.getByRole('button', { name: 'Close' }).first().click()
  }
  assert.equal((await colleague.call('GET', '/portal/security-policy')).body.sessionMinutes, 55)
  await expectRefusals(visitor)
})

test('a change that needs a fresh factor asks for the password first; policy and credentials', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  const manager = await addAccount(platform, { bank: 'beta' }, 'ADMIN')
  await logIn(manager, '/account/security')
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  await page.getByRole('textbox', { name: 'Session length, minutes' }).fill('60')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').locator('input[autocomplete=current-password]').fill(manager.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Saved. It takes effect within 10 seconds.').waitFor()
  await assertAccessible(visitor)
  await walk('/account/credentials')
  await page.getByRole('button', { name: 'Issue a credential' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Core banking')
  await page.getByRole('dialog').getByRole('button', { name: 'Issue a credential' }).click()
  assert.match(await page.getByRole('textbox', { name: 'Secret' }).inputValue(), /^[\w-]{43}$/)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('Core banking').waitFor()
  await assertAccessible(visitor)
  const rotate = async () => {
    await page.getByRole('row', { name: 'Core banking' }).getByRole('button', { name: 'New secret' }).click()
    await page.getByText('The current secret works for 24 more hours').waitFor()
  }
  const twice = page.getByText(/^The previous secret still works until .+ A new one ends it at once/)
  await rotate()
  assert.equal(await twice.count(), 0, 'no other secret works yet')
  await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('Old secret until').waitFor()
  await rotate()
  await twice.waitFor()
  await assertAccessible(visitor)
  await expectRefusals(visitor)
})

test('rules that take access away from oneself or from systems are saved after a question', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const account = await addAccount(platform, { merchant: 'voltshop' }, 'admin_user')
  const colleague = await logInAs(platform, account)
  const policy = async () => (await colleague.call('GET', '/portal/security-policy')).body
  await logIn(account, '/account/security')
  await page.getByRole('textbox', { name: 'Networks that your systems may call from' }).fill('192.0.2.0/24')
  await page
    .getByRole('radio', {
      name: 'Required: whoever has none must set it up before anything else, also those who are logged in now',
    })
    .check()
  const ask = async (answer: string) => {
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('You have no two-step login yourself').waitFor()
    await dialog.getByText('Your systems are refused from everywhere else').waitFor()
    await dialog.getByRole('button', { name: answer }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await ask('Cancel')
  assert.deepEqual((await policy()).addresses.systems, [])
  await assertAccessible(visitor)
  const saved = page.waitForResponse(response => response.request().method() === 'PUT')
  await ask('Save')
  assert.equal((await (await saved).json()).mfa, 'required')
  // The next read of the page is refused, so the portal opens the page on which people set up a second factor.
  await page.waitForURL('**/account/profile')
  await expectRefusals(visitor)
})

test('a wrong network is named at its field', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(await addAccount(platform, { bank: 'beta' }, 'ADMIN'), '/account/security')
  const people = page.getByRole('textbox', { name: 'Networks that people may log in from' })
  await people.fill('127.0.0.0/8\n10.0.0.999')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('10.0.0.999: A network like 192.0.2.0/24, or one address').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0, 'only the error of the field')
  assert.equal(await people.getAttribute('aria-invalid'), 'true')
  await assertAccessible(visitor)
  await people.fill('192.0.2.0/24')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('is in none of these networks: you would lose access').waitFor()
  await expectRefusals(visitor)
})

test('a disabled person is enabled again, after a question for the factor', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const manager = await addAccount(platform, { bank: 'beta' }, 'ADMIN')
  const { login } = await addAccount(platform, { bank: 'beta' }, 'VIEWER')
  await logIn(manager, '/account/people')
  const row = page.getByRole('row').filter({ hasText: login })
  const choose = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${login}`, exact: true }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }
  await choose('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
  await row.getByText('Disabled').waitFor()
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  await choose('Enable')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.getByText('Disabled').waitFor()
  await choose('Enable')
  await dialog.locator('input[autocomplete=current-password]:focus').fill(manager.password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await row.getByText('Active').waitFor()
  await assertAccessible(visitor)
  await expectRefusals(visitor)
})

test('a disabled person is erased, and the login is free', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const manager = await addAccount(platform, { bank: 'beta' }, 'ADMIN')
  const leaver = await addAccount(platform, { bank: 'beta' }, 'VIEWER')
  await logIn(manager, '/account/people')
  const act = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${leaver.login}`, exact: true }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }
  await act('Disable')
  await page.getByRole('row').filter({ hasText: leaver.login }).getByText('Disabled').waitFor()
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  await act('Erase')
  await page.getByRole('dialog').locator('input[autocomplete=current-password]').fill(manager.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText(leaver.login, { exact: true }).waitFor({ state: 'detached' })
  await assertAccessible(visitor)
  await expectRefusals(visitor)
})

test('the platform’s admin chooses whose people and credentials', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  const person = await addAccount(platform, { bank: 'gamma' }, 'VIEWER')
  const staff = await addAccount(platform, 'platform', 'admin')
  await logIn(staff, '/account/people')
  await page.getByText(staff.login, { exact: true }).first().waitFor()
  await page.getByRole('combobox', { name: 'Account' }).selectOption('A bank')
  await page.getByRole('combobox', { name: 'Bank' }).click()
  await page.getByRole('option', { name: 'Gamma Bank' }).click()
  await page.waitForURL('**/account/people?bank=gamma')
  await page.getByText(person.login, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('textbox', { name: 'Login' }).fill('invited-by-staff')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('invited-by-staff').waitFor()
  await assertAccessible(visitor)
  await walk('/account/credentials')
  await page.getByText('The platform has no systems of its own').waitFor()
  await walk('/account/credentials?merchant=grocer')
  await page.getByRole('button', { name: 'Issue a credential' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Till systems')
  await page.getByRole('dialog').getByRole('button', { name: 'Issue a credential' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByText('Till systems').waitFor()
  await assertAccessible(visitor)
  await expectRefusals(visitor)
})

test('a kind of account without a code shows no account, and changes none', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, walk } = visitor
  const staff = await addAccount(platform, 'platform', 'admin')
  await logIn(staff, '/account/people')
  await page.getByText(staff.login, { exact: true }).first().waitFor()
  const account = page.getByRole('combobox', { name: 'Account' })
  const choosesFirst = () => page.getByRole('heading', { name: 'Choose a bank or a merchant' }).waitFor()
  for (const kind of ['A bank', 'A merchant']) {
    await account.selectOption(kind)
    await choosesFirst()
    assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0)
    assert.equal(await page.getByRole('table').count(), 0)
    await assertAccessible(visitor)
  }
  // The choice is in the address, so a reload does not lead back to the platform.
  await page.reload()
  await choosesFirst()
  assert.equal(await account.inputValue(), 'merchant')
  await walk('/account/security')
  await page.getByRole('textbox', { name: 'Session length, minutes' }).waitFor()
  await account.selectOption('A bank')
  await choosesFirst()
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
  await walk('/account/credentials')
  await page.getByText('The platform has no systems of its own').waitFor()
  await account.selectOption('A bank')
  await choosesFirst()
  assert.equal(await page.getByRole('button', { name: 'Issue a credential' }).count(), 0)
  // A deselected bank does not lead to the platform either, and the dialog names the account.
  await walk('/account/people?bank=gamma')
  const invitesTo = async (name: string) => {
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog', { name: `Invite someone to ${name}` }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await invitesTo('Gamma Bank')
  await page.getByRole('combobox', { name: 'Bank' }).click()
  await page.getByRole('option', { name: 'Gamma Bank' }).click()
  await choosesFirst()
  await account.selectOption('The platform itself')
  await page.getByText(staff.login, { exact: true }).first().waitFor()
  await invitesTo('Perkline')
  await walk('/account/people?merchant=grocer')
  await invitesTo('Grocer')
  await expectRefusals(visitor)
})

test('a forgotten password: the page says the same for everybody', async t => {
  const visitor = await visit(t, platform, { language: 'uk-UA' })
  if (!visitor) return
  const { page, open } = visitor
  await open('/login')
  await page.getByRole('link', { name: 'Забули пароль?' }).click()
  await page.getByRole('radiogroup', { name: 'Я працюю' }).getByText('у торговця').waitFor()
  await page.getByRole('button', { name: 'Надіслати посилання' }).click()
  await page.getByText('Заповніть це поле').waitFor()
  await page.locator('input[autocomplete=username]:focus').waitFor()
  await page.getByRole('textbox', { name: 'Логін' }).fill('nobody')
  await page.getByRole('button', { name: 'Надіслати посилання' }).click()
  await page.getByText('ми вже надіслали посилання').waitFor()
  await assertAccessible(visitor)
})
