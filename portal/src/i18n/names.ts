/** Names of partners, mobile operators, countries and currencies in the language of the page. */
import type { Language } from './language.ts'

/**
 * Something with a name in each language, as the API returns it. `name` is Ukrainian (a mobile operator has `nameUk`
 * instead). `nameEn` may be missing or empty.
 */
export type Named = { nameEn?: string | null | undefined } & ({ name: string } | { nameUk: string })

const locales: Record<Language, string> = { uk: 'uk-UA', en: 'en-GB' }

export type Names = ReturnType<typeof createNames>

/**
 * Returns functions that give names in the chosen language. Pages get these functions from `useNames()`:
 *
 *     const names = useNames()
 *     names.of(retailer)     // Grocer, or Гросер
 *     names.country('UA')    // Ukraine, or Україна
 */
export function createNames(language: Language) {
  const listOf = (type: 'region' | 'currency') => {
    let names: Intl.DisplayNames | undefined
    return (code: string, known: string): string => {
      names ??= new Intl.DisplayNames(locales[language], { type, fallback: 'none' })
      try {
        return names.of(code.toUpperCase()) ?? known
      } catch {
        // `Intl` throws an error for a malformed code, and the directory may contain malformed codes.
        return known
      }
    }
  }
  const region = listOf('region')
  const currency = listOf('currency')
  return {
    /** The name of a merchant or a mobile operator. */
    of(named: Named): string {
      const own = 'nameUk' in named ? named.nameUk : named.name
      return language === 'en' ? named.nameEn || own : own
    },
    /**
     * @param code ISO 3166-1 alpha-2
     * @param known used for a code that the browser does not know
     */
    country: (code: string, known: string = code): string => region(code, known),
    /**
     * @param code ISO 4217
     * @param known used for a code that the browser does not know
     */
    currency: (code: string, known: string = code): string => currency(code, known),
  }
}
