/**
 * A real browser (Debian's Chromium) for tests of the portal against a real platform. A test fails when one of its
 * pages logs an error or violates its Content-Security-Policy.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { BrowserContextOptions, ConsoleMessage, Locator, Page } from 'playwright-core'
import { areaOf, heardOfKey, personOf } from '../../portal/src/session/session.ts'
import { browserPrograms, emptyPage, goQuiet, openNewPage, openPage, takeBack } from './contexts.ts'
import type { TestPlatform } from './platform.ts'
import type { Account } from './portal.ts'
import { buildPortal } from './portal-build.ts'
import { requireProgram } from './require-program.ts'

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

export const phone = { width: 390, height: 844 }
const desktop = { width: 1280, height: 900 }

export type Visitor = {
  page: Page
  /** Errors that the page has logged so far. A test must remove those that it provokes. */
  errors: string[]
  /** Opens an address below /app and loads everything again. */
  open(path: string): Promise<void>
  /**
   * Navigates to another page of the portal, below /app, like a link in the portal. Only the data of that page is
   * loaded, except for data that was read within the last 15 s. Resolves when the heading is there, or at once for the
   * same page with other filters.
   */
  walk(path: string): Promise<void>
  /** Logs somebody in without the login form, and opens an address below /app or the home page. */
  logIn(account: Account, path?: string): Promise<void>
  /** Ends the login and deletes everything except the portal's cached files, so that the test can continue as another person. */
  empty(): Promise<void>
}

export type BrowserOptions = {
  language?: 'uk-UA' | 'en-GB'
  colourScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
  /**
   * true: the test gets a new browser without any history, and no later test uses it again. This is for first visits,
   * and for changes that cannot be undone.
   */
  isNew?: boolean
}

export { closeBrowser } from './contexts.ts'

/**
 * A person's own browser. It shares only the cached files of the portal with others. The test fails when a page has
 * logged an unexpected error.
 *
 * @returns null when there is no Chromium: the test is skipped, or with REQUIRE_ALL_TESTS fails
 */
export async function visit(
  t: TestContext,
  platform: Pick<TestPlatform, 'url'>,
  { language = 'en-GB', colourScheme = 'light', viewport = desktop, isNew = false }: BrowserOptions = {},
): Promise<Visitor | null> {
  if (!requireProgram(t, ...browserPrograms)) return null
  buildPortal()
  const options: BrowserContextOptions = {
    baseURL: platform.url,
    locale: language,
    timezoneId: 'Europe/Kyiv',
    reducedMotion: 'reduce',
  }
  const look = { viewport, colorScheme: colourScheme }
  const page = isNew ? await openNewPage(options, look) : await openPage(options, look)
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
    walk: path => walk(page, path),
    logIn: (account, path) => logIn(page, open, account, path),
    empty: () => emptyPage(page),
  }
}

/**
 * Ends a test whose page got answers with status 4xx. It leaves the page, so that no request is under way. Then it
 * removes the errors that the page logged, which must all be about such answers.
 */
export async function expectRefusals({ page, errors }: Visitor): Promise<void> {
  await goQuiet(page)
  assert.ok(
    errors.splice(0).every(error => /\b4\d\d\b/.test(error)),
    'only refusals',
  )
}

function collectErrors(page: Page) {
  const errors: string[] = []
  const onError = (error: Error) => errors.push(String(error))
  const onMessage = (message: ConsoleMessage) => {
    // Chromium asks for /favicon.ico when a test opens a page that is not the portal's. Its 404 is no error of the portal.
    if (message.location().url.endsWith('/favicon.ico')) return
    if (message.type() === 'error') errors.push(message.text())
  }
  page.on('pageerror', onError).on('console', onMessage)
  return { errors, stop: () => page.off('pageerror', onError).off('console', onMessage) }
}

async function walk(page: Page, path: string): Promise<void> {
  const isOther = await page.evaluate(`{
    const { pathname } = location
    document.activeElement.blur()
    history.pushState(null, '', ${JSON.stringify(`/app${path}`)})
    location.pathname !== pathname
  }`)
  // The heading of the new page takes the focus.
  if (isOther) await page.locator('h1:focus').waitFor()
}

