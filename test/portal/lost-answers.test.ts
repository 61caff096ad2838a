/**
 * A change whose answer got lost, in a real browser. The platform has made the change, and the person presses the button again. The
 * change must not be made twice, and the page must not say that it was not made.
 */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, type Visitor } from '../support/browser.ts'
import { createCampaign, ids } from '../support/campaigns.ts'
import { type OperatorSite, openOperatorSite, press } from '../support/operator-site.ts'
import { button, dialog, field, loseAnswer, sees, titled } from '../support/pages.ts'
import { logInAs } from '../support/people.ts'
import { type Account, addAccount } from '../support/portal.ts'

const timeout = 60_000
let site: OperatorSite
let manager: Account
let merchant: Account
before(async () => {
  site = await openOperatorSite()
  manager = await addAccount(site.platform, { bank: 'alpha' }, 'ADMIN')
  merchant = await addAccount(site.platform, { merchant: 'grocer' }, 'editor')
})
after(async () => {
  await closeBrowser()
  await site.platform.close()
})

/** Ends a test: leaves the page, and removes the expected errors about lost answers and refusals. */
async function expectLost({ page, errors }: Visitor): Promise<void> {
  await page.goto('about:blank')
  const unexpected = errors.splice(0).filter(error => !/ERR_CONNECTION_RESET|\b4\d\d\b/.test(error))
  assert.deepEqual(unexpected, [])
}

const tellsLost = (page: Page) => sees(page, /^Perkline can’t be reached/)
const endpoints = async (): Promise<any[]> => {
  const person = await logInAs(site.platform, manager)
  return (await person.call('GET', '/partner/v1/webhook-endpoints')).body.data
}

test('a webhook: added once, one new secret, and a deleted one is gone from the page', { timeout }, async t => {
  const visitor = await site.enter(t, '/account/webhooks', manager)
  if (!visitor) return
  const { page } = visitor
  await loseAnswer(page, 'POST', /webhook-endpoints$/)
  await button(page, 'Add an endpoint').click()
  await field(page, 'Address').fill('http://127.0.0.1:18399/hook')
  await press(page, 'Add an endpoint')
  await sees(page, 'The endpoint may have been added already')
  await press(page, 'Add an endpoint')
  await field(page, 'Secret').waitFor()
  await press(page, 'I have saved it')
  const [made, ...others] = await endpoints()
  assert.deepEqual(others, [], 'one endpoint')

  const choose = async (name: string) => {
    await button(page, 'More').click()
    await page.getByRole('menuitem', { name }).click()
    await press(page, name)
  }
  await visitor.open(`/account/webhooks/${made.endpointId}`)
  await loseAnswer(page, 'POST', /rotate-secret$/)
  await choose('New secret')
  await tellsLost(page)
  // The page shows that the secret was replaced.
  await sees(page, /\d.* until .*\d/)
  const [before] = await endpoints()
  assert.equal(before.secrets.length, 2)
  await choose('New secret')
  await field(page, 'Secret').waitFor()
  await press(page, 'I have saved it')
  const [rotated] = await endpoints()
  assert.deepEqual(rotated.secrets, before.secrets, 'the secret is replaced once')

  await visitor.open(`/account/webhooks/${made.endpointId}`)
  await loseAnswer(page, 'POST', /disable$/)
  await choose('Disable')
  await sees(page, 'By the account itself')
  await button(page, 'Enable').click()
  await press(page, 'Enable')
  await page.getByText('Enabled', { exact: true }).waitFor()
  await choose('Disable')
  await sees(page, 'By the account itself')
  assert.equal((await endpoints())[0].status, 'disabled')

  await loseAnswer(page, 'DELETE', /webhook-endpoints/)
  await choose('Delete')
  await titled(page, 'Endpoint not found')
  assert.equal(await button(page, 'More').count(), 0)
  assert.deepEqual(await endpoints(), [])
  await expectLost(visitor)
})

