/**
 * Gives this tab a name, so that each draft belongs to one tab. A tab keeps its name when it is reloaded, and holds a
 * lock with that name while it is open.
 */

const idKey = 'perkline.tab'
const prefix = 'perkline.tab/'
/**
 * How long to wait for the lock of the stored name. After a reload, the browser keeps the lock of the previous page for
 * a moment, on a slow machine for a second. A duplicated tab has the same name as a tab that stays open, so a longer
 * wait would not help.
 */
const patienceMs = { reloaded: 3_000, other: 500 }

let known: Promise<string | null> | null = null

/** @returns null if the browser has no locks, because the page is not encrypted. Then all tabs share one name */
export function tabId(): Promise<string | null> {
  known ??= 'locks' in navigator ? take() : Promise.resolve(null)
  return known
}

/** The names of all open tabs, including this one. */
export async function openTabs(): Promise<Set<string>> {
  const { held = [] } = await navigator.locks.query()
  return new Set(held.map(({ name = '' }) => name.slice(prefix.length)))
}

async function take(): Promise<string> {
  const kept = sessionStorage.getItem(idKey)
  if (kept !== null && (await takeLock(kept))) return kept
  const id = crypto.randomUUID()
  sessionStorage.setItem(idKey, id)
  await takeLock(id)
  return id
}

/** Takes the lock until the page is closed. @returns false when another tab keeps it */
function takeLock(id: string): Promise<boolean> {
  const patience = isReloaded() ? patienceMs.reloaded : patienceMs.other
  return new Promise(resolve => {
    const hold = () => {
      resolve(true)
      return new Promise(() => {})
    }
    navigator.locks
      .request(`${prefix}${id}`, { signal: AbortSignal.timeout(patience) }, hold)
      .catch(() => resolve(false))
  })
}

function isReloaded(): boolean {
  const entries = performance.getEntries() as { entryType: string; type?: string }[]
  return entries.find(({ entryType }) => entryType === 'navigation')?.type === 'reload'
}
