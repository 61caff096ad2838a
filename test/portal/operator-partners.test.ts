/** The operator’s pages of partners and access in a real browser. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Dialog } from 'playwright-core'
import { assertAccessible, closeBrowser, type Visitor } from '../support/browser.ts'
import { until } from '../support/esim.ts'
import { csv, gone, type OperatorSite, openOperatorSite, press, row } from '../support/operator-site.ts'
import { button, dialog, field, loseAnswer, sees, titled } from '../support/pages.ts'

let site: OperatorSite
before(async () => {
  site = await openOperatorSite()
})
after(async () => {
  await closeBrowser()
  await site.platform.close()
})

const read: OperatorSite['read'] = (...args) => site.read(...args)
const enter: OperatorSite['enter'] = (...args) => site.enter(...args)

/** Accepts an invitation. */
const joinBy = (link: string) =>
  site.platform.call('POST', '/portal/invitations/accept', {
    body: { token: link.slice(link.indexOf('#') + 1), password: 'a long password of theirs' },
  })

suite('partners and access', { timeout: 120_000 }, () => {
  test('a bank is added with its credentials and first user in one go, the rules at its fields, and suspended', async t => {
    const visitor = await enter(t, '/operator/partners')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Add bank').click()
    await page.locator('[data-path=code]:focus').waitFor()
    await field(page, 'Code').fill('delta bank')
    await press(page, 'Save')
    await sees(page, '1 to 64 Latin letters, digits, dots, underscores or hyphens')
    assert.equal(await field(page, 'Code').getAttribute('aria-invalid'), 'true')
    assert.match(errors.splice(0).join(), /400/)
    await assertAccessible(visitor)
    await field(page, 'Code').fill('alpha')
    await field(page, 'Name').fill('Delta Bank')
    await press(page, 'Save')
    await sees(page, 'This code is taken')
    assert.match(errors.splice(0).join(), /409/)
    assert.equal(
      (await read('/partners')).banks.find((bank: any) => bank.entry.code === 'alpha').entry.name,
      'Alpha Bank',
    )
    await field(page, 'Code').fill('delta')
    await dialog(page).getByRole('switch', { name: 'Sells all mobile operators' }).press('Space')
    await dialog(page).getByRole('combobox', { name: 'Mobile operators' }).click()
    await page.getByRole('option', { name: 'Роамвайд' }).click()
    await page.keyboard.press('Tab')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Delta Bank is saved')
    // From here on, the forms do not ask for a partner, because they belong to the new bank.
    await field(page, 'Label').fill('Delta’s backend')
    await assertAccessible(visitor)
    await press(page, 'Issue credentials')
    await sees(page, 'It is shown only once.')
    await assertAccessible(visitor)
    await press(page, 'I have saved it')
    await sees(page, 'Invite someone to Delta Bank')
    assert.equal(await dialog(page).locator('input[type=password]').count(), 0, 'staff never knows a password')
    await assertAccessible(visitor)
    await field(page, 'Login').fill('delta-admin')
    await press(page, 'Invite')
    const link = await field(page, 'Link').inputValue()
    await assertAccessible(visitor)
    await press(page, 'I have saved it')
    await gone(page)
    await titled(page, 'Delta Bank')
    await row(page, 'delta-admin').getByText('Invited').waitFor()
    assert.equal((await joinBy(link)).status, 201)
    const joined = (await read('/users?bank=delta')).map(({ login, role }: any) => [login, role])
    assert.deepEqual(joined, [['delta-admin', 'ADMIN']])
    await row(page, 'Delta’s backend').waitFor()
    await assertAccessible(visitor)
    const suspend = button(page, 'Suspend')
    // Pressing Enter or Escape without reading changes nothing, and the focus returns.
    for (const key of ['Enter', 'Escape']) {
      await suspend.press('Enter')
      await sees(page, /^It loses access/)
      await page.locator('button:focus', { hasText: 'Cancel' }).waitFor()
      await page.keyboard.press(key)
      await gone(page)
      await page.locator('button:focus', { hasText: 'Suspend' }).waitFor()
    }
    await suspend.click()
    await press(page, 'Suspend')
    await sees(page, 'Delta Bank is suspended')
    await button(page, 'Reactivate').waitFor()
    const { banks } = await read('/partners')
    const { entry } = banks.find((bank: any) => bank.entry.code === 'delta')
    assert.deepEqual([entry.name, entry.status, entry.esim.operators], ['Delta Bank', 'suspended', ['roamwide']])
    await page.goBack()
    await page.getByRole('link', { name: 'Alpha Bank' }).click()
    await titled(page, 'Alpha Bank')
    await button(page, 'Edit').click()
    assert.ok(await dialog(page).getByRole('switch', { name: 'Sells all mobile operators' }).isChecked())
    await press(page, 'Cancel')
    await gone(page)
    await assertAccessible(visitor)
  })

  test('a half-filled bank: Back keeps it within the portal, and asks where the page would be unloaded', async t => {
    const visitor = await enter(t, '/operator')
    if (!visitor) return
    const { page } = visitor
    await visitor.open('/operator/partners')
    const asked: string[] = []
    const stay = (question: Dialog) => {
      asked.push(question.type())
      void question.dismiss()
    }
    page.on('dialog', stay)
    t.after(() => page.off('dialog', stay))
    const back = () => page.evaluate('history.back()')
    await button(page, 'Add bank').click()
    await field(page, 'Code').fill('half')
    await back()
    await until('the browser asks', () => asked.length === 1)
    assert.deepEqual(asked, ['beforeunload'])
    assert.equal(await field(page, 'Code').inputValue(), 'half')
    await press(page, 'Cancel')
    await gone(page)

    await visitor.walk('/operator/customers')
    await visitor.walk('/operator/partners')
    await button(page, 'Add bank').click()
    await field(page, 'Code').fill('half')
    await back()
    await page.waitForURL('**/operator/customers')
    assert.equal(await field(page, 'Code').inputValue(), 'half')
    await press(page, 'Cancel')
    await gone(page)
    assert.equal(asked.length, 1)
  })

  test('many banks are shown page by page, and found by name or code', async t => {
    const banks = Array.from({ length: 25 }, (_, index) => ({
      code: `many-${String(index + 1).padStart(2, '0')}`,
      name: `Bank no. ${index + 1}`,
      logoUrl: '',
      apiVersion: '1.0',
      esim: { deliveryMode: 'local', operators: 'all' },
    }))
    const made = await site.staff.call('POST', '/admin/directory', { body: { directory: JSON.stringify({ banks }) } })
    assert.equal(made.status, 200, made.text)
    const visitor = await enter(t, '/operator/partners')
    if (!visitor) return
    const { page } = visitor
    await row(page, 'Bank no. 1').first().waitFor()
    assert.equal(await page.getByRole('table').locator('tbody').getByRole('row').count(), 20)
    await assertAccessible(visitor)
    await page.getByRole('button', { name: 'Page 2' }).click()
    await row(page, 'Bank no. 25').waitFor()
    const search = page.getByRole('searchbox', { name: 'Search banks' })
    await search.fill('MANY-07')
    await row(page, 'Bank no. 7').waitFor()
    await row(page, 'Bank no. 25').waitFor({ state: 'detached' })
    await search.fill('no such bank')
    await sees(page, 'No banks found')
    await assertAccessible(visitor)
    await page.getByRole('tab', { name: 'Merchants' }).click()
    assert.equal(await page.getByRole('searchbox', { name: 'Search merchants' }).inputValue(), '')
  })

  test('a merchant is found and changed; what the form does not show stays', async t => {
    const visitor = await enter(t, '/operator/partners?tab=merchants')
    if (!visitor) return
    const { page } = visitor
    await page.getByRole('searchbox', { name: 'Search merchants' }).fill('вольт')
    await page.waitForURL(/search=/)
    await row(page, 'Вольт').getByRole('link').click()
    await button(page, 'Edit').click()
    await field(page, 'Name in English').fill('Volt')
    // Somebody else changes another field meanwhile; that change must stay.
    await site.staff.call('POST', '/admin/directory', {
      body: { directory: 'merchants: [{ code: voltshop, description: Meanwhile }]' },
    })
    await assertAccessible(visitor)
    await press(page, 'Review changes')
    await sees(page, 'Check what will change')
    await dialog(page).locator('del').waitFor()
    await dialog(page).getByText('Volt', { exact: true }).waitFor()
    await assertAccessible(visitor)
    await press(page, 'Apply changes')
    await sees(page, 'Вольт is saved')
    const [{ entry, terminals }] = (await read('/partners?search=volt')).merchants.data
    const { nameEn, description, excludedBanks } = entry
    assert.deepEqual([nameEn, description, excludedBanks, terminals], ['Volt', 'Meanwhile', ['beta'], 1])
    await titled(page, 'Volt')
    await assertAccessible(visitor)
  })

  test('a new merchant is added, with the rules at its fields', async t => {
    const visitor = await enter(t, '/operator/partners?tab=merchants')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Add merchant').click()
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('bakery')
    await press(page, 'Save')
    await sees(page, 'Fill this in')
    assert.match(errors.splice(0).join(), /400/)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Пекарня')
    await field(page, 'Domains').fill('bakery.example, bread.example')
    await dialog(page).getByRole('combobox', { name: 'Excluded banks' }).click()
    await page.getByRole('option', { name: 'Бета Банк' }).click()
    await page.keyboard.press('Tab')
    await assertAccessible(visitor)
    await press(page, 'Save')
    await sees(page, 'Пекарня is saved')
    await press(page, 'Skip for now')
    await press(page, 'Skip for now')
    await titled(page, 'Пекарня')
    await sees(page, 'Бета Банк')
    const [{ entry, terminals }] = (await read('/partners?search=bakery')).merchants.data
    const { status, domain, excludedBanks } = entry
    assert.deepEqual(
      [status, domain, excludedBanks, terminals],
      ['active', ['bakery.example', 'bread.example'], ['beta'], 0],
    )
  })

  test('a person is invited once though the answer gets lost, is listed, joins, and is disabled', async t => {
    const visitor = await enter(t, '/operator/partners/merchants/grocer')
    if (!visitor) return
    const { page, errors } = visitor
    await button(page, 'Invite').click()
    await page.getByRole('dialog', { name: 'Invite someone to Grocer' }).waitFor()
    await field(page, 'Login').fill('olena')
    await loseAnswer(page, 'POST', /^\/portal\/invitations$/)
    await press(page, 'Invite')
    await sees(page, 'The person may be invited already')
    assert.equal(await dialog(page).getByRole('alert').count(), 1, 'one message')
    await page.getByRole('row', { includeHidden: true }).filter({ hasText: 'olena' }).waitFor()
    assert.match(errors.splice(0).join(), /ERR_CONNECTION_RESET/)
    await assertAccessible(visitor)
    await press(page, 'Invite')
    const link = await field(page, 'Link').inputValue()
    await press(page, 'I have saved it')
    await row(page, 'olena').getByText('Invited').waitFor()
    assert.equal(await row(page, 'olena').count(), 1)
    await assertAccessible(visitor)
    await button(page, 'Invite').click()
    await field(page, 'Login').fill('olena')
    await press(page, 'Invite')
    await sees(page, 'Somebody is invited with this login already')
    assert.equal(await field(page, 'Login').getAttribute('aria-invalid'), 'true')
    assert.match(errors.splice(0).join(), /409/)
    await press(page, 'Cancel')
    await gone(page)
    await page.getByRole('link', { name: 'Withdraw in People: olena' }).click()
    await titled(page, 'People')
    await row(page, 'olena').getByText('Invited').waitFor()
    assert.equal((await joinBy(link)).status, 201)
    await visitor.open('/operator/access')
    await row(page, 'olena').waitFor()
    await assertAccessible(visitor)
    assert.equal(await row(page, site.admin.login).getByRole('button').count(), 0, 'nobody locks themselves out')
    await row(page, 'olena').getByRole('button', { name: 'Disable' }).click()
    await sees(page, 'You can enable them again on the page “People”.')
    await press(page, 'Disable')
    await row(page, 'olena').getByText('Disabled').waitFor()
    const olena = (await read('/users')).find((user: any) => user.login === 'olena')
    assert.deepEqual([olena.merchant, olena.role, olena.disabledAt !== null], ['grocer', 'viewer', true])
    await page.getByRole('link', { name: 'Enable in People: olena' }).click()
    await titled(page, 'People')
    await button(page, 'Actions for olena').click()
    await page.getByRole('menuitem', { name: 'Enable' }).waitFor()
    await page.keyboard.press('Escape')
    await visitor.open('/operator/access')
    await page.getByRole('link', { name: 'Invite in People' }).click()
    await sees(page, 'Choose a bank or a merchant')
  })

  test('a credential’s secret is shown once, and again only as a new one', async t => {
    const visitor = await enter(t, '/operator/access?tab=credentials')
    if (!visitor) return
    const { page, errors } = visitor
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Issue credentials').click()
    await page.getByRole('combobox', { name: 'Bank', exact: true }).click()
    await page.getByRole('option', { name: 'Бета Банк' }).click()
    await field(page, 'Label').fill('Beta’s backend')
    await assertAccessible(visitor)
    // The answer gets lost: the credential exists, with a secret that nobody has seen.
    await loseAnswer(page, 'POST', /^\/admin\/credentials$/)
    await press(page, 'Issue credentials')
    await sees(page, /^The answer got lost, so the credentials may have been issued\./)
    assert.equal(await dialog(page).getByRole('alert').count(), 1, 'one message')
    const list = dialog(page).getByRole('link', { name: 'Open the list in a new tab' })
    assert.equal(await list.getAttribute('href'), '/app/operator/partners/banks/beta')
    await assertAccessible(visitor)
    assert.match(errors.splice(0).join(), /ERR_CONNECTION_RESET/)
    const lost = (await read('/credentials')).find((each: any) => each.label === 'Beta’s backend')
    await site.staff.call('POST', `/admin/credentials/${lost.clientId}/revoke`)
    await field(page, 'Label').fill('Beta’s own backend')
    await press(page, 'Issue credentials')
    await sees(page, 'Save this secret now')
    await assertAccessible(visitor)
    const first = await keepSecret(visitor)
    await row(page, 'Beta’s own backend').getByRole('button', { name: 'New secret' }).click()
    await press(page, 'New secret')
    const second = await keepSecret(visitor)
    assert.equal(second.clientId, first.clientId)
    assert.notEqual(second.secret, first.secret)
    for (const body of [first, second])
      assert.equal(
        (await site.platform.call('POST', '/getToken/auth', { body })).status,
        200,
        'the one before works for a day',
      )
    await row(page, 'Beta’s own backend')
      .getByText(/^Old secret works until /)
      .waitFor()
    await assertAccessible(visitor)
    await row(page, 'Beta’s own backend').getByRole('button', { name: 'New secret' }).click()
    await sees(page, /^The previous secret still works until .+ A new one ends it at once/)
    await dialog(page).getByRole('combobox').selectOption('7 days')
    await assertAccessible(visitor)
    await press(page, 'New secret')
    const third = await keepSecret(visitor)
    const statuses = [first, second, third].map(
      async body => (await site.platform.call('POST', '/getToken/auth', { body })).status,
    )
    assert.deepEqual(await Promise.all(statuses), [400, 200, 200])
    const { previousValidUntil } = (await read('/credentials')).find((each: any) => each.clientId === third.clientId)
    assert.ok(Date.parse(previousValidUntil) > Date.now() + 6 * 86_400_000)
    await row(page, 'Beta’s own backend').getByRole('button', { name: 'Revoke' }).click()
    await press(page, 'Revoke')
    await row(page, 'Beta’s own backend').getByText('Revoked').waitFor()
    assert.equal((await site.platform.call('POST', '/getToken/auth', { body: third })).status, 400)
  })
})