async function logIn(
  page: Page,
  open: (path: string) => Promise<void>,
  account: Account,
  path: string = areaOf[account.typeAccount],
): Promise<void> {
  await goQuiet(page)
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(account) }
  const status = await page.evaluate(
    `fetch('/portal/session', ${JSON.stringify(request)}).then(({ status }) => status)`,
  )
  assert.equal(status, 200)
  await page.evaluate(`localStorage.setItem(${JSON.stringify(heardOfKey)}, ${JSON.stringify(personOf(account))})`)
  await open(path)
  // Waits for the header, because the navigation is hidden while it is closed on a narrow screen.
  await page.getByRole('banner').waitFor()
}

/** Fills in and sends the login that the page shows, in either language. */
export async function fillLogin(page: Page, { typeAccount, login, password }: Account): Promise<void> {
  await page.locator(`input[type=radio][value=${typeAccount}] + label`).click()
  await page.locator('input[autocomplete=username]').fill(login)
  await page.locator('input[autocomplete=current-password]').fill(password)
  await page.locator('form button[type=submit]').click()
}

/** Waits until the page has `count` elements, because it may first show only some of them. */
export async function assertCount(found: Locator, count: number): Promise<void> {
  await found.nth(count - 1).waitFor()
  assert.equal(await found.count(), count)
}

/**
 * Fails when the page violates WCAG 2.2 A or AA (checked by axe-core), in light or in dark mode. Leaves the page in
 * the other mode.
 */
export async function assertAccessible({ page }: Pick<Visitor, 'page'>): Promise<void> {
  const first = await readScheme(page)
  const second = first === 'dark' ? 'light' : 'dark'
  await settle(page)
  const stood = await readPage(page)
  assertNone(await findViolations(page, allRules), `${page.url()} in ${first}`)
  await setScheme(page, second)
  await settle(page)
  // If the second mode shows the same elements in the same places, only colours can differ.
  const rules = (await readPage(page)) === stood ? rulesOfColours : allRules
  assertNone(await findViolations(page, rules), `${page.url()} in ${second}`)
}

const schemeAttribute = 'data-mantine-color-scheme'

const readScheme = (page: Page): Promise<string | null> => page.locator('html').getAttribute(schemeAttribute)

const setScheme = (page: Page, scheme: string): Promise<void> =>
  page.evaluate(`document.documentElement.setAttribute('${schemeAttribute}', '${scheme}')`)

/** Resolves when nothing on the page moves or changes its colour. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(`Promise.allSettled(
    document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished),
  ).then(() => {})`)

/** Text, place and visibility of all elements, without colours. */
const readPage = (page: Page): Promise<string> =>
  page.evaluate(`document.body.outerHTML + [...document.body.querySelectorAll('*')].map(each => {
    const { x, y, width, height } = each.getBoundingClientRect()
    return [x, y, width, height, each.checkVisibility({ opacityProperty: true, visibilityProperty: true })]
  }).join(';')`)

type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }

function assertNone(violations: readonly Violation[], where: string): void {
  const told = violations.map(({ id, help, nodes }) =>
    [`${id}: ${help}`, ...nodes.map(({ html, failureSummary = '' }) => `${html}\n${failureSummary}`)].join('\n'),
  )
  assert.deepEqual(told, [], where)
}

const allRules = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // The rule `region` is off, because the portal puts menus and notices outside the landmarks of the document.
  rules: { region: { enabled: false } },
}

/** The rules about colours. */
const rulesOfColours = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }

async function findViolations(page: Page, rules: object): Promise<Violation[]> {
  // The browser's driver adds axe-core, because the page's policy refuses foreign scripts. A document keeps axe-core,
  // so it is added only once.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await readFile(axePath, 'utf8'))
  const options = { ...rules, resultTypes: ['violations'] }
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`)
}
