/**
 * The browsers of the tests' visitors. A browser that has never been anywhere compiles the whole portal before it shows a page, which
 * is most of what a short test costs: one whose visitor has left is emptied, and handed to the next one.
 */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { pathOf } from './require-program.ts'

/** The second draws windows that nobody sees, which costs a tenth of a test more. */
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
  // Nothing of a page runs for long enough to earn back what it costs to compile it a second time, into something quicker.
  '--js-flags=--no-opt,--no-maglev',
]

/** An address of the platform at which no script runs. */
const quietPath = '/app/icon.svg'

/** What a page can be given anew; the rest holds for as long as its browser. */
export type PageLook = { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' }

let browser: Promise<Browser> | null = null
const emptied = new Map<string, Page[]>()

/** @returns a page that is nobody's: without cookies, storage, permissions or anything that a test has set */
export async function openPage(options: BrowserContextOptions, look: PageLook): Promise<Page> {
  const page = emptied.get(JSON.stringify(options))?.pop()
  if (!page) return openNewPage(options, look)
  await page.setViewportSize(look.viewport)
  await page.emulateMedia({ colorScheme: look.colorScheme })
  return page
}

/** @returns a page whose browser has never been anywhere */
export async function openNewPage(options: BrowserContextOptions, look: PageLook): Promise<Page> {
  browser ??= chromium.launch({ executablePath: pathOf(browserPrograms) ?? 'chromium', args })
  const context = await (await browser).newContext({ ...options, ...look })
  context.setDefaultTimeout(15_000)
  return context.newPage()
}

/** Goes to where no script runs, unless the page is there. */
export async function goQuiet(page: Page): Promise<void> {
  if (!page.url().endsWith(quietPath)) await page.goto(quietPath)
}

/** Nobody is logged in any more, and nothing is kept but the portal's own files. */
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

/** Takes a page back from its visitor. @param options those that it was opened with */
export async function takeBack(page: Page, options: BrowserContextOptions): Promise<void> {
  const context = page.context()
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await emptyPage(page)
  await context.clearPermissions()
  const key = JSON.stringify(options)
  emptied.set(key, [...(emptied.get(key) ?? []), page])
}

/** For a test file's `after`. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = null
  emptied.clear()
}
