/**
 * Restores the keyboard focus when its element is disabled or gone: after a press, while a request is sent, when a
 * dialog closes, or when new data arrives. Without this, the browser would move the focus to the start of the document.
 */

const intervalMs = 50
/**
 * How long the page is watched after an answer. In this time it may still change: data is read again, dialogs close.
 */
const settlingMs = 2_000

/** The element that had the focus last, and the last such element outside dialogs and menus. */
let last: Element | null = null
let lastOnPage: Element | null = null

export function watchFocus(): void {
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return
    last = target
    if (!target.closest('[role=dialog]')) lastOnPage = buttonOfMenu(target) ?? target
  })
  // A click can remove or disable its own button, such as "Clear filters", or "next page" on the last page. So look for
  // a lost focus after each click.
  addEventListener(
    'click',
    ({ target }) => {
      const button = target instanceof Element ? target.closest('button') : null
      if (button !== null && button === document.activeElement) follow()
    },
    { capture: true },
  )
  // Escape closes a dialog, whose opener may be gone, such as an item of a menu.
  addEventListener(
    'keydown',
    ({ key }) => {
      if (key === 'Escape' && document.activeElement?.closest('[role=dialog]')) follow()
    },
    { capture: true },
  )
}

/** The button that opened the menu with this item; null: it is no item of a menu. */
function buttonOfMenu(item: Element): Element | null {
  const id = item.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return id ? document.getElementById(id) : null
}

/** One function for each request that is under way. It returns whether the answer is still awaited. */
const sent = new Set<() => boolean>()

function isSending(): boolean {
  for (const isRunning of sent) if (!isRunning()) sent.delete(isRunning)
  return sent.size > 0
}

/**
 * Call this when a request is sent. If the focus gets lost, it goes to the first of these elements that can take it:
 * - the form's first field with an error
 * - the element that had the focus last
 * - the entry of the current page, if that element is in a navigation
 * - the open dialog; if there is none, the last focused element outside dialogs, or else the heading of the page
 *
 * @param isRunning whether the answer is still awaited
 */
export function keepFocus(isRunning: () => boolean): void {
  sent.add(isRunning)
  follow()
}

/**
 * Looks for a lost focus while the page changes. While a request is under way it does nothing, because the answer
 * enables the pressed button again.
 *
 * @param isOurs whether the focus was lost by what is followed
 * @returns the timer
 */
function follow(isOurs = () => true): ReturnType<typeof setInterval> {
  let endsAt: number | null = null
  const timer = setInterval(() => {
    if (isSending()) endsAt = null
    // Skips the first interval after the answer, because the page shows the answer a moment after it has arrived.
    else if (endsAt === null) endsAt = performance.now() + settlingMs
    else if (isLost() && isOurs()) focusNearest()
    if (endsAt !== null && performance.now() > endsAt) clearInterval(timer)
  }, intervalMs)
  return timer
}

let followingRead: ReturnType<typeof setInterval> | undefined

/**
 * Call this when data was read, before the page shows it. If that removes or disables the focused element, the focus
 * goes where `keepFocus` sends it. A person who has put the focus nowhere keeps it so.
 */
export function keepFocusAtRead(): void {
  const focused = document.activeElement
  if (focused === null || focused === document.body) return
  clearInterval(followingRead)
  followingRead = follow(() => !isUsable(focused, null))
}

const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body

function focusNearest(): void {
  // The dialog on top is the last one in the document.
  const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? null
  const wrong = last?.isConnected ? last.closest('form')?.querySelector('[aria-invalid=true]') : null
  const current = last?.isConnected ? last.closest('nav')?.querySelector('[aria-current]') : null
  const places = [
    wrong ?? null,
    last,
    current ?? null,
    ...(dialog ? [dialog] : [lastOnPage, document.querySelector('h1')]),
  ]
  const place = places.find(each => isUsable(each, dialog))
  if (place instanceof HTMLElement) place.focus({ preventScroll: true })
}

const isUsable = (place: Element | null, dialog: Element | null): boolean =>
  place?.isConnected === true &&
  !place.matches(':disabled') &&
  place.checkVisibility() &&
  (dialog === null || dialog.contains(place))
