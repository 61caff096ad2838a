/** Webhooks and events in a real browser (contract/webhooks.md, contract/events.md). */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeBrowser, expectRefusals, phone, visit } from '../support/browser.ts'
import { type Bank, openBank } from '../support/esim.ts'
import { titled } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let bank: Bank
let manager: Account
let receiver: Server
let url: string
let status = 204
const received: string[] = []

before(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push(Buffer.concat(chunks).toString())
    response.writeHead(status).end('noted')
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  platform = await startPlatform()
  await platform.addStock('kyivstar', 'eu-10gb', 20)
  bank = await openBank(platform)
  manager = await addAccount(platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await closeBrowser()
  await platform?.close()
  receiver.closeAllConnections()
  receiver.close()
})

const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name })
const deliver = () => platform.call('POST', '/sandbox/webhooks/deliver')

async function makeEndpoint(fields: object = {}, token = bank.token): Promise<string> {
  const body = { url, eventTypes: ['order.*'], ...fields }
  const made = await platform.call('POST', '/partner/v1/webhook-endpoints', { token, body })
  assert.equal(made.status, 201, made.text)
  return made.body.endpointId
}

async function cancelOrder(externalId: string): Promise<void> {
  const { orderId } = (await bank.reserve(externalId)).body
  await bank.cancel(orderId)
}

test('a link with a filter that nobody knows says so, and leads to the whole list', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, errors } = visitor
  await cancelOrder('INV-FILTER')
  await logIn(manager, '/account/events?type=order.vanished')
  await page.getByText('These filters don’t work').waitFor()
  assert.match(errors.splice(0).join(), /400/)
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await row(page, 'order.cancelled').first().waitFor()
  assert.ok(!page.url().includes('order.vanished'))
})

test('an endpoint is made, its secret is shown once, a test reaches the receiver', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(manager, '/account/webhooks')
  await titled(page, 'Webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'Add an endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Address' }).fill(url)
  await dialog.getByRole('textbox', { name: 'Note' }).fill('Core banking')
  await assertAccessible(visitor)
  await dialog.getByRole('button', { name: 'Add an endpoint' }).click()
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
  assert.match(secret, /^whsec_[\w+/]+=*$/)
  await assertAccessible(visitor)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await row(page, 'Core banking').getByText('Enabled').waitFor()
  assert.ok(!(await page.content()).includes(secret), 'it is shown this once')
  await assertAccessible(visitor)

  await page.getByRole('link', { name: url }).click()
  await titled(page, url)
  const before = received.length
  await page.getByRole('button', { name: 'Send test' }).click()
  await dialog.getByRole('combobox', { name: 'Sample of' }).selectOption('order.confirmed')
  // A double click sends only one test.
  await dialog.getByRole('button', { name: 'Send a test' }).dblclick()
  await row(page, 'order.confirmed').getByText('Delivered').first().waitFor()
  assert.equal(received.length, before + 1)
  assert.equal(JSON.parse(received.at(-1) ?? '').test, true)
  await page.getByRole('link', { name: 'order.confirmed' }).click()
  await page.getByText('it was a test').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0, 'a test is not repeated')
})

test('what is wrong with an address stands at its field, in the person’s language', async t => {
  const visitor = await visit(t, platform, { language: 'uk-UA' })
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(manager, '/account/webhooks')
  await page.getByRole('button', { name: 'Додати адресу' }).click()
  const dialog = page.getByRole('dialog')
  const field = dialog.getByRole('textbox', { name: 'Адреса' })
  const wrong: [string, string][] = [
    ['ftp://example.com', 'Адреса має починатися з https:// або http://'],
    ['http://10.0.0.1/x', 'Цю адресу не можна викликати ззовні'],
    ['https://me@example.com', 'Приберіть ім’я користувача та пароль'],
  ]
  for (const [address, text] of wrong) {
    await field.fill(address)
    await dialog.getByRole('button', { name: 'Додати адресу' }).click()
    await dialog.getByText(text, { exact: true }).waitFor()
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    assert.equal(await dialog.getByText('Щось пішло не так').count(), 0)
  }
  await expectRefusals(visitor)
})

