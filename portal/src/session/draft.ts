/**
 * Forms that survive a reload, a closed tab and a session that ends: what was entered is kept in this browser, for this person, until
 * it is saved or discarded.
 */
import { useDebouncedCallback } from '@mantine/hooks'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { personOf } from './session.ts'
import { useSession } from './use-session.ts'

type Kept<Values> = { at: string; values: Values }

export type Draft<Values> = {
  /** What was kept when the page opened; null when there was nothing. Merge it over the form's first values. */
  restored: Kept<Values> | null
  /** Keeps the values, a moment later: give it to the form's `onValuesChange`. */
  keep(values: Values): void
  /** After saving, or when the person wants to begin anew. */
  discard(): void
}

/** @param name of the form, and of the thing it edits: `campaign/new`, `campaign/<id>` */
export function useDraft<Values>(name: string): Draft<Values> {
  const session = useSession()
  const key = `perkline.draft/${personOf(session)}/${name}`
  const [restored, setRestored] = useState(() => read<Values>(key))
  const write = useDebouncedCallback((values: Values) => store(key, values), { delay: 300, flushOnUnmount: true })
  // A reload or a closed tab unmounts nothing.
  useEffect(() => {
    const flush = () => write.flush()
    addEventListener('pagehide', flush)
    return () => removeEventListener('pagehide', flush)
  }, [write])
  const discard = useCallback(() => {
    write.cancel()
    localStorage.removeItem(key)
    setRestored(null)
  }, [key, write])
  return useMemo(() => ({ restored, keep: write, discard }), [restored, write, discard])
}

function read<Values>(key: string): Kept<Values> | null {
  try {
    const text = localStorage.getItem(key)
    return text === null ? null : (JSON.parse(text) as Kept<Values>)
  } catch {
    return null
  }
}

function store<Values>(key: string, values: Values): void {
  try {
    localStorage.setItem(key, JSON.stringify({ at: new Date().toISOString(), values }))
  } catch {
    // The browser's storage is full (large banners, say): the form goes on without a draft.
  }
}
