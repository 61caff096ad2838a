/**
 * The errors of an uploaded file, line by line, or of a request, in the person's language. The platform sends each as a
 * code.
 */
import type { Language } from '../i18n/language.ts'
import type { components } from './schema/perkline.ts'

export type FileProblem = NonNullable<components['schemas']['PortalError']['problems']>[number]

type Params = FileProblem['params']
type RuleText = (params: Params) => string

const isMore = (found: Params[string] = 0, expected: Params[string] = 0): boolean => Number(found) > Number(expected)

/** Whether a list of columns names only one. */
const isOne = (columns: Params[string] | undefined): boolean => !String(columns).includes(',')

const rules: Record<Language, Record<string, RuleText>> = {
  en: {
    header: ({ columns, optional }) =>
      isOne(columns)
        ? `the first line must name the column ${columns} and no other`
        : `the first line must name the columns ${columns}${optional ? ` (${optional} is optional)` : ''}`,
    'not-empty': () => 'The file is empty. Its first line must name the columns.',
    'max-lines': ({ max }) => `The file has more than ${max} lines below the header.`,
    'no-card-numbers': () =>
      'At least half of the lines have a card number as transactionId. Use transaction ids instead: card numbers must not be uploaded.',
    'max-bytes': ({ max }) => `the line is longer than ${max} bytes`,
    utf8: () => 'save the file in UTF-8 (in Excel as “CSV UTF-8”)',
    quotes: () => 'quotes don’t match, or a value contains a line break',
    'value-count': ({ expected, found }) =>
      found === 0
        ? 'the line is empty: delete it'
        : `${expected} values expected, ${found} found${isMore(found, expected) ? '. A comma begins a new value, so write amounts with a point: 1250.00' : ''}`,
    unicode: () => 'contains characters that can’t be stored',
    'one-line': ({ max }) => `must have 1 to ${max} characters in one line`,
    'visible-id': () => 'must have no invisible characters, and no space at either end',
    instant: () => 'must be a date and time with a time zone, for example 2026-12-05T14:30:00+02:00',
    decimal: ({ decimals }) =>
      `must be a number with a point and at most ${decimals} decimals, without spaces or commas, for example 1250.00`,
    min: ({ min }) => `must be ${min} or more`,
    max: ({ max }) => `must be ${max} or less`,
    'customer-id': ({ max }) =>
      `must have 1 to ${max} characters, without control characters and without a space at either end`,
    'other-bank': () => 'this customer belongs to another bank',
    'terminals-header': ({ optional }) =>
      `the first line must name terminalId and any of the columns ${optional}, each only once`,
    'max-terminals': ({ max }) => `the file has more than ${max} terminals`,
    repeated: ({ line }) => `line ${line} has the same value`,
    'period-not-ended': () => 'The campaign’s period hasn’t ended yet. Reports are exchanged after it ends.',
    'no-act-yet': () => 'There’s no settlement act yet. Reports are exchanged after the campaign’s period ends.',
    'period-over': () => 'The campaign’s period has ended.',
  },
  uk: {
    header: ({ columns, optional }) =>
      isOne(columns)
        ? `у першому рядку має бути назва стовпця ${columns} і більше нічого`
        : `у першому рядку мають бути назви стовпців ${columns}${optional ? ` (${optional} не обов’язковий)` : ''}`,
    'not-empty': () => 'Файл порожній. У його першому рядку мають бути назви стовпців.',
    'max-lines': ({ max }) => `У файлі понад ${max} рядків під заголовком.`,
    'no-card-numbers': () =>
      'Щонайменше в половині рядків у transactionId стоїть номер картки. Вкажіть ідентифікатори операцій: номери карток завантажувати не можна.',
    'max-bytes': ({ max }) => `рядок довший за ${max} байтів`,
    utf8: () => 'збережіть файл у кодуванні UTF-8 (в Excel як «CSV UTF-8»)',
    quotes: () => 'лапки не закриті або у значенні є розрив рядка',
    'value-count': ({ expected, found }) =>
      found === 0
        ? 'рядок порожній: видаліть його'
        : `має бути значень: ${expected}, є: ${found}${isMore(found, expected) ? '. Кома починає нове значення, тому пишіть суми з крапкою: 1250.00' : ''}`,
    unicode: () => 'містить символи, які неможливо зберегти',
    'one-line': ({ max }) => `має бути від 1 до ${max} символів в одному рядку`,
    'visible-id': () => 'не може мати невидимих символів і пробілів на краях',
    instant: () => 'має бути дата й час із часовим поясом, наприклад 2026-12-05T14:30:00+02:00',
    decimal: ({ decimals }) =>
      `має бути число з крапкою і щонайбільше ${decimals} знаками після неї, без пробілів і ком, наприклад 1250.00`,
    min: ({ min }) => `має бути ${min} або більше`,
    max: ({ max }) => `має бути ${max} або менше`,
    'customer-id': ({ max }) => `має бути від 1 до ${max} символів, без керівних символів і без пробілів на краях`,
    'other-bank': () => 'цей клієнт належить іншому банку',
    'terminals-header': ({ optional }) =>
      `у першому рядку має бути terminalId, а також можуть бути стовпці ${optional}, кожен лише раз`,
    'max-terminals': ({ max }) => `у файлі понад ${max} терміналів`,
    repeated: ({ line }) => `таке саме значення є в рядку ${line}`,
    'period-not-ended': () => 'Період кампанії ще триває. Звітами обмінюються після його завершення.',
    'no-act-yet': () => 'Акта ще немає: звітами обмінюються після завершення періоду кампанії.',
    'period-over': () => 'Період кампанії вже завершився.',
  },
}

/**
 * Whether the columns of a header are separated by something other than commas. Spreadsheets in Ukrainian save CSV with
 * semicolons, and text with tabs. A list of terminals may have any of these, so it is never wrong there.
 */
const isHeaderWithoutCommas = ({ rule, value }: FileProblem): boolean =>
  rule === 'header' && (value?.includes(',') === false || value?.includes(';') === true)
const useCommas: Record<Language, string> = {
  en: '. Separate the columns with commas, not with semicolons or tabs',
  uk: '. Розділяйте стовпці комами, а не крапками з комою чи табуляцією',
}

const lineWord: Record<Language, string> = { en: 'Line', uk: 'Рядок' }
const elsewise: Record<Language, string> = { en: 'can’t be read', uk: 'неможливо прочитати' }

/** A problem and its place in words: `Line 7, amount: must be a number … (“12,5”)`. */
export function problemText(problem: FileProblem, language: Language): string {
  const { line, column, rule, params, value } = problem
  const hint = isHeaderWithoutCommas(problem) ? useCommas[language] : ''
  const text = `${rules[language][rule]?.(params) ?? elsewise[language]}${hint}`
  if (line === null) return text
  const place = `${lineWord[language]} ${line}${column === null ? '' : `, ${column}`}`
  return `${place}: ${text}${value === null || value === '' ? '' : ` (${value})`}`
}
