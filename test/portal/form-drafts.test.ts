/** Drafts of the campaign form in a real browser: keeping, restoring and removing them, and drafts of an older version. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids } from '../support/campaigns.ts'
import { until } from '../support/esim.ts'
import { agree, button, field, sees } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { openSides, type Sides } from '../support/reconciliation.ts'

const newCampaign = '/merchant/campaigns/new'
const timeout = 60_000
let platform: TestPlatform
let sides: Sides
let manager: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'editor')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const terminalsFile = {
  name: 'terminals.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    `terminal_id,terminal_name,terminal_location\n${Array.from({ length: 50_000 }, (_, index) => `T-${index},Store number ${index},Kyiv Main Street ${index} second floor`).join('\n')}`,
  ),
}
const chooseTerminals = async (page: Page) => {
  await page.getByRole('radio', { name: 'A list from a file' }).check()
  await page.locator('input[type=file]').first().setInputFiles(terminalsFile)
  await sees(page, '50,000 terminals added')
}
/** The keys of the drafts in the browser. */
const kept = (page: Page) =>
  page.evaluate<string[]>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('perkline')
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const all = opening.result.transaction('drafts').objectStore('drafts').getAllKeys()
      all.onsuccess = () => resolve(all.result)
    }
  })`)
const restored = /^Your unsaved changes from/

test('50,000 terminals survive a reload', { timeout }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await field(page, 'Name').fill('Many terminals')
  await chooseTerminals(page)
  await field(page, 'Name').fill('Many terminals!')
  await page.reload()
  await sees(page, restored)
  assert.equal(await field(page, 'Name').inputValue(), 'Many terminals!')
  await sees(page, '50,000 terminals')
})

test('a draft that cannot be kept: the person is told, and no older one is restored', { timeout }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await field(page, 'Name').fill('Older')
  await page.reload()
  await sees(page, restored)
  await page.evaluate(`IDBObjectStore.prototype.put = () => {
    throw new DOMException('No room', 'QuotaExceededError')
  }`)
  await field(page, 'Name').fill('Newer')
  await sees(page, 'This browser cannot keep your draft')
  await assertAccessible(visitor)
  await page.reload()
  await field(page, 'Name').waitFor()
  assert.equal(await field(page, 'Name').inputValue(), '')
  assert.equal(await page.getByText(restored).count(), 0)
})

test('of an edit that others have saved meanwhile: the person decides, and nothing is overwritten before', {
  timeout,
}, async t => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha], percentage: 5 }, sides.grocer)
  const percentage = async () =>
    (await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body.percentage as number
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, open, errors } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await field(page, /^Cashback/).fill('13')
  await open(`/merchant/campaigns/${id}`)
  const other = await sides.grocer.call('PATCH', `/cashbacks/for-merchant/${id}`, { body: { percentage: 6 } })
  assert.equal(other.status, 200)
  await open(`/merchant/campaigns/${id}/edit`)
  await sees(page, 'Changed in the meantime: cashback.')
  await sees(page, 'You have changed these too: cashback. Yours will win if you go on.')
  await assertAccessible(visitor)
  await button(page, 'Save').click()
  await until('the save is refused', () => errors.some(error => error.includes('412')))
  assert.equal(await percentage(), 6)
  // After another reload the page still asks for a decision.
  await page.reload()
  await button(page, 'Go on with my changes').click()
  await page.getByText('Changed in the meantime: cashback.').waitFor({ state: 'detached' })
  await button(page, 'Save').click()
  await sees(page, 'The changes are saved')
  assert.equal(await percentage(), 13)
  errors.splice(0)
})

test('of an edit: what a bank’s approval has locked meanwhile is named and left out', { timeout }, async t => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha], percentage: 5 }, sides.grocer)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await field(page, /^Cashback/).fill('15')
  await field(page, 'Text for customers').fill('In every shop')
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  await button(page, 'Save').click()
  await sees(page, /^You can’t change these any more: cashback\./)
  await assertAccessible(visitor)
  await button(page, 'Go on with my changes').click()
  await button(page, 'Save').click()
  await sees(page, 'The changes are saved')
  const { body } = await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)
  assert.deepEqual([body.percentage, body.description], [5, 'In every shop'])
  assert.match(errors.splice(0).join(), /412/)
})

test('of an edit: a bank that has agreed meanwhile stays invited, and is named', { timeout }, async t => {
  const create = () => createCampaign(platform, { participantsIds: [ids.alpha, ids.beta] }, sides.grocer)
  const invited = async (id: string): Promise<string[]> => {
    const { body } = await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)
    return body.banks.map((bank: { name: string }) => bank.name).sort()
  }
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors, open } = visitor
  const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
  const id = await create()
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await box('Alpha Bank').uncheck()
  await box('Gamma Bank').check()
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${id}/confirm`)).status, 201)
  await button(page, 'Save').click()
  await sees(page, /^A bank has agreed, so these banks stay invited: Alpha Bank\./)
  assert.equal(await page.getByText(/^You can’t change these any more/).count(), 0)
  await assertAccessible(visitor)
  await button(page, 'Go on with my changes').click()
  await button(page, 'Save').click()
  await sees(page, 'The changes are saved')
  assert.deepEqual(await invited(id), ['Alpha Bank', 'Gamma Bank', 'Бета Банк'])
  assert.match(errors.splice(0).join(), /412/)

  // A request without a version gets the platform's own error.
  const other = await create()
  await open(`/merchant/campaigns/${other}/edit`)
  await box('Alpha Bank').uncheck()
  assert.equal((await sides.alpha.call('POST', `/cashbacks/${other}/confirm`)).status, 201)
  await page.route(`**/cashbacks/for-merchant/${other}`, route => {
    const { 'if-match': _, ...headers } = route.request().headers()
    return route.continue({ headers })
  })
  await button(page, 'Save').click()
  await sees(page, 'Only additions are possible: Alpha Bank is missing')
  assert.match(errors.splice(0).join(), /400/)
  await page.unroute(`**/cashbacks/for-merchant/${other}`)
})

