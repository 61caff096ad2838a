/** The choice of banks in the form of a campaign, in a real browser, when there are many banks. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible, closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids } from '../support/campaigns.ts'
import { range } from '../support/esim.ts'
import { button, centre, field, inPage, isInView, sees } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { openSides, type Sides } from '../support/reconciliation.ts'

const newCampaign = '/merchant/campaigns/new'
const timeout = 120_000
let platform: TestPlatform
let sides: Sides
let manager: Account
const numbers = range(100).map(number => number + 100)
const idOf = (number: number) => `77777777-0000-4000-8000-000000000${number}`
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'editor')
  const banks = numbers.map(
    number =>
      `  - { id: ${idOf(number)}, code: many-${number}, name: Bank ${number}, logoUrl: "", apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }`,
  )
  await platform.applyDirectory(campaignDirectory.replace('\nmerchants:', `\n${banks.join('\n')}\nmerchants:`))
})

after(async () => {
  await closeBrowser()
  await platform.close()
})

const box = (page: Page, name: string) => page.getByRole('checkbox', { name, exact: true })
const boxes = (page: Page) => page.getByRole('region', { name: 'Banks' }).getByRole('checkbox')
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search by name' })
const createInviting = (participantsIds: string[]) =>
  createCampaign(platform, { name: 'Many banks', participantsIds }, sides.grocer)
const invited = async (id: string): Promise<string[]> => {
  const { body } = await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)
  return body.banks.map((bank: { id: string }) => bank.id).sort()
}

test('the form shows some, those that are searched for, and those that the person has just chosen', {
  timeout,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await sees(page, '50 of 103 are shown')
  await box(page, 'Bank 101').check()
  await search(page).fill(' bank 199')
  await page.keyboard.press('Enter')
  await sees(page, '2 of 103 are shown')
  await box(page, 'Bank 199').check()
  await search(page).fill('gamma')
  await sees(page, '3 of 103 are shown')
  for (const name of ['Bank 101', 'Bank 199']) assert.equal(await box(page, name).isChecked(), true, name)
  assert.equal(await box(page, 'Gamma Bank').isChecked(), false)
  await assertAccessible(visitor)
  await box(page, 'Bank 199').focus()
  await page.keyboard.press('Space')
  await sees(page, '3 of 103 are shown')
  assert.equal(await box(page, 'Bank 199').isChecked(), false)
  await box(page, 'Bank 199').and(page.locator(':focus')).waitFor()
  await search(page).fill('nobody')
  await sees(page, 'Nothing found. 2 of 103 are shown.')
})

test('with none chosen and none found, the error is at the search', { timeout }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await visitor.walk(newCampaign)
  await field(page, 'Name').fill('Nobody is invited')
  await page.getByRole('combobox', { name: 'Country' }).click()
  await page.getByRole('option', { name: 'Ukraine' }).click()
  const year = new Date().getFullYear() + 1
  await field(page, 'First day').fill(`05.01.${year}`)
  await field(page, 'Last day').fill(`20.01.${year}`)
  await field(page, /^Cashback/).fill('5')
  await field(page, /^Share you pay/).fill('50')
  await field(page, /^Maximum purchase/).fill('1000')
  await search(page).fill('nobody')
  await sees(page, 'Nothing found. 0 of 103 are shown.')
  assert.equal(await boxes(page).count(), 0)
  await button(page, 'Create and invite the banks').click()
  await page.locator('input[type=search]:focus').waitFor()
  assert.equal(await search(page).getAttribute('aria-invalid'), 'true')
  assert.match(await descriptionOf(search(page)), /Choose at least one bank/)
  assert.equal(await page.getByText('Choose at least one bank').count(), 1)
  assert.ok(await isInView(page, page.getByText('Choose at least one bank')))
  await centre(page, 'input[type=search]')
  await assertAccessible(visitor)
  await search(page).fill('gamma')
  await box(page, 'Gamma Bank').check()
  await page.getByText('Choose at least one bank').waitFor({ state: 'detached' })
  assert.equal(await search(page).getAttribute('aria-invalid'), null)
  // The next error is in a short list, which has no search field. There the first box gets the focus.
  await button(page, 'Create and invite the banks').click()
  const [first] = await page.getByRole('region', { name: 'Payment systems' }).getByRole('checkbox').all()
  assert.ok(first)
  await first.and(page.locator(':focus')).waitFor()
  assert.equal(await first.getAttribute('aria-invalid'), 'true')
  assert.match(await descriptionOf(first), /Choose at least one payment system/)
  assert.ok(await isInView(page, page.getByText('Choose at least one payment system')))
  await assertAccessible(visitor)
})

test('of an edit, only some of the many invited banks are shown, and all stay invited', { timeout }, async t => {
  const all = [...numbers.map(idOf), ids.alpha, ids.gamma]
  const id = await createInviting(all)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await sees(page, '50 of 103 are shown. 52 more are chosen: search for them.')
  assert.equal(await boxes(page).count(), 50)
  await assertAccessible(visitor)
  await search(page).fill('bank 18')
  await sees(page, '10 of 103 are shown. 92 more are chosen: search for them.')
  await box(page, 'Bank 185').uncheck()
  await search(page).fill('')
  await sees(page, '51 of 103 are shown. 51 more are chosen: search for them.')
  assert.equal(await box(page, 'Bank 185').isChecked(), false)
  // After a reload, the bank is still shown with a cleared box.
  await page.reload()
  await sees(page, /^Your unsaved changes from/)
  await sees(page, '50 of 103 are shown. 52 more are chosen: search for them.')
  assert.equal(await box(page, 'Bank 185').isChecked(), false)
  await button(page, 'Save').click()
  await sees(page, 'The changes are saved')
  assert.deepEqual(await invited(id), all.filter(each => each !== idOf(185)).sort())
})

test('of an edit, the few invited banks come first', { timeout }, async t => {
  const id = await createInviting([idOf(198), ids.gamma])
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await sees(page, '50 of 103 are shown.')
  for (const name of ['Bank 198', 'Gamma Bank']) assert.equal(await box(page, name).isChecked(), true, name)
})

const noMore = 'id: e5e5e5e5-0000-4000-8000-000000000005\n    code: grocer'
/** Runs the steps while the merchant may not invite Gamma Bank. */
async function withoutGamma(steps: () => Promise<void>): Promise<void> {
  const apply = (excluded: string) =>
    platform.applyDirectory(campaignDirectory.replace(noMore, `${noMore}\n    excludedBanks: ${excluded}`))
  await apply('[gamma]')
  try {
    await steps()
  } finally {
    await apply('[]')
  }
}

