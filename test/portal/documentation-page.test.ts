/** The pages of the OpenAPI documents in a browser, at an address that is not PUBLIC_URL. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeBrowser } from '../support/browser.ts'
import { browserPrograms, openNewPage } from '../support/contexts.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { requireProgram } from '../support/require-program.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ PUBLIC_URL: 'http://127.0.0.1:1' })
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

test('"Try it out" works at the address at which the page was opened, the logo is whole, and nothing is kept', async t => {
  if (!requireProgram(t, ...browserPrograms)) return
  const baseURL = platform.url.replace('127.0.0.1', 'localhost')
  const page = await openNewPage(
    { baseURL },
    {
      viewport: { width: 1280, height: 900 },
      colorScheme: 'light',
    },
  )
  t.after(() => page.context().close())
  // The page renders its whole document again, which takes long on a busy machine.
  page.setDefaultTimeout(60_000)
  await page.goto('/swagger#/Sandbox/readClock')
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
  assert.equal(await page.locator('.download-url-wrapper').isVisible(), false)
  const links = await Promise.all((await page.locator('.info a').all()).map(link => link.getAttribute('href')))
  for (const path of ['/swagger', '/esim/v1/swagger', '/swagger#/Tokens/issueToken'])
    assert.ok(links.includes(path), path)
  assert.ok(!links.some(link => link?.includes('.example')), 'a link leads nowhere')
  assert.equal(await page.evaluate(() => Object.keys(localStorage).length), 0)
})

test('a token that is given to the page is sent, and is gone with the page', async t => {
  if (!requireProgram(t, ...browserPrograms)) return
  const token = await platform.bankToken()
  const page = await openNewPage(
    { baseURL: platform.url },
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  )
  t.after(() => page.context().close())
  // The page renders its whole document again, which takes long on a busy machine.
  page.setDefaultTimeout(60_000)
  const sent = async () => {
    const asked = page.waitForRequest(request => request.url().endsWith('/retailers'))
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    return (await asked).headers().authorization
  }
  const kept = () => page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])
  const target = '/swagger#/Banks/listRetailers'
  await page.goto(target)
  await page.locator('button.authorize').first().click()
  await page.locator('.modal-ux input').first().fill(token)
  await page.locator('.modal-ux button.authorize').first().click()
  await page.locator('.modal-ux .btn-done').first().click()
  assert.equal(await sent(), `Bearer ${token}`)
  assert.deepEqual(await kept(), [])
  assert.deepEqual(await page.context().cookies(), [])
  await page.reload()
  assert.equal(await sent(), undefined)
})

test('"Try it out" sends only what was chosen, and defaults', async t => {
  if (!requireProgram(t, ...browserPrograms)) return
  const page = await openNewPage(
    { baseURL: platform.url },
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  )
  t.after(() => page.context().close())
  // The page renders its whole document again, which takes long on a busy machine.
  page.setDefaultTimeout(60_000)
  for (const [target, path, query] of [
    ['Events/readEvents', '/events', 'limit=100&wait=0'],
    ['Orders/listOrders', '/orders', 'sort=-createdAt&limit=100'],
  ] as const) {
    await page.goto('about:blank')
    await page.goto(`/partner/v1/swagger#/${target}`)
    await page.getByRole('button', { name: 'Try it out' }).click()
    const asked = page.waitForRequest(request => new URL(request.url()).pathname.endsWith(path))
    await page.getByRole('button', { name: 'Execute' }).click()
    assert.equal(new URL((await asked).url()).searchParams.toString(), query, target)
  }
})