test('of an edit: a campaign that is deleted meanwhile stays in the form until the person has seen it', {
  timeout,
}, async t => {
  const id = await createCampaign(platform, { participantsIds: [ids.alpha] }, sides.grocer)
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, errors } = visitor
  await visitor.logIn(manager, `/merchant/campaigns/${id}/edit`)
  await field(page, 'Text for customers').fill('In every shop')
  assert.equal((await sides.grocer.call('DELETE', `/cashbacks/for-merchant/${id}`)).status, 200)
  await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
  await button(page, 'Save').click()
  await sees(page, 'This campaign was deleted in the meantime')
  await sees(page, 'Your changes can’t be saved any more. Copy what you still need.')
  assert.equal(await button(page, 'Go on with my changes').count(), 0)
  assert.equal(await field(page, 'Text for customers').inputValue(), 'In every shop')
  await assertAccessible(visitor)
  await button(page, 'Discard my changes').click()
  await sees(page, 'This campaign cannot be changed any more.')
  errors.splice(0)
})

test('those older than 7 days are removed when the portal starts', { timeout }, async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await field(page, 'Name').fill('Of last week')
  await until('the draft is kept', async () => (await kept(page)).length === 1)
  const makeOlder = (days: number) =>
    page.evaluate(`new Promise((resolve, reject) => {
      const opening = indexedDB.open('perkline')
      opening.onerror = () => reject(opening.error)
      opening.onsuccess = () => {
        const drafts = opening.result.transaction('drafts', 'readwrite').objectStore('drafts')
        drafts.openCursor().onsuccess = ({ target: { result: cursor } }) => {
          const at = new Date(Date.now() - ${days} * 86_400_000).toISOString()
          cursor.update({ ...cursor.value, at }).onsuccess = resolve
        }
      }
    })`)
  await visitor.open('/account/profile')
  await makeOlder(6.9)
  await visitor.open(newCampaign)
  await sees(page, restored)
  assert.equal(await field(page, 'Name').inputValue(), 'Of last week')
  await visitor.open('/account/profile')
  await makeOlder(7.1)
  await page.reload()
  await until('the draft is removed', async () => (await kept(page)).length === 0)
})

test('logging out removes them, and another person does not get them', { timeout }, async t => {
  const other = await addAccount(platform, { merchant: 'grocer' }, 'editor')
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(manager, newCampaign)
  await field(page, 'Name').fill('Of the manager')
  await visitor.logIn(other, newCampaign)
  await field(page, 'Name').waitFor()
  assert.equal(await field(page, 'Name').inputValue(), '')
  await visitor.logIn(manager, newCampaign)
  await sees(page, restored)
  await field(page, 'Name').fill('Just before leaving')
  // Another tab of the same person has a form open, too, with a draft of its own.
  const tab = await page.context().newPage()
  await tab.goto(`/app${newCampaign}`)
  await field(tab, 'Name').waitFor()
  assert.equal(await field(tab, 'Name').inputValue(), '')
  await field(tab, 'Name').fill('In another tab')
  await until('both drafts are kept', async () => (await kept(page)).length === 2)
  const leave = async () => {
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await sees(page, 'Log out and lose unsaved input?')
  }
  await leave()
  await sees(page, /^This browser keeps what you entered in 2 forms and haven’t saved/)
  await assertAccessible(visitor)
  await agree(page, 'Cancel')
  assert.equal(await field(page, 'Name').inputValue(), 'Just before leaving')
  await leave()
  await agree(page, 'Log out')
  await page.waitForURL(/login/)
  await sees(page, 'You are logged out.')
  await sees(tab, 'You logged out in another tab. Logging out removes input that you haven’t saved.')
  assert.deepEqual(await kept(page), [])
})
