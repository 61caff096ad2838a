/**
 * Reads numbers that people type in the format of their language; anything ambiguous is refused and never guessed.
 * Pure.
 */
import type { Language } from './language.ts'

/** Spaces of every width, which people and spreadsheets put between groups of three digits. */
const space = '[ \\u00a0\\u202f\\u2009]'
/** The maximum number of digits, because JavaScript's numbers are not exact with more. */
const maxDigits = 15

const plain = '\\d+'
// A number with groups never begins with 0, because `0,500` may mean one half.
const bySpaces = `[1-9]\\d{0,2}(?:${space}\\d{3})+`
const byCommas = '[1-9]\\d{0,2}(?:,\\d{3})+'
// One or two digits after a separator can only be decimals, in either language. Three digits are thousands in one
// language and decimals in the other, so they must follow the language's own separator of thousands.
const forms: Record<Language, (decimals: number) => RegExp> = {
  en: decimals =>
    new RegExp(
      `^(?<whole>${plain}|${bySpaces}|${byCommas})(?:\\.(?<decimals>\\d{1,${decimals}}))?$|^(?<whole2>${plain}|${bySpaces}),(?<decimals2>\\d{1,2})$`,
    ),
  uk: decimals => new RegExp(`^(?<whole>${plain}|${bySpaces})(?:[.,](?<decimals>\\d{1,${decimals}}))?$`),
}

/**
 * @param typed an amount or a percentage: `1,234.5` in English, `1 234,5` in Ukrainian
 * @param maxDecimals the maximum number of decimals
 * @returns null when the text is ambiguous or no number
 */
export function readNumber(typed: string, language: Language, maxDecimals = 2): number | null {
  const { whole, decimals, whole2, decimals2 } = forms[language](maxDecimals).exec(typed.trim())?.groups ?? {}
  const digits = (whole ?? whole2)?.replace(/\D/g, '')
  if (digits === undefined) return null
  const fraction = decimals ?? decimals2 ?? ''
  if (digits.replace(/^0+/, '').length + fraction.length > maxDigits) return null
  return Number(`${digits}.${fraction || '0'}`)
}

const locales: Record<Language, string> = { en: 'en-GB', uk: 'uk-UA' }

/** Writes a number so that `readNumber` can read it. */
export const writeNumber = (value: number, language: Language, maxDecimals = 2): string =>
  new Intl.NumberFormat(locales[language], { maximumFractionDigits: maxDecimals }).format(value)
