/**
 * The portal without one of its first files, as during an upgrade behind a balancer: it reloads itself once, and otherwise says
 * what happened, with a button.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertAccessible, closeBrowser, type Visitor, visit } from '../support/browser.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

type Language = 'en' | 'uk'
const firstFiles: [string, RegExp, Language][] = [
  ['the entry module', /\/assets\/index-[^/]*\.js$/, 'en'],
  ['a module before it', /\/assets\/react-[^/]*\.js$/, 'uk'],
  ['the stylesheet', /\/assets\/index-[^/]*\.css$/, 'en'],
  ['the stylesheet of libraries', /\/assets\/look-[^/]*\.css$/, 'uk'],
]
const title = { en: 'This page couldn’t be loaded', uk: 'Сторінка не завантажилася' }
const updated = { en: 'Perkline was updated. Reload the page.', uk: 'Perkline оновлено. Перезавантажте сторінку.' }
const reload = { en: 'Reload', uk: 'Перезавантажити' }
/** Removes the visitor's errors, all of which must be about the files that were not there. */
const forgetFailures = ({ errors }: Visitor) => {
  const others = errors.splice(0).filter(error => !/Failed to load resource|ERR_|dynamically imported/.test(error))
  assert.deepEqual(others, [])
}
const countLoads = ({ page }: Visitor) => {
  let loads = 0
  page.on('request', request => void (request.isNavigationRequest() && loads++))
  return () => loads
}

for (const [name, file, language] of firstFiles) {
  test(`${name} is missing at first: the page reloads itself`, async t => {
    const visitor = await visit(t, platform, { isNew: true })
    if (!visitor) return
    const { page } = visitor
    const loads = countLoads(visitor)
    await page.route(file, route => (loads() === 1 ? route.fulfill({ status: 404 }) : route.continue()))
    await visitor.open('/login')
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    assert.equal(loads(), 2)
    forgetFailures(visitor)
  })

  test(`${name} stays missing: after one reload, the page says so, with a button`, async t => {
    const visitor = await visit(t, platform, { isNew: true, language: language === 'uk' ? 'uk-UA' : 'en-GB' })
    if (!visitor) return
    const { page } = visitor
    const loads = countLoads(visitor)
    await page.route(file, route => route.fulfill({ status: 404 }))
    await visitor.open('/login?because=ended')
    await page.getByRole('heading', { level: 1, name: title[language] }).waitFor()
    await page.getByText(updated[language]).waitFor()
    assert.equal(await page.getByRole('heading').count(), 1, 'one language only, and no first screen')
    assert.equal(loads(), 2)
    await assertAccessible(visitor)
    await page.unroute(file)
    await page.getByRole('button', { name: reload[language] }).click()
    await page.locator('input[autocomplete=username]').waitFor()
    assert.match(page.url(), /login\?because=ended$/)
    forgetFailures(visitor)
  })
}

test('without a connection, the page says so, and loads when the connection is back', async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  const loads = countLoads(visitor)
  await page.route(/index-[^/]*\.js$|icon\.svg$/, route => route.abort())
  await visitor.open('/login')
  await page.getByText('Check your connection and try again.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  assert.equal(loads(), 1)
  await page.unroute(/index-[^/]*\.js$|icon\.svg$/)
  await page.evaluate(`dispatchEvent(new Event('online'))`)
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  forgetFailures(visitor)
})

test('without its very first script, the page says in both languages that it was not loaded, with a button', async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  await page.route('**/first-paint.js', route => route.fulfill({ status: 502 }))
  await visitor.open('/login')
  for (const language of ['en', 'uk'] as const) {
    await page.getByRole('heading', { level: 1, name: title[language] }).waitFor()
    await page.getByRole('button', { name: { en: 'Try again', uk: 'Спробувати ще раз' }[language] }).waitFor()
  }
  await page.unroute('**/first-paint.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  forgetFailures(visitor)
})

test('without sessionStorage nothing limits the reloads, so the page does not reload itself', async t => {
  const visitor = await visit(t, platform, { isNew: true })
  if (!visitor) return
  const { page } = visitor
  const loads = countLoads(visitor)
  await page.addInitScript(
    `Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('forbidden') } })`,
  )
  await page.route(/index-[^/]*\.js$/, route => route.fulfill({ status: 404 }))
  await visitor.open('/login')
  await page.getByRole('heading', { level: 1, name: title.en }).waitFor()
  assert.equal(loads(), 1)
  forgetFailures(visitor)
})
