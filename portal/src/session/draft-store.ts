/**
 * Stores drafts in this browser, in IndexedDB, because a campaign with 50,000 terminals is too large for localStorage.
 * Each draft belongs to one person, and to one tab as long as that tab is open. Logging out removes the drafts, and so does the
 * portal's start when they are older than 7 days.
 */
import { createStore, del, get, keys, promisifyRequest, set, type UseStore } from 'idb-keyval'
import { openTabs, tabId } from './tab.ts'

const maxAgeMs = 7 * 86_400_000

/** `at` says when the draft was stored (ISO 8601). */
export type KeptDraft<Values> = { at: string; values: Values }

/**
 * The key in localStorage for the time of the last logout in this browser, in milliseconds. Forms that were opened before this
 * logout store no more drafts, in any tab.
 */
const removedKey = 'perkline.drafts-removed'
/** Version 0.2 kept its drafts in localStorage under this prefix. */
const oldPrefix = 'perkline.draft/'

let opened: UseStore | null = null
const store = (): UseStore => {
  opened ??= createStore('perkline', 'drafts')
  return opened
}

const tabMark = '@tab:'
const keyOf = (form: string, tab: string | null): string => (tab === null ? form : `${form}${tabMark}${tab}`)

/**
 * Reads this tab's draft of the form. If this tab has no draft, it takes over the newest draft of a closed tab.
 *
 * @param form person and form, as `<account type>:<login>/<form>`
 */
export async function readDraft<Values>(form: string): Promise<KeptDraft<Values> | null> {
  await removeExpiredDrafts()
  const tab = await tabId()
  const own = await get<KeptDraft<Values>>(keyOf(form, tab), store())
  if (own !== undefined) return own
  return tab === null ? null : takeOver(form, tab)
}

async function takeOver<Values>(form: string, tab: string): Promise<KeptDraft<Values> | null> {
  const all = await keys<string>(store())
  const others = all.filter(key => key === form || key.startsWith(`${form}${tabMark}`))
  if (others.length === 0) return null
  const open = await openTabs()
  const left = others.filter(key => !open.has(key.slice(form.length + tabMark.length)))
  const drafts = await Promise.all(left.map(async key => ({ key, draft: await get<KeptDraft<Values>>(key, store()) })))
  const newest = drafts.reduce<(typeof drafts)[number] | null>(
    (best, each) => ((each.draft?.at ?? '') > (best?.draft?.at ?? '') ? each : best),
    null,
  )
  if (!newest?.draft) return null
  await set(keyOf(form, tab), newest.draft, store())
  await del(newest.key, store())
  return newest.draft
}

/**
 * @param form see `readDraft`
 * @param openedAt when the form was opened, in milliseconds
 * @throws when the browser cannot store the draft; an older draft of the form is removed then
 */
export async function writeDraft<Values>(form: string, draft: KeptDraft<Values>, openedAt: number): Promise<void> {
  if (openedAt <= draftsRemovedAt()) return
  const key = keyOf(form, await tabId())
  try {
    await store()('readwrite', drafts => {
      drafts.put(draft, key)
      const { transaction } = drafts
      // Commits at once. Otherwise the draft would be lost if the page is closed before the browser commits by itself.
      transaction.commit()
      return promisifyRequest(transaction)
    })
  } catch (error) {
    await removeDraft(form).catch(() => {})
    throw error
  }
}

/** Removes this tab's draft of the form. */
export const removeDraft = async (form: string): Promise<void> => del(keyOf(form, await tabId()), store())

/** When somebody last logged out in this browser, in milliseconds; 0: never. */
export const draftsRemovedAt = (): number => Number(localStorage.getItem(removedKey) ?? 0)

/** The keys of the person's drafts. */
async function draftsOf(person: string): Promise<string[]> {
  const all = await keys<string>(store())
  return all.filter(key => key.startsWith(`${person}/`))
}

/** The number of forms in which the person has unsaved input. */
export const countDraftsOf = async (person: string): Promise<number> => (await draftsOf(person)).length

/** For a logout: removes the person's unsaved input. */
export async function removeDraftsOf(person: string): Promise<void> {
  localStorage.setItem(removedKey, String(Date.now()))
  removeOldDrafts()
  await Promise.all((await draftsOf(person)).map(key => del(key, store())))
}

let expired: Promise<void> | null = null

/** Removes the drafts of all people that are older than 7 days, once for each start of the portal. */
export function removeExpiredDrafts(): Promise<void> {
  // A browser that cannot read its storage keeps no drafts.
  expired ??= removeBefore(Date.now() - maxAgeMs).catch(() => {})
  return expired
}

async function removeBefore(time: number): Promise<void> {
  for (const key of await keys<string>(store())) {
    const draft = await get<KeptDraft<unknown>>(key, store())
    if (draft && !(Date.parse(draft.at) >= time)) await del(key, store())
  }
}

/** Removes drafts of version 0.2 without restoring them, because the person may have entered newer values since. */
export function removeOldDrafts(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(oldPrefix)) localStorage.removeItem(key)
}
