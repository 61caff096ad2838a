/**
 * The portal's messages in both languages. Each area keeps its own `texts.ts`. The types require that both languages
 * have the same messages.
 */
import type { Language } from './language.ts'

type Text = string | ((...values: never[]) => string)
export type Texts = { readonly [name: string]: Text | Texts }

/** The type of the messages in another language: the same names and parameters, with any words. */
export type SameTexts<T> = {
  readonly [Name in keyof T]: T[Name] extends string
    ? string
    : T[Name] extends (...values: infer Values) => string
      ? (...values: Values) => string
      : SameTexts<T[Name]>
}

export type Dictionary<T> = { readonly en: SameTexts<T>; readonly uk: SameTexts<T> }

/** Declares an area's messages; the English ones define their names. */
export function dictionary<T extends Texts>(both: { en: T; uk: SameTexts<NoInfer<T>> }): Dictionary<T>
export function dictionary(both: Dictionary<Texts>): Dictionary<Texts> {
  return both
}

export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

const rules: Record<Language, Intl.PluralRules> = { en: new Intl.PluralRules('en'), uk: new Intl.PluralRules('uk') }
const numbers: Record<Language, Intl.NumberFormat> = {
  en: new Intl.NumberFormat('en'),
  uk: new Intl.NumberFormat('uk'),
}

/** The singular or plural form of a word for a count. The result does not contain the count. */
const plural = (language: Language, count: number, forms: PluralForms): string =>
  forms[rules[language].select(count)] ?? forms.other

/**
 * A count with its word: `3 campaigns`, `3 кампанії`. Ukrainian needs the forms `one`, `few` and `many`, and `other`
 * for fractions.
 */
export const counted = (language: Language, count: number, forms: PluralForms): string =>
  `${numbers[language].format(count)} ${plural(language, count, forms)}`
