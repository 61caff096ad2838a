/**
 * A real browser (Debian's Chromium) at a real platform, for tests of the portal. What a page logs as an error, and what breaks its
 * Content-Security-Policy, fails the test that has opened it.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core'
import { areaOf, heardOfKey, personOf } from '../../portal/src/session/session.ts'
import { emptyPage, openNewPage, openPage, quietPath, takeBack } from './contexts.ts'
import type { TestPlatform } from './platform.ts'
import type { Account } from './portal.ts'
import { buildPortal } from './portal-build.ts'
import { requireProgram } from './require-program.ts'

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

export const phone = { width: 390, height: 844 }
export const desktop = { width: 1280, height: 900 }

export type Visitor = {
  page: Page
  /** Errors that the page has logged so far; take out the ones that a test provokes. */
  errors: string[]
  /** Opens an address below /app. */
  open(path: string): Promise<void>
  /**
   * Makes this the browser of somebody who has logged in, and opens an address below /app, or the home page: without the form, which
   * a few tests fill in themselves.
   */
  logIn(account: Account, path?: string): Promise<void>
  /** As if another person sat down at a browser of their own. */
  empty(): Promise<void>
}

export type BrowserOptions = {
  language?: 'uk-UA' | 'en-GB'
  colourScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
  /** It has never been here, and nobody gets it afterwards: for what is only seen at a first visit, or could not be undone. */
  isNew?: boolean
}

export { closeBrowser } from './contexts.ts'

/**
 * A person's own browser: nothing is shared with another's but the files of the portal that it keeps. The test fails when the page
 * has logged errors that it did not expect.
 *
 * @returns null when there is no Chromium: the test is skipped, or with REQUIRE_ALL_TESTS fails
 */
export async function visit(
  t: TestContext,
  platform: Pick<TestPlatform, 'url'>,
  { language = 'en-GB', colourScheme = 'light', viewport = desktop, isNew = false }: BrowserOptions = {},
): Promise<Visitor | null> {
  if (!requireProgram(t, 'chromium')) return null
  buildPortal()
  const options: BrowserContextOptions = {
    baseURL: platform.url,
    locale: language,
    timezoneId: 'Europe/Kyiv',
    colorScheme: colourScheme,
    reducedMotion: 'reduce',
    viewport,
  }
  const page = isNew ? await openNewPage(options) : await openPage(options)
  const { errors, stop } = collectErrors(page)
  t.after(async () => {
    await (isNew ? page.context().close() : takeBack(page, options))
    stop()
    assert.deepEqual(errors, [], 'the page has logged errors')
  })
  const open = async (path: string) => {
    await page.goto(`/app${path}`)
  }
  return {
    page,
    errors,
    open,
    logIn: (account, path) => logIn(page, open, account, path),
    empty: () => emptyPage(page),
  }
}

function collectErrors(page: Page) {
  const errors: string[] = []
  const onError = (error: Error) => errors.push(String(error))
  const onMessage = (message: ConsoleMessage) => {
    // Chromium looks for this beside the quiet address; the portal's own pages name their icon.
    if (message.location().url.endsWith('/favicon.ico')) return
    if (message.type() === 'error') errors.push(message.text())
  }
  page.on('pageerror', onError).on('console', onMessage)
  return { errors, stop: () => page.off('pageerror', onError).off('console', onMessage) }
}

async function logIn(
  page: Page,
  open: (path: string) => Promise<void>,
  account: Account,
  path: string = areaOf[account.typeAccount],
): Promise<void> {
  await page.goto(quietPath)
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(account) }
  const status = await page.evaluate(
    `fetch('/portal/session', ${JSON.stringify(request)}).then(({ status }) => status)`,
  )
  assert.equal(status, 200)
  await page.evaluate(`localStorage.setItem(${JSON.stringify(heardOfKey)}, ${JSON.stringify(personOf(account))})`)
  await open(path)
  await page.getByRole('navigation').first().waitFor()
}

/** Fills in and sends the login that the page shows, in either language. */
export async function fillLogin(page: Page, { typeAccount, login, password }: Account): Promise<void> {
  await page.locator(`input[type=radio][value=${typeAccount}] + label`).click()
  await page.locator('input[autocomplete=username]').fill(login)
  await page.locator('input[autocomplete=current-password]').fill(password)
  await page.locator('form button[type=submit]').click()
}

/** Fails when the page as it stands keeps anybody out, in light or in dark (WCAG 2.2 A and AA, by axe-core). */
export async function assertAccessible({ page }: Pick<Visitor, 'page'>): Promise<void> {
  const root = page.locator('html')
  const shown = await root.getAttribute(schemeAttribute)
  for (const scheme of ['light', 'dark']) {
    await setScheme(page, scheme)
    const told = (await findViolations(page)).map(({ id, help, nodes }) =>
      [`${id}: ${help}`, ...nodes.map(({ html, failureSummary = '' }) => `${html}\n${failureSummary}`)].join('\n'),
    )
    assert.deepEqual(told, [], `${page.url()} in ${scheme}`)
  }
  await setScheme(page, shown ?? 'light')
}

const schemeAttribute = 'data-mantine-color-scheme'

/** Gives when no colour is on its way to another any more. */
const setScheme = (page: Page, scheme: string): Promise<void> =>
  page.evaluate(`document.documentElement.setAttribute('${schemeAttribute}', '${scheme}')
    Promise.allSettled(document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished))
      .then(() => {})`)

type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }

async function findViolations(page: Page): Promise<Violation[]> {
  // Brought in by the test's own hand: the page's policy takes no foreign scripts. It stays for as long as the document.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await readFile(axePath, 'utf8'))
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  // Menus and notices stand at the end of the document, outside its landmarks.
  const options = { runOnly: tags, resultTypes: ['violations'], rules: { region: { enabled: false } } }
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`)
}
