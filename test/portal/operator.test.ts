/** The platform's own users on the operator's interface: `admin` may do everything, `viewer` reads. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { disableUser } from '../../src/access/operations.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { addAccount, type Browser, openBrowser } from '../support/portal.ts'

let platform: TestPlatform
let admin: Browser
let viewer: Browser
before(async () => {
  platform = await startPlatform()
  admin = await openBrowser(platform, 'platform', 'admin')
  viewer = await openBrowser(platform, 'platform', 'viewer')
})
after(() => platform.close())

const credential = { merchant: 'grocer' }
const issue = (browser: Browser, headers: Record<string, string> = {}) =>
  browser.call('POST', '/admin/credentials', { body: credential, headers })

suite('by cookie', () => {
  test('both roles read', async () => {
    for (const browser of [admin, viewer])
      for (const path of ['/admin/stock', '/admin/users', '/admin/credentials', '/admin/audit'])
        assert.equal((await browser.call('GET', path)).status, 200, path)
  })

  test('the role admin changes something, viewer does not', async () => {
    assert.equal((await issue(admin)).status, 201)
    for (const [method, path, options] of [
      ['POST', '/admin/credentials', { body: credential }],
      ['POST', '/admin/directory?dryRun=true', { body: { directory: '' } }],
      ['POST', '/admin/users/nobody/disable', {}],
      ['POST', '/admin/profiles/withdraw', { body: { iccids: ['1'] } }],
      ['POST', '/admin/keys/rotate', {}],
    ] as const) {
      const answer = await viewer.call(method, path, options)
      assert.deepEqual([answer.status, answer.body.message], [403, 'This operation needs the role admin'], path)
    }
  })

  test('403 for a change from a page of another site', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])
      assert.equal((await issue(admin, headers)).status, 403)
    const noProof = { cookie: admin.cookie }
    const answer = await platform.call('POST', '/admin/credentials', { body: credential, headers: noProof })
    assert.equal(answer.status, 403)
  })

  test('401 without a session, and with one that has ended', async () => {
    const ended = await openBrowser(platform, 'platform', 'admin')
    await ended.call('DELETE', '/portal/session')
    for (const cookie of [ended.cookie, '', 'perkline_session=x']) {
      const answer = await platform.call('GET', '/admin/stock', { headers: { ...(cookie && { cookie }) } })
      assert.equal(answer.status, 401)
      assert.match(answer.body.message, /operator’s key/)
    }
  })

  test('403 for users of partners', async () => {
    for (const [owner, role] of [
      [{ bank: 'alpha' }, 'ADMIN'],
      [{ merchant: 'grocer' }, 'admin_user'],
    ] as const) {
      const browser = await openBrowser(platform, owner, role)
      for (const [method, path] of [
        ['GET', '/admin/stock'],
        ['POST', '/admin/credentials'],
      ] as const)
        assert.equal((await browser.call(method, path, method === 'POST' ? { body: credential } : {})).status, 403)
    }
  })

  test('a stock file goes in', async () => {
    const answer = await admin.call('POST', '/admin/profiles?operator=kyivstar&tariff=eu-10gb', {
      raw: [...profileLines({ count: 3, seed: 77 })].join(''),
      headers: { 'content-type': 'text/csv' },
    })
    assert.deepEqual(
      [answer.status, JSON.parse(answer.text)],
      [200, { result: { imported: 3, duplicates: 0, rejected: 0 } }],
    )
  })
})

suite('by bearer token', () => {
  test('as by cookie, and without a proof of origin', async () => {
    const tokenOf = async (role: string) => {
      const body = await addAccount(platform, 'platform', role)
      return (await platform.call('POST', '/auth/login', { body })).body.access_token as string
    }
    const [adminToken, viewerToken] = [await tokenOf('admin'), await tokenOf('viewer')]
    const post = (token: string) => platform.call('POST', '/admin/credentials', { token, body: credential })
    assert.equal((await post(adminToken)).status, 201)
    assert.equal((await post(viewerToken)).status, 403)
    assert.equal((await platform.call('GET', '/admin/stock', { token: viewerToken })).status, 200)
  })
})

test('a user who is disabled loses it at once', async () => {
  const account = await addAccount(platform, 'platform', 'admin')
  const token = (await platform.call('POST', '/auth/login', { body: account })).body.access_token as string
  assert.equal((await platform.call('GET', '/admin/stock', { token })).status, 200)
  await disableUser({ database: platform.platform.database }, account.login)
  await platform.platform.deps.admin.refusals.refresh()
  assert.equal((await platform.call('GET', '/admin/stock', { token })).status, 401)
})