test('a failed delivery: its attempts, the exact request, retry; skip, replay and the filters', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const endpointId = await makeEndpoint({ description: 'Failing first' })
  status = 500
  await cancelOrder('browser-1')
  await deliver()
  await logIn(manager, `/account/webhooks/${endpointId}`)
  await row(page, 'order.cancelled').getByText('Refused by the receiver, 500').waitFor()
  await assertAccessible(visitor)
  await page.getByRole('combobox', { name: 'Status' }).selectOption('delivered')
  await page.getByText('No deliveries found').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByRole('link', { name: 'order.cancelled' }).click()
  await titled(page, 'order.cancelled')
  const body = received.find(each => each.includes('browser-1')) ?? ''
  const request = page.getByRole('region', { name: 'Request', exact: true }).locator('pre')
  await request.getByText(/perkline-attempt: \d/).waitFor()
  assert.ok((await request.textContent())?.includes(body), 'the bytes that were sent')
  assert.ok((await request.textContent())?.startsWith('POST /hook HTTP/1.1'))
  await assertAccessible(visitor)
  status = 204
  await page.getByRole('button', { name: 'Retry' }).click()
  await row(page, 'Delivered, 204').first().waitFor()
  await page.getByRole('button', { name: 'Skip' }).waitFor({ state: 'detached' })

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('button', { name: 'Replay from…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'All', exact: true }).check()
  await assertAccessible(visitor)
  await dialog.getByRole('button', { name: 'Replay events' }).click()
  await page.getByText(/^\d deliver(y|ies) will be created\.$/).waitFor()
})

test('a new secret asks for a fresh factor; disabled, enabled, deleted', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const endpointId = await makeEndpoint({ description: 'Short life' })
  await logIn(manager, `/account/webhooks/${endpointId}`)
  await platform.platform.database.execute(`update sessions set factor_at = now() - interval '20 minutes'`)
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  for (const name of ['New secret', 'Edit', 'Delete']) {
    await choose(name)
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('button:focus').filter({ hasText: 'More' }).waitFor()
  }
  await choose('New secret')
  await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click()
  await page.getByRole('dialog').locator('input[autocomplete=current-password]').fill(manager.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  assert.match(await page.getByRole('textbox', { name: 'Secret' }).inputValue(), /^whsec_/)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await choose('Edit')
  await page.getByRole('textbox', { name: 'Note' }).fill('Longer life')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Longer life').waitFor()
  await choose('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('By the account itself').waitFor()
  await page.getByRole('button', { name: 'Enable', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await page.getByText('Enabled', { exact: true }).waitFor()
  await choose('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await titled(page, 'Webhooks')
  await page.getByText('The endpoint is deleted.').waitFor()
  assert.equal(await page.getByText('Longer life').count(), 0)
  await expectRefusals(visitor)
})

test('a delivery of a deleted endpoint offers no retry, and leads to the other endpoints', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  const endpointId = await makeEndpoint()
  await cancelOrder(`deleted-${endpointId}`)
  await deliver()
  const path = `/partner/v1/webhook-deliveries?endpointId=${endpointId}`
  const [{ deliveryId }] = (await platform.call('GET', path, { token: bank.token })).body.data
  await logIn(manager, `/account/webhooks/${endpointId}/${deliveryId}`)
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await platform.call('DELETE', `/partner/v1/webhook-endpoints/${endpointId}`, { token: bank.token })
  await page.reload()
  await page.getByText('Its endpoint is deleted: nothing more is sent there.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0)
  await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
  await titled(page, 'Webhooks')
  await expectRefusals(visitor)
})

test('an event that was sent nowhere says so', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { body } = await platform.call('GET', '/partner/v1/events?after=0&limit=1', { token: bank.token })
  await visitor.logIn(manager, `/account/events/${body.data[0].id}`)
  await visitor.page.getByText('This event has not been sent to any endpoint.').waitFor()
})

test('who only reads sees no buttons; a bank’s viewer sees no webhooks', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, empty } = visitor
  const endpointId = await makeEndpoint({ description: 'Read only' })
  await logIn(await addAccount(platform, { bank: 'alpha' }, 'EDITOR'), '/account/webhooks')
  await row(page, 'Read only').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Add an endpoint' }).count(), 0)
  await visitor.walk(`/account/webhooks/${endpointId}`)
  await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor()
  for (const name of ['Send test', 'Replay from…', 'More'])
    assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
  await empty()
  await logIn(await addAccount(platform, { bank: 'alpha' }, 'VIEWER'))
  assert.equal(await page.getByRole('link', { name: 'Webhooks' }).count(), 0)
})

test('a merchant, on a phone, in Ukrainian', async t => {
  const visitor = await visit(t, platform, { language: 'uk-UA', viewport: phone })
  if (!visitor) return
  const { page, logIn } = visitor
  await logIn(await addAccount(platform, { merchant: 'grocer' }, 'admin_user'), '/account/webhooks')
  await titled(page, 'Вебхуки')
  await page.getByRole('button', { name: 'Додати адресу' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Адреса' }).fill(url)
  await dialog.getByRole('button', { name: 'Додати адресу' }).click()
  await page.getByRole('textbox', { name: 'Секрет' }).waitFor()
  await page.getByRole('button', { name: 'Готово, збережено' }).click()
  await page.getByRole('link', { name: url }).click()
  await page.getByRole('button', { name: 'Надіслати тест' }).click()
  await dialog.getByRole('button', { name: 'Надіслати тест' }).click()
  await row(page, 'test.ping').getByText('Доставлено').first().waitFor()
  await assertAccessible(visitor)
})

test('the feed, newest first: a filter, one event with its JSON and its deliveries', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn } = visitor
  await makeEndpoint()
  await cancelOrder('in-the-feed')
  await deliver()
  await logIn(manager, '/account/events')
  await titled(page, 'Events')
  const sequences = page.getByRole('cell').locator('.figure').filter({ hasText: /^\d+$/ })
  await sequences.first().waitFor()
  const shown = (await sequences.allTextContents()).map(Number)
  assert.deepEqual(
    shown,
    [...shown].sort((one, other) => other - one),
  )
  assert.equal(shown.at(-1), 1, 'down to the first one')
  await assertAccessible(visitor)
  await page.getByRole('combobox', { name: 'Event' }).selectOption('order.*')
  await row(page, 'credential.issued').waitFor({ state: 'detached' })
  const cancelled = page.getByRole('link', { name: 'order.cancelled' }).first()
  await cancelled.waitFor()
  assert.ok(page.url().includes('type=order.*'), page.url())
  await cancelled.click()
  await titled(page, 'order.cancelled')
  await page.getByText('"externalId": "in-the-feed"').waitFor()
  await row(page, 'order.cancelled').first().waitFor()
  await assertAccessible(visitor)
  await visitor.walk('/account/events?type=statement.closed')
  await page.getByText('No events fit').waitFor()
})

test('the operator: all endpoints, disabled ones first, and its own', async t => {
  const visitor = await visit(t, platform)
  if (!visitor) return
  const { page, logIn, empty } = visitor
  const off = await makeEndpoint({ url: `${url}/off` })
  const disabled = await platform.call('POST', `/partner/v1/webhook-endpoints/${off}/disable`, { token: bank.token })
  assert.equal(disabled.status, 200)
  await logIn(await addAccount(platform, 'platform', 'admin'), '/operator/webhooks')
  await titled(page, 'Partners’ webhooks')
  await page.getByRole('row').nth(1).getByText(`${url}/off`).waitFor()
  await page.getByRole('row').nth(1).getByText('By the account itself').waitFor()
  await page.getByRole('region', { name: 'How far the events have come' }).getByText('1 disabled').waitFor()
  await assertAccessible(visitor)
  const choose = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${url}/off` }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  const hasFocus = () => page.locator(`button:focus[aria-label="Actions for ${url}/off"]`).waitFor()
  await choose('Enable')
  await row(page, `${url}/off`).getByText('Enabled').waitFor()
  await hasFocus()
  for (const name of ['Disable', 'Replay from…']) {
    await choose(name)
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await hasFocus()
  }
  await choose('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await row(page, `${url}/off`).getByText('By the platform').waitFor()
  await choose('New secret')
  await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click()
  assert.match(await page.getByRole('textbox', { name: 'Secret' }).inputValue(), /^whsec_/)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await visitor.walk('/account/webhooks')
  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('button', { name: 'Add an endpoint' }).waitFor()
  await visitor.walk('/account/events')
  await page.getByRole('link', { name: 'credential.issued' }).first().waitFor()
  await empty()
  await logIn(await addAccount(platform, 'platform', 'viewer'), '/operator/webhooks')
  await row(page, `${url}/off`).waitFor()
  assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 0)
})
