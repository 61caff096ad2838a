/** The platform's rules in people's words, shown at the field. The platform words them in English, in the forms of its validator. */
import type { Language } from '../i18n/language.ts'
import { counted } from '../i18n/texts.ts'
import type { ApiError, Fault } from './errors.ts'

type Rule = { form: RegExp; en(...found: string[]): string; uk(...found: string[]): string }

const characters = {
  en: (count: string) => counted('en', Number(count), { one: 'character', other: 'characters' }),
  uk: (count: string) =>
    counted('uk', Number(count), { one: 'символ', few: 'символи', many: 'символів', other: 'символу' }),
}

const rules: Rule[] = [
  { form: /^given$/, en: () => 'Fill this in', uk: () => 'Заповніть це поле' },
  { form: /^not be null/, en: () => 'Fill this in', uk: () => 'Заповніть це поле' },
  {
    form: /^free; .+ is taken by a disabled user$/s,
    en: () => 'A disabled user has this login. Choose another one',
    uk: () => 'Цей логін має вимкнений користувач. Виберіть інший',
  },
  { form: /^free; /, en: () => 'This login is taken', uk: () => 'Цей логін зайнятий' },
  { form: /^new; /, en: () => 'This code is taken', uk: () => 'Такий код уже є' },
  { form: /^omitted$/, en: () => 'This cannot be given here', uk: () => 'Тут цього вказувати не можна' },
  {
    form: /^shorter than or equal to (\d+) characters?/,
    en: count => `At most ${characters.en(count)}`,
    uk: count => `Щонайбільше ${characters.uk(count)}`,
  },
  {
    form: /^longer than or equal to (\d+) characters?/,
    en: count => (count === '1' ? 'Fill this in' : `At least ${characters.en(count)}`),
    uk: count => (count === '1' ? 'Заповніть це поле' : `Щонайменше ${characters.uk(count)}`),
  },
  { form: /^at least (-?[\d.]+)$/, en: limit => `${limit} or more`, uk: limit => `${limit} або більше` },
  { form: /^at most (-?[\d.]+)$/, en: limit => `${limit} or less`, uk: limit => `${limit} або менше` },
  { form: /^greater than (-?[\d.]+)$/, en: limit => `More than ${limit}`, uk: limit => `Більше за ${limit}` },
  {
    form: /^a list of at least (\d+)/,
    en: count => `Choose at least ${count}`,
    uk: count => `Виберіть щонайменше ${count}`,
  },
  {
    form: /^a list of at most (\d+)/,
    en: count => `At most ${count} entries`,
    uk: count => `Щонайбільше ${count} записів`,
  },
  { form: /^a list without repetitions$/, en: () => 'One of them is there twice', uk: () => 'Є повтори' },
  { form: /^a UUID$/, en: () => 'This is no valid id', uk: () => 'Це не ідентифікатор' },
  { form: /^a URL$/, en: () => 'This is no web address', uk: () => 'Це не вебадреса' },
  { form: /^an ISO 8601 date/, en: () => 'This is no valid date', uk: () => 'Це не дата' },
  { form: /^in the future$/, en: () => 'This must lie in the future', uk: () => 'Має бути в майбутньому' },
  { form: /^after dateFrom$/, en: () => 'The end comes after the start', uk: () => 'Кінець має бути після початку' },
  { form: /^at least minAmount$/, en: () => 'Not less than the smallest', uk: () => 'Не менше за найменшу' },
  {
    form: /^false when sku or categoryId/,
    en: () => 'Name products, or the whole assortment, not both',
    uk: () => 'Вкажіть товари або весь асортимент, не те й інше',
  },
  {
    form: /^a text with at least one character/,
    en: () => 'Fill this in',
    uk: () => 'Заповніть це поле',
  },
  {
    form: /^one line, without characters that turn/,
    en: () => 'Use one line, without characters that change the text direction',
    uk: () => 'Має бути один рядок без символів, що змінюють напрям тексту',
  },
  { form: /^not be an SVG image$/, en: () => 'SVG images can’t be used', uk: () => 'Зображення SVG не підтримуються' },
  {
    form: /^an http or https URL of at most (\d+) characters/,
    en: () => 'A web address, or a picture of at most 256 KiB',
    uk: () => 'Вебадреса або картинка щонайбільше 256 КіБ',
  },
  {
    form: /^a number with at most (\d+) decimals/,
    en: count => `At most ${count} decimals`,
    uk: count => `Щонайбільше ${count} знаки після коми`,
  },
  {
    form: /^1 to (\d+) letters, digits, dots, underscores(?:,| or) (?:tildes or )?hyphens/,
    en: count => `1 to ${count} Latin letters, digits, dots, underscores or hyphens`,
    uk: count => `Від 1 до ${count} латинських літер, цифр, крапок, підкреслень або дефісів`,
  },
  { form: /^an ISO 3166-1 /, en: () => 'Choose a country', uk: () => 'Виберіть країну' },
  {
    form: /^an ISO 4217 /,
    en: () => 'A currency code of three capital letters, such as UAH',
    uk: () => 'Код валюти з трьох великих літер, наприклад UAH',
  },
  {
    form: /^a domain name$/,
    en: () => 'A domain name, such as shop.example',
    uk: () => 'Доменне ім’я, наприклад shop.example',
  },
  {
    form: /^a whole number from (\d+) to (\d+)$/,
    en: (least, most) => `A whole number from ${least} to ${most}`,
    uk: (least, most) => `Ціле число від ${least} до ${most}`,
  },
  {
    form: /^a number from 0 to [\d.]+ with at most (\d) decimals$/,
    en: count => `0 or more, with at most ${count} decimals`,
    uk: count => `0 або більше, щонайбільше ${count} знаки після коми`,
  },
  {
    form: /^at most (\d+) characters$/,
    en: count => `At most ${characters.en(count)}`,
    uk: count => `Щонайбільше ${characters.uk(count)}`,
  },
  {
    form: /^well-formed Unicode/,
    en: () => 'There are characters that can’t be stored',
    uk: () => 'Є символи, які неможливо зберегти',
  },
  {
    form: /^the code of a .+ is called /s,
    en: () => 'It doesn’t exist any more',
    uk: () => 'Цього вже немає',
  },
  { form: /^four digits$/, en: () => 'A code of four digits', uk: () => 'Код із чотирьох цифр' },
  {
    form: /^(?:one line|a text) of 1 to (\d+) characters(?:, or empty)?$/,
    en: count => `1 to ${characters.en(count)}, in one line`,
    uk: count => `Від 1 до ${count} символів, в один рядок`,
  },
  { form: /^unique in the list$/, en: () => 'It is in the list twice', uk: () => 'Є у списку двічі' },
  { form: /^unchanged:/, en: () => 'This cannot be changed any more', uk: () => 'Цього вже не змінити' },
  {
    form: /^the present list and additions only: (.+) is missing$/s,
    en: missing => `Only additions are possible: ${missing} is missing`,
    uk: missing => `Можна лише додавати: бракує ${missing}`,
  },
  {
    form: /^a connected bank that/,
    en: () => 'This bank cannot be invited any more',
    uk: () => 'Цей банк уже не можна запросити',
  },
  {
    form: /^a (?:country|payment system) of the platform$/,
    en: () => 'The platform does not know it',
    uk: () => 'Платформа цього не знає',
  },
  {
    form: /^an active merchant that/,
    en: () => 'No campaign can be made for this merchant',
    uk: () => 'Для цього торговця кампанію не створити',
  },
  {
    form: /^a decimal number with at most (\d+) decimals$/,
    en: count => `A number with a point and at most ${count} decimals`,
    uk: count => `Число з крапкою, щонайбільше ${count} знаки після неї`,
  },
  { form: /^an? (?:number|integer)$/, en: () => 'This is no number', uk: () => 'Це не число' },
]

