/**
 * The audit log in a real browser: search, the history of one object, details, older entries, the file, and access to
 * accounts.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { actionText, actionTexts } from '../../portal/src/account/audit-log/action-texts.ts'
import { triggers } from '../../src/campaigns/lifecycle/transitions.ts'
import type { EntryChange } from '../../src/outbox/audit-entry.ts'
import { recordEntries } from '../../src/outbox/audit-entry-writing.ts'
import { clockOrigin } from '../../src/outbox/origin.ts'
import { userObject } from '../../src/people/managers.ts'
import { chained } from '../support/audit-log.ts'
import { assertAccessible, closeBrowser, phone, visit } from '../support/browser.ts'
import { titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let bank: Account
let merchant: Account
let auditor: Account
let clientId: string
before(async () => {
  platform = await startPlatform()
  const operator = { token: platform.config.operatorKey }
  bank = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
  merchant = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
  auditor = await addAccount(platform, 'platform', 'viewer')
  const issue = { bank: 'alpha', role: 'EDITOR', label: 'Core banking' }
  clientId = (await platform.call('POST', '/admin/credentials', { ...operator, body: issue })).body.clientId
  for (let count = 0; count < 60; count++) await platform.bankToken('alpha', 'VIEWER')
  await platform.call('POST', `/admin/credentials/${clientId}/rotate`, { ...operator, body: { overlap: 'PT1H' } })
  await platform.call('POST', `/admin/credentials/${clientId}/revoke`, operator)
  await platform.call('POST', '/portal/session', { body: bank })
  await chained(platform)
  await platform.call('POST', '/admin/audit-log/checkpoint', operator)
  await chained(platform)
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

/** Types a part of an account's name into the filter, and chooses the account. */
async function chooseAccount(page: Page, typed: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Account' }).fill(typed)
  await page.getByRole('option', { name, exact: true }).click()
}

const rows = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('a bank reads an object’s story, its values, and the file', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, '/account/security')
  await page.getByRole('link', { name: 'Security log' }).click()
  await titled(page, 'Security log')
  await page.getByText(/^Checked until \d/).waitFor()
  await page.getByText(/covers the entries up to no\. \d+/).waitFor()
  await assertAccessible(visitor)
  await rows(page, 'Logged in').getByText('Method: password', { exact: true }).first().waitFor()
  await rows(page, 'Secret replaced').getByRole('link', { name: 'Credential, Core banking' }).click()
  await page.getByText('All entries of: Credential, Core banking').waitFor()
  // Waits until the table has no fifth row: it then has its head and three entries.
  await page.getByRole('row').nth(4).waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('row').count(), 4)
  await rows(page, 'Credential issued').getByText('Role: none → Editor').waitFor()
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'Secret replaced' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(clientId).waitFor()
  await dialog.getByRole('button', { name: `Copy: ${clientId}` }).waitFor()
  await dialog.getByRole('row').filter({ hasText: 'Fingerprint of the secret' }).waitFor()
  await dialog.getByRole('row').filter({ hasText: 'Old secret works until' }).getByText('none').waitFor()
  await assertAccessible(visitor)
  await page.keyboard.press('Escape')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export JSONL' }).click(),
  ])
  const [line = ''] = (await readFile(await file.path(), 'utf8')).split('\n')
  assert.deepEqual(Object.keys(JSON.parse(line)), ['entry', 'accountHash'])
  await page.getByRole('link', { name: 'Show all objects' }).click()
  await rows(page, 'Credential revoked').waitFor()
})

test('entries are searched for, and older ones follow', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(bank, '/account/audit-log')
  await page.getByRole('button', { name: 'Show older entries' }).click()
  await rows(page, 'Person added').waitFor()
  await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Credential revoked' })
  await page.waitForURL('**action=credential.revoked**')
  await rows(page, 'Credential revoked').waitFor()
  await page.getByRole('combobox', { name: 'Who' }).selectOption({ label: bank.login })
  await page.getByText('No entries found').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('combobox', { name: 'Object' }).selectOption({ label: 'Credential' })
  await page.getByRole('searchbox', { name: 'ID of the object' }).fill(clientId)
  await page.getByText('All entries of: Credential, Core banking').waitFor()
  await visitor.walk('/account/audit-log?from=2020-01-01&to=2020-01-02')
  await page.getByText('No entries found').waitFor()
})

test('the platform’s people read all accounts, and one of them', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const { login } = await addAccount(platform, { bank: 'beta' }, 'VIEWER')
  await platform.addStock('kyivstar', 'empty', 2)
  await platform.addStock('roamwide', 'world', 2)
  await chained(platform)
  await visitor.logIn(auditor, '/account/audit-log')
  await titled(page, 'Audit log')
  for (const object of [`Person, ${login}`, 'Tariff, kyivstar/empty', 'Tariff, roamwide/world'])
    await page.getByRole('link', { name: object, exact: true }).waitFor()
  // The entry has no old value. It shows only how many profiles were imported.
  await rows(page, 'kyivstar/empty').getByText('Profiles: 2', { exact: true }).waitFor()
  await rows(page, 'Checkpoint made').getByText('Platform').waitFor()
  await assertAccessible(visitor)
  await chooseAccount(page, 'Groc', 'Grocer')
  await rows(page, 'Directory changed').waitFor()
  assert.equal(await rows(page, 'Alpha Bank').count(), 0)
  await page.getByRole('button', { name: 'Directory changed' }).click()
  await page.getByRole('dialog').getByText('Name in English').waitFor()
})

