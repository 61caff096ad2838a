/** A platform with an order, a campaign that is paid, and people of the operator, for tests of the operator's pages. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Visitor, visit } from './browser.ts'
import { campaignDirectory, ids } from './campaigns.ts'
import { openBank } from './esim.ts'
import { dialog } from './pages.ts'
import { startPlatform, type TestPlatform, testDirectory } from './platform.ts'
import { type Account, addAccount, type Browser, openBrowser } from './portal.ts'
import { endedCampaign, header, move, openSides, type Sides, uploadBank } from './reconciliation.ts'

export type OperatorSite = {
  platform: TestPlatform
  /** Reads the API as an administrator. */
  staff: Browser
  admin: Account
  viewer: Account
  /** The order `INV-1`. `INV-2` was cancelled. */
  soldId: string
  campaignId: string
  /** The answer of a path below `/admin`. */
  read(path: string): Promise<any>
  /** Opens a page as this person. @returns null where there is no browser */
  enter(t: TestContext, path: string, as?: Account): Promise<Visitor | null>
}

const siteDirectory = `${campaignDirectory}${testDirectory.slice(testDirectory.indexOf('esim:\n'))}`

export async function openOperatorSite(): Promise<OperatorSite> {
  const platform = await startPlatform({}, { directory: siteDirectory })
  const staff = await openBrowser(platform, 'platform', 'admin')
  const admin = await addAccount(platform, 'platform', 'admin')
  const viewer = await addAccount(platform, 'platform', 'viewer')
  const sides = await openSides(platform)
  return {
    platform,
    staff,
    admin,
    viewer,
    soldId: await sellOne(platform, sides),
    campaignId: await payCampaign(sides),
    read: async path => (await staff.call('GET', `/admin${path}`)).body,
    async enter(t, path, as = admin) {
      const visitor = await visit(t, platform)
      await visitor?.logIn(as, path)
      return visitor
    },
  }
}

async function sellOne(platform: TestPlatform, { alpha }: Sides): Promise<string> {
  await platform.addStock('kyivstar', 'eu-10gb', 3)
  const bank = await openBank(platform, alpha.token)
  const soldId = (await bank.reserve('INV-1')).body.orderId
  assert.equal((await bank.confirm(soldId)).status, 200)
  assert.equal((await bank.cancel((await bank.reserve('INV-2')).body.orderId)).status, 200)
  return soldId
}

/** Reserves `many-0` to `many-49`, more than a page of orders shows. */
export async function addOrders(platform: TestPlatform): Promise<void> {
  await platform.addStock('kyivstar', 'eu-10gb', 50)
  const bank = await openBank(platform)
  for (let number = 0; number < 50; number++) assert.equal((await bank.reserve(`many-${number}`)).status, 201)
}

async function payCampaign(sides: Sides): Promise<string> {
  const { id, at } = await endedCampaign(sides, [sides.alpha], { participantsIds: [ids.alpha], name: 'Summer' })
  const report = `${header}\nTX-1,T-0001,${at},1000.00,50.00\n`
  assert.equal((await uploadBank(sides.alpha, id, report)).status, 201)
  for (const [partner, path] of [
    [sides.grocer, `banks/${ids.alpha}/accept-report`],
    [sides.grocer, `banks/${ids.alpha}/settle`],
    [sides.grocer, 'compensation-paid'],
    [sides.alpha, 'compensation-received'],
  ] as const) {
    const answer = await move(partner, `${id}/${path}`)
    assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  }
  return id
}

export const csv = (text: string) => ({ name: 'profiles.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
export const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name })

/** Presses a button of the open dialog. */
export const press = (page: Page, name: string): Promise<void> =>
  dialog(page).getByRole('button', { name, exact: true }).click()

/** Waits until no dialog is open. */
export const gone = (page: Page): Promise<void> => dialog(page).waitFor({ state: 'detached' })
