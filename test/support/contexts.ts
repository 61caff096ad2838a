/**
 * The browsers of the tests' visitors. A new browser compiles the whole portal before it shows a page, which takes
 * most of the time of a short test. So browsers are reused: when a visitor leaves, the browser is emptied and given
 * to the next one.
 */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { reusePorts } from './free-port.ts'
import { pathOf } from './require-program.ts'

/**
 * The programs in order of preference. The second one also draws windows that nobody sees, so tests take a tenth longer.
 */
export const browserPrograms = ['chromium-headless-shell', 'chromium']

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Optimising compilation does not pay off, because no page runs long enough.
  '--js-flags=--no-opt,--no-maglev',
]

/** An address of the platform at which no script runs. */
const quietPath = '/app/icon.svg'

/** The settings that can change for each page. All others are fixed for the life of the browser. */
export type PageLook = { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' }

let browser: Promise<Browser> | null = null
let closing: NodeJS.Timeout | undefined
/** The browser stays open this long after a test file, because the next file of this process may need it. */
const lingerMs = 2_000
reusePorts()
const emptied = new Map<string, Page[]>()

/** @returns a clean page: no cookies, storage, permissions, or settings of an earlier test */
export async function openPage(options: BrowserContextOptions, look: PageLook): Promise<Page> {
  clearTimeout(closing)
  const page = emptied.get(JSON.stringify(options))?.pop()
  if (!page) return openNewPage(options, look)
  await page.setViewportSize(look.viewport)
  await page.emulateMedia({ colorScheme: look.colorScheme })
  return page
}

/** @returns a page without any history, in the same browser process */
export async function openNewPage(options: BrowserContextOptions, look: PageLook): Promise<Page> {
  clearTimeout(closing)
  browser ??= chromium.launch({ executablePath: pathOf(browserPrograms) ?? 'chromium', args })
  const context = await (await browser).newContext({ ...options, ...look })
  context.setDefaultTimeout(45_000)
  return context.newPage()
}

/** Leaves the page for an address without scripts. */
export async function goQuiet(page: Page): Promise<void> {
  if (!page.url().endsWith(quietPath)) await page.goto(quietPath)
}

/** Ends the login and deletes everything except the portal's cached files. */
export async function emptyPage(page: Page): Promise<void> {
  await goQuiet(page)
  await page.evaluate(`(async () => {
    localStorage.clear()
    sessionStorage.clear()
    const removed = ({ name }) => new Promise(done => {
      const request = indexedDB.deleteDatabase(name)
      request.onsuccess = request.onerror = done
    })
    await Promise.all((await indexedDB.databases()).map(removed))
  })()`)
  await page.context().clearCookies()
}

/**
 * Empties the page of a visitor who leaves, and keeps it for the next one.
 * @param options the options with which the page was opened
 */
export async function takeBack(page: Page, options: BrowserContextOptions): Promise<void> {
  const context = page.context()
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await emptyPage(page)
  await context.clearPermissions()
  const key = JSON.stringify(options)
  emptied.set(key, [...(emptied.get(key) ?? []), page])
}

/**
 * Closes the browser after a short wait, unless another test file opens a page before. Call it in a test file's `after`
 * hook. The next file can use the same pages, because its platform gets the same port.
 */
export async function closeBrowser(): Promise<void> {
  clearTimeout(closing)
  closing = setTimeout(() => {
    const left = browser
    browser = null
    emptied.clear()
    void left?.then(each => each.close())
  }, lingerMs)
}
