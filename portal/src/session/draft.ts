/**
 * Forms that survive a reload, a closed tab and a session that ends: what was entered is kept in this browser, for this person, until
 * it is saved or discarded, or the person logs out.
 */
import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type KeptDraft, readDraft, removeDraft, removeOldDrafts, writeDraft } from './draft-store.ts'
import { personOf } from './session.ts'
import { useSession } from './use-session.ts'

export type Draft<Values> = {
  /** False for a moment, while the browser looks for the draft. Show the form afterwards. */
  isRead: boolean
  /** What was kept when the page opened; null when there was nothing. Merge it over the form's first values. */
  restored: KeptDraft<Values> | null
  /** The browser cannot keep what is entered: tell the person, `<DraftNotice>` does. */
  hasFailed: boolean
  /** Keeps the values, a moment later: give it to the form's `onValuesChange`. */
  keep(values: Values): void
  /** After saving, or when the person wants to start over. */
  discard(): void
}

/** @param name of the form, and of the thing it edits: `campaign/new`, `campaign/<id>` */
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
        // A browser that gives nothing back keeps nothing either.
        if (isCurrent) setFailed(true)
        return null
      })
      .then(restored => isCurrent && setState({ isRead: true, restored }))
    return () => {
      isCurrent = false
    }
  }, [key])

  const write = useDebouncedCallback(
    (values: Values) => {
      isDiscarded.current = false
      writeDraft(key, { at: new Date().toISOString(), values }, openedAt).then(
        // A write that was under way when the draft was discarded may end after the removal.
        () => (isDiscarded.current ? void removeDraft(key).catch(() => {}) : setFailed(false)),
        () => setFailed(true),
      )
    },
    { delay: 300, flushOnUnmount: true },
  )
  // A reload or a closed tab unmounts nothing.
  useEffect(() => {
    const flush = () => write.flush()
    addEventListener('pagehide', flush)
    return () => removeEventListener('pagehide', flush)
  }, [write])
  const discard = useCallback(() => {
    write.cancel()
    isDiscarded.current = true
    removeDraft(key).catch(() => setFailed(true))
    setState({ isRead: true, restored: null })
  }, [key, write])
  return useMemo(() => ({ ...state, hasFailed, keep: write, discard }), [state, hasFailed, write, discard])
}