test('addresses and types of events: what was added and removed, also in entries that have the whole lists', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const policy = { type: 'policy', id: null }
  const people = ['192.0.2.0/24']
  const facts = [
    { 'addresses.people': [null, { added: people, removed: ['::/0'] }] },
    { 'addresses.systems': [null, { added: 98, removed: 0 }] },
    {
      addresses: [
        { people, systems: [] },
        { people: [], systems: [] },
      ],
    },
    { mfa: ['optional', 'required'] },
    { eventTypes: [null, { added: ['order.*'], removed: ['order.expired'] }], others: [null, 3] },
  ] satisfies EntryChange[]
  await platform.platform.database.transaction(transaction =>
    recordEntries(
      transaction,
      clockOrigin,
      facts.map(change => ({ action: 'policy.changed', object: policy, change })),
    ),
  )
  await chained(platform)
  await visitor.logIn(auditor, '/account/audit-log?object=policy')
  for (const text of [
    'Addresses of people: added: 192.0.2.0/24; removed: ::/0',
    'Addresses of systems: added: 98',
    /^Addresses: people: 192\.0\.2\.0\/24; /,
    'Events: added: order.*; removed: order.expired',
    'Two-step login: optional → required',
    'Further changes: 3',
  ])
    await page.getByText(text, { exact: true }).waitFor()
})

test('a request for a new password does not look like a job, and a language is named', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const { database } = platform.platform
  const { login } = await addAccount(platform, { bank: 'beta' }, 'VIEWER')
  const [user] = await database.query<{ id: string }>('select user_id as id from portal_users where login = $1', [
    login,
  ])
  assert.ok(user)
  const object = userObject(user.id)
  await database.transaction(transaction =>
    recordEntries(transaction, clockOrigin, [
      { action: 'password.reset_link_made', object },
      { action: 'user.changed', object, change: { language: [null, 'en'] } },
    ]),
  )
  await chained(platform)
  await visitor.logIn(auditor, '/account/audit-log')
  const made = rows(page, 'Link to a new password made')
  await made.getByText('Somebody at the login page').waitFor()
  assert.equal(await made.getByText('On schedule').count(), 0)
  await rows(page, 'Person changed').getByText('Language of mails: none → English').waitFor()
})

test('on a phone, in Ukrainian; not for those who manage nobody', async t => {
  const visitor = await visit(t, platform, { viewport: phone, language: 'uk-UA' })
  if (!visitor) return
  const { page } = visitor
  await visitor.logIn(merchant, '/account/audit-log')
  await titled(page, 'Журнал безпеки')
  await rows(page, 'Людину додано').waitFor()
  await assertAccessible(visitor)
  await visitor.empty()
  await visitor.logIn(await addAccount(platform, { bank: 'alpha' }, 'EDITOR'), '/account/audit-log')
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await page.getByRole('table').count(), 0)
})

test('every action that the contract names has its words in both languages', async () => {
  const page = await readFile(new URL('../../docs/contract/audit-log.md', import.meta.url), 'utf8')
  const table = page.split('| Object | Actions |')[1]?.split('\n\n')[0] ?? ''
  const named = [...table.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, action = '']) => action)
  assert.ok(named.length > 25, named.join())
  for (const action of [...named, ...triggers.map(trigger => `campaign.${trigger}`)])
    for (const texts of [actionTexts.en, actionTexts.uk]) assert.notEqual(actionText(texts, action), action, action)
})

test('every account has its name and can be chosen, also when there are more than 100 merchants', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page } = visitor
  const numbers = Array.from({ length: 110 }, (_, index) => String(index + 1).padStart(3, '0'))
  const merchants = numbers.map(number => ({
    code: `many-${number}`,
    name: `Крамниця ${number}`,
    nameEn: `Shop ${number}`,
  }))
  const made = await platform.call('POST', '/admin/directory', {
    token: platform.config.operatorKey,
    body: { directory: JSON.stringify({ merchants }) },
  })
  assert.equal(made.status, 200, made.text)
  await chained(platform)
  await visitor.logIn(auditor, '/account/audit-log')
  await rows(page, 'Shop 110').first().waitFor()
  await chooseAccount(page, 'shop 11', 'Shop 110')
  await rows(page, 'Shop 109').waitFor({ state: 'detached' })
  await rows(page, 'Directory changed').getByText('Shop 110').first().waitFor()
  await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Logged in' })
  await page.getByText('No entries found').waitFor()
  await page.reload()
  await page.getByText('No entries found').waitFor()
  const account = page.getByRole('combobox', { name: 'Account' })
  await page.waitForFunction(`document.querySelector('[role=combobox][aria-label=Account]').value === 'Shop 110'`)
  await account.click()
  await page.getByRole('option', { name: 'Beta Bank' }).waitFor()
  await assertAccessible(visitor)
  await chooseAccount(page, 'Alpha', 'Alpha Bank')
  await account.click()
  await page.getByRole('option', { name: 'All accounts' }).click()
  await page.waitForFunction(`!location.search.includes('account=')`)
  await rows(page, 'Logged in').first().waitFor()
})