/** A fault in people's words; one that is not foreseen keeps the platform's wording. */
export function faultText({ requirement }: Fault, language: Language): string {
  for (const rule of rules) {
    const match = rule.form.exec(requirement)
    if (match) return rule[language](...match.slice(1))
  }
  return language === 'uk' ? `Має бути: ${requirement}` : `Must be ${requirement}`
}

/**
 * Sorts an error's faults to the fields of a form.
 *
 * @param fields the form's fields; a nested one (`terminals.0.terminal_id`) belongs to the nearest one above it, unless it is
 *   itself named
 * @returns the text for each field, and the messages that belong to none
 */
export function faultsByField<Field extends string>(
  error: ApiError,
  fields: readonly Field[],
  language: Language,
): { byField: Partial<Record<Field, string>>; others: string[] } {
  const byField: Partial<Record<Field, string>> = {}
  const placed = new Set<Fault>()
  for (const fault of error.faults) {
    const field = nearestField(fault.field, fields)
    if (!field) continue
    placed.add(fault)
    const text = faultText(fault, language)
    const line = fault.field === field ? text : `${fault.field.slice(field.length + 1)}: ${text}`
    byField[field] = byField[field] ? `${byField[field]}; ${line}` : line
  }
  const named = new Set([...placed].map(({ field }) => field))
  return { byField, others: error.messages.filter(message => !named.has(message.split(' must ', 1)[0] ?? '')) }
}

function nearestField<Field extends string>(path: string, fields: readonly Field[]): Field | undefined {
  const fitting = fields.filter(field => path === field || path.startsWith(`${field}.`))
  return fitting.sort((one, other) => other.length - one.length)[0]
}
