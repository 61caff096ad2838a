/**
 * Stores drafts in this browser, in IndexedDB, because a campaign with 50,000 terminals is too large for localStorage.
 * Each draft belongs to one person. Logging out removes the drafts.
 */
import { createStore, del, get, keys, promisifyRequest, type UseStore } from 'idb-keyval'

/** `at`: ISO 8601. */
export type KeptDraft<Values> = { at: string; values: Values }

/**
 * The key under which localStorage has the time of the last logout in this browser, in milliseconds. Forms that were opened
 * before the logout store no more drafts, in any tab.
 */
const removedKey = 'perkline.drafts-removed'
/** Version 0.2 kept its drafts in localStorage under this prefix. */
const oldPrefix = 'perkline.draft/'

let opened: UseStore | null = null
const store = (): UseStore => {
  opened ??= createStore('perkline', 'drafts')
  return opened
}

/** @param key person and form, as `<account type>:<login>/<form>` */
export async function readDraft<Values>(key: string): Promise<KeptDraft<Values> | null> {
  return (await get<KeptDraft<Values>>(key, store())) ?? null
}

/**
 * @param openedAt when the form was opened, in milliseconds
 * @throws when the browser cannot store the draft; an older draft of the form is removed then
 */
export async function writeDraft<Values>(key: string, draft: KeptDraft<Values>, openedAt: number): Promise<void> {
  if (openedAt <= draftsRemovedAt()) return
  try {
    await store()('readwrite', drafts => {
      drafts.put(draft, key)
      const { transaction } = drafts
      // Commits at once. Otherwise the draft would be lost if the page is closed before the browser commits by itself.
      transaction.commit()
      return promisifyRequest(transaction)
    })
  } catch (error) {
    await removeDraft(key).catch(() => {})
    throw error
  }
}

export const removeDraft = (key: string): Promise<void> => del(key, store())

/** When somebody last logged out in this browser, in milliseconds; 0: never. */
export const draftsRemovedAt = (): number => Number(localStorage.getItem(removedKey) ?? 0)

/** The keys of the person's drafts. */
async function draftsOf(person: string): Promise<string[]> {
  const all = await keys<string>(store())
  return all.filter(key => key.startsWith(`${person}/`))
}

/** How many forms have unsaved input of the person. */
export const countDraftsOf = async (person: string): Promise<number> => (await draftsOf(person)).length

/** For a logout: removes the person's unsaved input. */
export async function removeDraftsOf(person: string): Promise<void> {
  localStorage.setItem(removedKey, String(Date.now()))
  removeOldDrafts()
  await Promise.all((await draftsOf(person)).map(removeDraft))
}

/** Removes drafts of version 0.2 without restoring them, because they may be older than what was entered last. */
export function removeOldDrafts(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(oldPrefix)) localStorage.removeItem(key)
}
