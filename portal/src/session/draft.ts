/**
 * Forms that survive a reload, a closed tab and the end of a session. The input is kept in this browser, for this
 * person, until it is saved or discarded, or the person logs out. Tabs with the same form do not share a draft.
 */
import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type KeptDraft, readDraft, removeDraft, removeOldDrafts, writeDraft } from './draft-store.ts'
import { personOf } from './session.ts'
import { useSession } from './use-session.ts'

export type Draft<Values> = {
  /** False for a moment, while the draft is read. Show the form afterwards. */
  isRead: boolean
  /** The draft that existed when the page opened; null if there was none. Merge it over the form's initial values. */
  restored: KeptDraft<Values> | null
  /** Whether the browser cannot store the input. `<DraftNotice>` then tells the person. */
  hasFailed: boolean
  /** Stores the values after a short delay: pass it to the form's `onValuesChange`. */
  keep(values: Values): void
  /** Removes the draft. Call it after saving, or when the person wants to start over. */
  discard(): void
}

/** The keys of the drafts that belong to forms on the page and contain input. */
const filledIn = new Set<string>()

/** Whether a form on the page has a draft, so that the input is still there after a new login. */
export const isInputKept = (): boolean => filledIn.size > 0

/** @param name the name of the form with the thing that it edits: `campaign/new`, `campaign/<id>` */
export function useDraft<Values>(name: string): Draft<Values> {
  const session = useSession()
  const key = `${personOf(session)}/${name}`
  const [openedAt] = useState(Date.now)
  const [state, setState] = useState<{ isRead: boolean; restored: KeptDraft<Values> | null }>({
    isRead: false,
    restored: null,
  })
  const [hasFailed, setFailed] = useState(false)
  const isDiscarded = useRef(false)

  useEffect(() => {
    let isCurrent = true
    removeOldDrafts()
    readDraft<Values>(key)
      .catch(() => {
        // A browser that cannot read the store cannot write to it either.
        if (isCurrent) setFailed(true)
        return null
      })
      .then(restored => {
        if (!isCurrent) return
        if (restored) filledIn.add(key)
        setState({ isRead: true, restored })
      })
    return () => {
      isCurrent = false
      filledIn.delete(key)
    }
  }, [key])

  const write = useDebouncedCallback(
    (values: Values) => {
      isDiscarded.current = false
      writeDraft(key, { at: new Date().toISOString(), values }, openedAt).then(
        // If the draft was discarded while this write was running, the write may end last. So the draft is removed
        // again.
        () => (isDiscarded.current ? void removeDraft(key).catch(() => {}) : setFailed(false)),
        () => {
          filledIn.delete(key)
          setFailed(true)
        },
      )
    },
    { delay: 300, flushOnUnmount: true },
  )
  // Write at once on `pagehide`, because components are not unmounted when a page is reloaded or a tab is closed.
  useEffect(() => {
    const flush = () => write.flush()
    addEventListener('pagehide', flush)
    return () => removeEventListener('pagehide', flush)
  }, [write])
  const discard = useCallback(() => {
    write.cancel()
    isDiscarded.current = true
    filledIn.delete(key)
    removeDraft(key).catch(() => setFailed(true))
    setState({ isRead: true, restored: null })
  }, [key, write])
  const keep = useCallback(
    (values: Values) => {
      filledIn.add(key)
      write(values)
    },
    [key, write],
  )
  return useMemo(() => ({ ...state, hasFailed, keep, discard }), [state, hasFailed, keep, discard])
}