test('the own password: changed once, and saved', { timeout }, async t => {
  const person = await addAccount(site.platform, { bank: 'alpha' }, 'VIEWER')
  const visitor = await site.enter(t, '/account/profile', person)
  if (!visitor) return
  const { page } = visitor
  await loseAnswer(page, 'POST', /^\/portal\/password$/)
  await page.locator('input[autocomplete=current-password]').fill(person.password)
  await page.locator('input[autocomplete=new-password]').fill('another long password')
  await button(page, 'Change the password').click()
  await tellsLost(page)
  assert.ok(!String(await page.evaluate('JSON.stringify(sessionStorage)')).includes('perkline.key/'))
  await button(page, 'Change the password').click()
  await sees(page, 'Your password is changed. Other sessions have ended.')
  assert.equal(await page.locator('form').getByRole('alert').count(), 0, 'nothing more is said about the first try')
  await logInAs(site.platform, { ...person, password: 'another long password' })
  await expectLost(visitor)
})

test('a link that chooses a password says that this may be done already', { timeout }, async t => {
  const person = await logInAs(site.platform, manager)
  const { body } = await person.call('POST', '/portal/invitations', { login: 'lost-olena', role: 'VIEWER' })
  const link: string = body.link
  const visitor = await site.enter(t, '/account/profile', manager)
  if (!visitor) return
  const { page } = visitor
  await visitor.empty()
  await visitor.open(link.slice(link.indexOf('/app') + 4))
  await loseAnswer(page, 'POST', /accept$/)
  await page.locator('input[autocomplete=new-password]').fill('correct horse battery staple')
  await button(page, 'Save').click()
  await tellsLost(page)
  await button(page, 'Save').click()
  await sees(page, 'Your password may be saved already: try to log in with it.')
  assert.equal(await page.getByText('it was already used').count(), 0)
  await assertAccessible(visitor)
  await page.getByRole('link', { name: 'Back to login' }).click()
  await page.waitForURL('**/app/login**')
  await expectLost(visitor)
})

const edited = { name: 'Before', participantsIds: [ids.beta, ids.gamma] }
const nameOf = async (id: string) =>
  (await (await logInAs(site.platform, merchant)).call('GET', `/cashbacks/for-merchant/${id}`)).body.name

test('an edit that is saved: pressing again says so, and names no other change', { timeout }, async t => {
  const id = await createCampaign(site.platform, edited)
  const visitor = await site.enter(t, `/merchant/campaigns/${id}/edit`, merchant)
  if (!visitor) return
  const { page } = visitor
  await loseAnswer(page, 'PATCH', /for-merchant/)
  await field(page, 'Name').fill('After')
  await page.getByRole('checkbox', { name: 'Alpha Bank' }).check()
  await button(page, 'Save').click()
  await tellsLost(page)
  assert.equal(await nameOf(id), 'After')
  await button(page, 'Save').click()
  await sees(page, 'The changes are saved')
  await titled(page, 'After')
  await expectLost(visitor)
})

test('an edit that is saved: after a reload nothing is left to decide', { timeout }, async t => {
  const id = await createCampaign(site.platform, edited)
  const visitor = await site.enter(t, `/merchant/campaigns/${id}/edit`, merchant)
  if (!visitor) return
  const { page } = visitor
  await loseAnswer(page, 'PATCH', /for-merchant/)
  await field(page, 'Name').fill('After')
  await button(page, 'Save').click()
  await tellsLost(page)
  await page.reload()
  await field(page, 'Name').waitFor()
  assert.equal(await field(page, 'Name').inputValue(), 'After')
  for (const text of [/^This campaign was changed/, /^Your unsaved changes/])
    assert.equal(await page.getByText(text).count(), 0)
  await expectLost(visitor)
})

const rules = async () => (await (await logInAs(site.platform, manager)).call('GET', '/portal/security-policy')).body

for (const isReloaded of [false, true])
  test(`rules that are saved: ${isReloaded ? 'after a reload nothing is left' : 'pressing again says so'}`, {
    timeout,
  }, async t => {
    const visitor = await site.enter(t, '/account/security', manager)
    if (!visitor) return
    const { page } = visitor
    const minutes = field(page, 'Session length, minutes')
    const typed = isReloaded ? '46' : '45'
    await minutes.waitFor()
    await loseAnswer(page, 'PUT', /security-policy$/)
    await minutes.fill(typed)
    await button(page, 'Save').click()
    await tellsLost(page)
    assert.equal((await rules()).sessionMinutes, Number(typed))
    if (isReloaded) {
      await page.reload()
      await minutes.waitFor()
    } else {
      await button(page, 'Save').click()
      await sees(page, 'Saved. It takes effect within 10 seconds.')
      assert.equal(await page.locator('form').getByRole('alert').count(), 0)
    }
    assert.equal(await page.getByText(/^Your unsaved changes/).count(), 0)
    // The form has the newer version now, so the next change is saved.
    await minutes.fill('50')
    await button(page, 'Save').click()
    await sees(page, 'Saved. It takes effect within 10 seconds.')
    assert.equal(await minutes.inputValue(), '50')
    while ((await rules()).sessionMinutes !== 50) await page.waitForTimeout(50)
    await expectLost(visitor)
  })

