/**
 * The portal without a connection, in a real browser: its messages, requests that it does not send, and its recovery.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { assertAccessible, closeBrowser, type Visitor, visit } from '../support/browser.ts'
import { campaignDirectory, createCampaign, ids, inDays } from '../support/campaigns.ts'
import { freePort } from '../support/free-port.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'
import { openSides, type Sides } from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let manager: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  manager = await addAccount(platform, { merchant: 'grocer' }, 'admin_user')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const lost = 'Perkline hasn’t been reachable since'
const back = 'The connection is back'
const offline = ({ page }: Visitor, isOffline: boolean) => page.context().setOffline(isOffline)
/** Clears the visitor's errors, all of which must be the browser's own messages about the missing connection. */
const forgetFailures = ({ errors }: Visitor) => {
  const others = errors
    .splice(0)
    .filter(error => !/ERR_|Failed to load resource|dynamically imported|NotLoaded/.test(error))
  assert.deepEqual(others, [])
}
const statusOf = async (id: string) =>
  (await sides.grocer.call('GET', `/cashbacks/for-merchant/${id}`)).body.status as string

suite('without a connection', () => {
  test('logging out hides everything, removes drafts, and says that the session goes on at the platform', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    const loginCode = page.waitForResponse(/assets\/login-page-.*\.js/)
    await visitor.logIn(manager, '/merchant/campaigns/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Not saved')
    // The page of the login is loaded some seconds after the start, so that it is there without a connection.
    await loginCode
    await offline(visitor, true)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click()
    await page.getByText('your session could not be ended on the server').waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0)
    await assertAccessible(visitor)
    const stored = await page.evaluate<[string | null, number]>(`new Promise((resolve, reject) => {
      const opening = indexedDB.open('perkline')
      opening.onerror = () => reject(opening.error)
      opening.onsuccess = () => {
        const all = opening.result.transaction('drafts').objectStore('drafts').count()
        all.onsuccess = () => resolve([localStorage.getItem('perkline.session'), all.result])
      }
    })`)
    assert.deepEqual(stored, [null, 0])
    await offline(visitor, false)
    await visitor.open('/merchant')
    await page.waitForURL('**/app/login*')
    forgetFailures(visitor)
  })

  test('nothing is sent later: a deletion fails at once, and is not made when the connection is back', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    const id = await createCampaign(
      platform,
      { participantsIds: [ids.alpha], dateFrom: inDays(platform, 10) },
      sides.grocer,
    )
    await visitor.logIn(manager, `/merchant/campaigns/${id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await offline(visitor, true)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').filter({ hasText: 'can’t be reached' }).first().waitFor()
    await page.getByRole('status').getByText(lost).waitFor()
    await assertAccessible(visitor)
    await offline(visitor, false)
    await page.getByText(back).waitFor()
    await page.getByRole('status').getByText(lost).waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    assert.notEqual(await statusOf(id), 'deleted')
    assert.equal(await page.getByText('The campaign is deleted').count(), 0)
    forgetFailures(visitor)
  })

  test('a page that was loaded stays, what is missing on it says so, and both are read again afterwards', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    const id = await createCampaign(platform, { name: 'Seen before' }, sides.grocer)
    await visitor.logIn(manager, `/merchant/campaigns/${id}`)
    await page.getByRole('heading', { level: 1, name: 'Seen before' }).waitFor()
    await offline(visitor, true)
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.getByRole('status').getByText(lost).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Seen before' }).waitFor()
    await offline(visitor, false)
    await page.getByText('The campaign was created').waitFor()
    await page.getByText(back).waitFor()
    forgetFailures(visitor)
  })

  test('a page without its code shows our own error page, and loads when the connection is back', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await offline(visitor, true)
    await page.getByRole('link', { name: 'New campaign' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page couldn’t be loaded' }).waitFor()
    await page.getByRole('navigation').first().waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page couldn’t be loaded' }).waitFor()
    await offline(visitor, false)
    await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
    forgetFailures(visitor)
  })
})

suite('a new version', () => {
  const fileOfPage = '**/assets/new-campaign-*.js'

  test('whose files have other names is loaded by itself', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.route(fileOfPage, route => route.fulfill({ status: 404 }), { times: 1 })
    await visitor.page.evaluate('window.isOldPage = true')
    await page.getByRole('link', { name: 'New campaign' }).click()
    await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
    forgetFailures(visitor)
  })

  test('that stays broken ends on our own error page, not in endless reloads', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    await page.route(fileOfPage, route => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'New campaign' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page couldn’t be loaded' }).waitFor()
    await page.getByText('Perkline was updated. Reload the page.').waitFor()
    await page.getByRole('button', { name: 'Reload' }).waitFor()
    await assertAccessible(visitor)
    forgetFailures(visitor)
  })

  test('is told where only a part of the page is missing, with a button; a lost connection is told as such', async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await page.route(/assets\/(command-palette|time-zone-form)-.*\.js/, route => route.fulfill({ status: 404 }))
    const notice = page.getByRole('alert').filter({ hasText: 'Perkline was updated. Reload the page.' })
    await page.keyboard.press('Control+K')
    await notice.waitFor()
    await assertAccessible(visitor)
    await notice.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Time zone' }).click()
    await notice.waitFor()
    await notice.getByRole('button', { name: 'Close' }).click()
    await offline(visitor, true)
    await page.keyboard.press('Control+K')
    const unreachable = page.getByRole('alert').filter({ hasText: 'can’t be reached' })
    await unreachable.waitFor()
    await unreachable.getByRole('button', { name: 'Close' }).click()
    await offline(visitor, false)
    await page.getByText(back).waitFor()
    await page.keyboard.press('Control+K')
    await notice.waitFor()
    await page.unroute(/assets\/(command-palette|time-zone-form)-.*\.js/)
    await page.evaluate('window.isOldPage = true')
    await notice.getByRole('button', { name: 'Reload' }).click()
    await page.waitForFunction('!window.isOldPage')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+K')
    await page.getByRole('dialog').getByRole('combobox').waitFor()
    forgetFailures(visitor)
  })
})

test('the next call detects that the platform is away or back, without an event of the browser', async t => {
  const gate = await openGate(new URL(platform.url).port)
  t.after(() => gate.shut())
  const visitor = await visit(t, { url: gate.url }, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await createCampaign(platform, { name: 'Behind the gate' }, sides.grocer)
  await visitor.logIn(manager)
  await page.getByRole('link', { name: 'Campaigns', exact: true }).click()
  // The home page also links to the campaign; only the list has a search.
  await page.getByRole('searchbox').waitFor()
  await page.getByRole('link', { name: 'Behind the gate' }).waitFor()
  await page.waitForLoadState('networkidle')
  await gate.shut()
  await page.getByRole('searchbox').fill('Behind')
  await page.getByRole('status').getByText(lost).waitFor()
  await gate.open()
  await page.getByText(back).waitFor()
  await page.getByRole('link', { name: 'Behind the gate' }).waitFor()
  forgetFailures(visitor)
})

/** A connection to the platform that the test can cut. */
async function openGate(port: string) {
  const own = await freePort()
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(Number(port), '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream).pipe(client)
  })
  const open = async () => {
    server.listen(own, '127.0.0.1')
    await once(server, 'listening')
  }
  await open()
  return {
    url: `http://127.0.0.1:${own}`,
    open,
    async shut() {
      if (!server.listening) return
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