test('a draft of a new campaign: a bank that can no longer be invited is left out and named', {
  timeout,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const source = await createInviting([ids.alpha])
  await visitor.logIn(manager, `${newCampaign}?from=${source}`)
  const year = new Date().getFullYear() + 1
  await field(page, 'First day').fill(`05.01.${year}`)
  await field(page, 'Last day').fill(`20.01.${year}`)
  await search(page).fill('gamma')
  await box(page, 'Gamma Bank').check()
  await page.reload()
  await sees(page, /^Your unsaved changes from/)
  await withoutGamma(async () => {
    await page.reload()
    await sees(page, 'These banks can no longer be invited and were left out: Gamma Bank.')
    await assertAccessible(visitor)
    assert.equal(await box(page, 'Gamma Bank').count(), 0)
    await button(page, 'Create and invite the banks').click()
    await page.getByRole('heading', { level: 1, name: 'Many banks' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    assert.deepEqual(await invited(id), [ids.alpha])
  })
})

test('a draft of an edit: a bank that can no longer be invited is left out and named, an invited one stays', {
  timeout,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const [one, other] = [await createInviting([ids.alpha]), await createInviting([ids.gamma])]
  await visitor.logIn(manager, `/merchant/campaigns/${one}/edit`)
  await field(page, 'Name').fill('With Gamma')
  await search(page).fill('gamma')
  await box(page, 'Gamma Bank').check()
  await visitor.walk(`/merchant/campaigns/${other}/edit`)
  await search(page).fill('alpha')
  await box(page, 'Alpha Bank').check()
  await withoutGamma(async () => {
    await visitor.open(`/merchant/campaigns/${one}/edit`)
    await sees(page, 'These banks can no longer be invited and were left out: Gamma Bank.')
    await button(page, 'Save').click()
    await sees(page, 'The changes are saved')
    assert.deepEqual(await invited(one), [ids.alpha])
    await visitor.open(`/merchant/campaigns/${other}/edit`)
    await sees(page, /^Your unsaved changes from/)
    await button(page, 'Save').click()
    await sees(page, 'The changes are saved')
    assert.deepEqual(await invited(other), [ids.alpha, ids.gamma])
    assert.equal(await page.getByText('can no longer be invited').count(), 0)
  })
})

test('a bank that cannot be invited since the form was opened keeps its box, and the error names it', {
  timeout,
}, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  const id = await createInviting([ids.alpha])
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await search(page).fill('gamma')
  await box(page, 'Gamma Bank').check()
  await withoutGamma(async () => {
    await button(page, 'Save').click()
    await sees(page, 'Gamma Bank: This bank cannot be invited any more')
    assert.match(errors.splice(0).join(), /400/)
    await box(page, 'Gamma Bank').uncheck()
    await field(page, 'Name').fill('Without Gamma')
    await button(page, 'Save').click()
    await sees(page, 'The changes are saved')
    assert.deepEqual(await invited(id), [ids.alpha])
  })
})

/** What a screen reader says about an element besides its name. */
const descriptionOf = (found: Locator): Promise<string> =>
  inPage(
    found,
    `return (element.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id)?.textContent).join(' ')`,
  )