test('an edit of a webhook: pressing again says that it is saved; a colleague’s edit is shown', {
  timeout,
}, async t => {
  const person = await logInAs(site.platform, manager)
  const url = 'http://127.0.0.1:18399/edited'
  const types = ['order.confirmed', 'order.cancelled']
  const { body } = await person.call('POST', '/partner/v1/webhook-endpoints', { url, eventTypes: types })
  const path = `/partner/v1/webhook-endpoints/${body.endpointId}`
  const note = async () => (await person.call('GET', path)).body.description
  const visitor = await site.enter(t, `/account/webhooks/${body.endpointId}`, manager)
  if (!visitor) return
  const { page } = visitor
  const open = async () => {
    await button(page, 'More').click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
  }
  await open()
  await loseAnswer(page, 'PATCH', /webhook-endpoints/)
  await field(page, 'Note').fill('Core')
  await press(page, 'Save')
  await tellsLost(page)
  assert.equal(await note(), 'Core')
  await press(page, 'Save')
  await sees(page, 'Saved.')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  await open()
  await field(page, 'Note').fill('Mine')
  assert.equal((await person.call('PATCH', path, { description: 'Theirs' })).status, 200)
  await press(page, 'Save')
  await sees(page, 'This endpoint was changed in the meantime')
  assert.equal(await note(), 'Theirs')
  await assertAccessible(visitor)
  await press(page, 'Load the current settings')
  assert.equal(await field(page, 'Note').inputValue(), 'Theirs')
  await field(page, 'Note').fill('Both')
  await press(page, 'Save')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await note(), 'Both')
  await expectLost(visitor)
})

/** Opens a copy of a campaign as a new one and fills in its dates. @returns the names of the merchant's campaigns called `name` */
async function copyCampaign(t: TestContext, name: string) {
  const id = await createCampaign(site.platform, { name, participantsIds: [ids.alpha] })
  const visitor = await site.enter(t, `/merchant/campaigns/new?from=${id}`, merchant)
  if (!visitor) return null
  const { page } = visitor
  const year = new Date().getFullYear() + 1
  await field(page, 'First day').fill(`05.01.${year}`)
  await field(page, 'Last day').fill(`20.01.${year}`)
  const copies = async (): Promise<number> => {
    const { body } = await (await logInAs(site.platform, merchant)).call('GET', `/cashbacks/for-merchant?name=${name}`)
    return body.data.length - 1
  }
  return { visitor, copies }
}

const create = 'Create and invite the banks'
const mayExist = /^The campaign may have been created already/

test('a new campaign: the page says that it may exist; sent again without changes, it is created once', {
  timeout,
}, async t => {
  const opened = await copyCampaign(t, 'LostSame')
  if (!opened) return
  const { visitor, copies } = opened
  const { page } = visitor
  await loseAnswer(page, 'POST', /for-merchant$/)
  await button(page, create).click()
  await tellsLost(page)
  await sees(page, mayExist)
  await page.getByRole('link', { name: 'Look at the list' }).waitFor()
  await assertAccessible(visitor)
  await button(page, create).click()
  await titled(page, 'LostSame')
  assert.equal(await copies(), 1)
  await expectLost(visitor)
})

for (const isReloaded of [false, true])
  test(`a new campaign that is changed after its answer got lost: ${isReloaded ? 'after a reload, too, ' : ''}it asks first`, {
    timeout,
  }, async t => {
    const name = isReloaded ? 'LostReloaded' : 'LostChanged'
    const opened = await copyCampaign(t, name)
    if (!opened) return
    const { visitor, copies } = opened
    const { page } = visitor
    await loseAnswer(page, 'POST', /for-merchant$/)
    await button(page, create).click()
    await sees(page, mayExist)
    if (isReloaded) {
      await page.reload()
      await sees(page, mayExist)
    }
    await field(page, /^Cashback/).fill('6')
    await button(page, create).click()
    await sees(page, /^The answer to your first try got lost/)
    await assertAccessible(visitor)
    await press(page, 'Cancel')
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(await copies(), 1)
    await button(page, create).click()
    await press(page, 'Create another one')
    await titled(page, name)
    assert.equal(await copies(), 2)
    // The next campaign is another one, so nothing is asked.
    await visitor.open('/merchant/campaigns/new')
    await field(page, 'Name').fill('Next')
    await page.reload()
    await sees(page, /^Your unsaved changes/)
    assert.equal(await page.getByText(mayExist).count(), 0)
    await expectLost(visitor)
  })

