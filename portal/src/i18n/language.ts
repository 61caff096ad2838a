/** The languages of the portal, and how the first language is chosen for a new person. */
export const languages = ['uk', 'en'] as const
export type Language = (typeof languages)[number]

/** Each language's own name, for the switch. */
export const languageNames: Record<Language, string> = { uk: 'Українська', en: 'English' }

export const isLanguage = (value: unknown): value is Language => languages.some(language => language === value)

/** @param wanted the browser's languages, the preferred one first */
export function firstLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const language = tag.slice(0, 2).toLowerCase()
    if (isLanguage(language)) return language
  }
  return 'en'
}
