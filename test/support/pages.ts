/** How tests of the portal find what a person would look for on a page. */
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })
export const field = (page: Page, name: string | RegExp): Locator => page.getByRole('textbox', { name })
export const dialog = (page: Page): Locator => page.getByRole('dialog')

/** Waits until the page has this title. */
export const titled = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor()

/** Waits for what a person would wait for: a notice, a status, a sentence. */
export const sees = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).filter({ visible: true }).first().waitFor()

/** Confirms the open dialog with the button whose name contains `name`. */
export const agree = (page: Page, name: string): Promise<void> => dialog(page).getByRole('button', { name }).click()

/** Fails if anything is wider than the screen. */
export async function assertFits(page: Page): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, page.url())
}

/** Whether the top and the bottom of the element are on the screen, with nothing in front of its middle. */
export async function isInView(page: Page, found: Locator): Promise<boolean> {
  await found.waitFor()
  const box = await found.boundingBox()
  const { height = 0 } = page.viewportSize() ?? {}
  if (!box || box.y < 0 || box.y + box.height > height) return false
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  return inPage(
    found,
    `const top = document.elementFromPoint(given.x, given.y)
     return top !== null && (element.contains(top) || top.contains(element))`,
    middle,
  )
}

/** Runs a function's body in the page, with `element` and `given`. */
export const inPage = <Result>(found: Locator, body: string, given: object = {}): Promise<Result> =>
  found.evaluate(new Function('element', 'given', body) as () => Result, given as never)

/**
 * The platform processes the next request of this method and path, but its answer gets lost. The page logs errors about
 * this, which the test must remove.
 */
export async function loseAnswer(page: Page, method: string, path: RegExp): Promise<void> {
  let isLost = false
  const matches = (url: URL) => path.test(url.pathname)
  await page.route(matches, async route => {
    if (isLost || route.request().method() !== method) return route.fallback()
    isLost = true
    await route.fetch()
    await route.abort('connectionreset')
  })
}

/** Lets the page read that its session ends in this time. The session itself stays as it is. */
export async function endSessionIn(page: Page, endsInMs: () => number): Promise<void> {
  await page.route('**/portal/session', async route => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    const expiresAt = new Date(Date.now() + endsInMs()).toISOString()
    await route.fulfill({ response, json: { ...(await response.json()), expiresAt } })
  })
}

/**
 * Scrolls an element into the middle. The check of targets takes a button for too small that is partly behind the bar of
 * a form, where a person scrolls on.
 */
export async function centre(page: Page, selector: string): Promise<void> {
  await page.evaluate(`document.querySelector('${selector}').scrollIntoView({ block: 'center' })`)
}
