/** A person's choices of language and time zone. The browser stores them, and all its tabs use them. */
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react'
import { createFormat, type Format } from './format.ts'
import { firstLanguage, isLanguage, type Language } from './language.ts'
import { createNames, type Names } from './names.ts'
import type { Dictionary, SameTexts } from './texts.ts'
import { browserTimeZone, isTimeZone } from './time-zone.ts'

const languageKey = 'perkline.language'
const timeZoneKey = 'perkline.time-zone'

type Preferences = {
  language: Language
  timeZone: string
  format: Format
  names: Names
  setLanguage(language: Language): void
  setTimeZone(timeZone: string): void
}

const Context = createContext<Preferences | null>(null)

function keptLanguage(): Language {
  const kept = localStorage.getItem(languageKey)
  return isLanguage(kept) ? kept : firstLanguage(navigator.languages)
}

/** The stored time zone, or the browser's own. */
export function keptTimeZone(): string {
  const kept = localStorage.getItem(timeZoneKey)
  return isTimeZone(kept) ? kept : browserTimeZone()
}

export function PreferencesProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(keptLanguage)
  const [timeZone, setTimeZone] = useState(keptTimeZone)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  useEffect(() => {
    const follow = ({ key }: StorageEvent) => {
      if (key === languageKey) setLanguage(keptLanguage)
      if (key === timeZoneKey) setTimeZone(keptTimeZone)
    }
    addEventListener('storage', follow)
    return () => removeEventListener('storage', follow)
  }, [])
  const preferences = useMemo(
    () => ({
      language,
      timeZone,
      format: createFormat(language, timeZone),
      names: createNames(language),
      setLanguage(chosen: Language) {
        localStorage.setItem(languageKey, chosen)
        setLanguage(chosen)
      },
      setTimeZone(chosen: string) {
        localStorage.setItem(timeZoneKey, chosen)
        setTimeZone(chosen)
      },
    }),
    [language, timeZone],
  )
  return <Context value={preferences}>{children}</Context>
}

export function usePreferences(): Preferences {
  const preferences = use(Context)
  if (!preferences) throw new Error('There are no preferences outside PreferencesProvider')
  return preferences
}

/** An area's messages in the chosen language. */
export const useTexts = <T,>(texts: Dictionary<T>): SameTexts<T> => texts[usePreferences().language]

/** Formats figures in the chosen language and time zone. */
export const useFormat = (): Format => usePreferences().format

/** Names of partners, countries and currencies in the chosen language. */
export const useNames = (): Names => usePreferences().names