const listed = (body: any): any[] => body.data ?? body

/** Forms in dialogs that create something: where, how to fill them in, and a list of what exists. */
const dialogs = [
  {
    thing: 'webhook',
    page: '/account/webhooks',
    action: 'Add an endpoint',
    title: 'The endpoint may have been added already',
    another: 'Add another one',
    list: '/partner/v1/webhook-endpoints',
    fill: (page: Page) => field(page, 'Address').fill('http://127.0.0.1:18399/twice'),
    correct: (page: Page) => field(page, 'Note').fill('Corrected'),
    corrected: (each: any) => each.description === 'Corrected',
  },
  {
    thing: 'credential',
    page: '/account/credentials',
    action: 'Issue a credential',
    title: 'The credential may have been issued already',
    another: 'Issue another one',
    list: '/portal/credentials',
    fill: (page: Page) => dialog(page).getByRole('textbox', { name: 'Name' }).fill('Tils'),
    correct: (page: Page) => dialog(page).getByRole('textbox', { name: 'Name' }).fill('Tills'),
    corrected: (each: any) => each.label === 'Tills',
  },
  {
    thing: 'invitation',
    page: '/account/people',
    action: 'Invite',
    title: 'The person may be invited already',
    another: 'Invite all the same',
    list: '/portal/invitations',
    fill: (page: Page) => field(page, 'Login').fill('twice-olen'),
    correct: (page: Page) => field(page, 'Login').fill('twice-olena'),
    corrected: (each: any) => each.login === 'twice-olena',
  },
]

for (const { thing, page: path, action, title, another, list, fill, correct, corrected } of dialogs)
  test(`a new ${thing} that is changed after its answer got lost: it asks first`, { timeout }, async t => {
    const person = await logInAs(site.platform, manager)
    const made = async (): Promise<any[]> => listed((await person.call('GET', list)).body)
    const before = (await made()).length
    const visitor = await site.enter(t, path, manager)
    if (!visitor) return
    const { page } = visitor
    await loseAnswer(page, 'POST', new RegExp(`${list}$`))
    await button(page, action).click()
    await fill(page)
    await press(page, action)
    await sees(page, title)
    assert.equal((await made()).length, before + 1)
    await assertAccessible(visitor)
    await correct(page)
    await press(page, action)
    const question = page.getByRole('dialog').filter({ hasText: 'The answer to your first try got lost' })
    await question.waitFor()
    await assertAccessible(visitor)
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    assert.equal((await made()).length, before + 1, 'nothing more is created')
    // The form still shows what was typed.
    await press(page, action)
    await question.getByRole('button', { name: another }).click()
    await question.waitFor({ state: 'detached' })
    await button(page, 'I have saved it').click()
    assert.equal((await made()).length, before + 2)
    assert.equal((await made()).filter(corrected).length, 1)
    await expectLost(visitor)
  })

test('a bank that is added: pressing again leads to its credentials', { timeout }, async t => {
  const visitor = await site.enter(t, '/operator/partners')
  if (!visitor) return
  const { page } = visitor
  await button(page, 'Add bank').click()
  await loseAnswer(page, 'POST', /^\/admin\/directory$/)
  await field(page, 'Code').fill('lost-bank')
  await field(page, 'Name').fill('Lost Bank')
  await press(page, 'Save')
  await tellsLost(page)
  // With other values, the form no longer describes the bank that was added.
  await field(page, 'Name').fill('Other Bank')
  await press(page, 'Save')
  await sees(page, 'This code is taken')
  await field(page, 'Name').fill('Lost Bank')
  await press(page, 'Save')
  await sees(page, 'Lost Bank is saved')
  await field(page, 'Label').waitFor()
  await press(page, 'Skip for now')
  await field(page, 'Login').waitFor()
  await press(page, 'Skip for now')
  await titled(page, 'Lost Bank')
  await expectLost(visitor)
})