/**
 * Copies the shown secret. A click outside the dialog does not close it. After the dialog is closed, the secret is not
 * on the page any more.
 */
async function keepSecret({ page }: Visitor): Promise<{ clientId: string; secret: string }> {
  await sees(page, 'Save this secret now')
  const clientId = await field(page, 'Client id').inputValue()
  const secret = await field(page, 'Secret').inputValue()
  assert.ok(secret.length >= 32)
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await press(page, 'Copy')
  await press(page, 'Copied')
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
  await press(page, 'I have saved it')
  await gone(page)
  const kept = `document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(each => each.value)
    + JSON.stringify([localStorage, sessionStorage])`
  assert.ok(!String(await page.evaluate(kept)).includes(secret))
  return { clientId, secret }
}

test('a merchant’s terminals are looked through, and replaced after what changes was shown', async t => {
  const visitor = await enter(t, '/operator/partners/merchants/grocer')
  if (!visitor) return
  const { page, errors } = visitor
  await row(page, 'T-0001').getByText('Kyiv, Main St 1').waitFor()
  await page.getByRole('searchbox', { name: 'Search terminals' }).fill('t-0002')
  await row(page, 'T-0001').waitFor({ state: 'detached' })
  await assertAccessible(visitor)
  const choose = page.locator('input[type=file]')
  await choose.setInputFiles(csv('terminalId,name\n,Nameless\n'))
  await sees(page, 'Line 2, terminalId: must have 1 to 128 characters in one line')
  assert.match(errors.splice(0).join(), /400/)
  const inWindows1251 = Buffer.from('terminalId,name\nT-0002,\xca\xe0\xf1\xe0\n', 'latin1')
  await choose.setInputFiles({ ...csv(''), buffer: inWindows1251 })
  await sees(page, 'save the file in UTF-8 (in Excel as “CSV UTF-8”)')
  await choose.setInputFiles(csv('terminalId|name\nT-0002|"Shop 2\n'))
  await sees(page, /^Line 1: the first line must name terminalId .*\(terminalId\|name\)$/)
  assert.match(errors.splice(0).join(), /400/)
  // As spreadsheets save it where a comma is a decimal comma, and as text in UTF-16.
  const rows = [
    ['terminalId', 'name'],
    ['T-0002', '"Shop 2; by the market"'],
    ['T-0003', 'Shop 3'],
  ]
  const text = (separator: string) => `\ufeff${rows.map(cells => cells.join(separator)).join('\r\n')}\r\n`
  await choose.setInputFiles({ ...csv(''), buffer: Buffer.from(text('\t'), 'utf16le') })
  await sees(page, '1 added, 1 removed, 1 changed')
  await button(page, 'Choose another file').click()
  await choose.setInputFiles(csv(text(';')))
  await sees(page, '1 added, 1 removed, 1 changed')
  await assertAccessible(visitor)
  assert.equal((await read('/merchants/grocer/terminals')).pagination.totalItems, 2)
  await button(page, 'Apply changes').click()
  await sees(page, 'The terminals are replaced')
  const { data } = await read('/merchants/grocer/terminals')
  assert.deepEqual(
    data.map(({ terminalId, name }: any) => [terminalId, name]),
    [
      ['T-0002', 'Shop 2; by the market'],
      ['T-0003', 'Shop 3'],
    ],
  )
})
