/**
 * The rules of a file of customers, each with a code for programs and its English text. No problem shows a value, because an id
 * identifies a person.
 */
import { DomainError, type Problem } from '../errors.ts'
import { otherFormatText } from '../text/csv-lines.ts'

export const customerColumn = 'customerId'
export const maxIdCharacters = 128

type Params = Problem['params']

const header = `line 1 must be the header ${customerColumn}`

/** Texts about the whole file. */
const fileTexts = {
  utf8: () => otherFormatText,
  header: () => header,
  'not-empty': () => `file must not be empty: ${header}`,
  'max-lines': ({ max }: Params) => `file must have at most ${max} lines below its header`,
} satisfies Record<string, (params: Params) => string>

/** Texts about one line. The message puts the number of the line before them, as in `line 7 must be valid UTF-8`. */
const lineTexts = {
  'max-bytes': ({ max }: Params) => `must be at most ${max} bytes`,
  utf8: () => 'must be valid UTF-8',
  quotes: () => 'must be quoted as in RFC 4180, without a line break in a value',
  'value-count': ({ expected, found }: Params) =>
    `must have ${Number(expected) === 1 ? 'one value' : `${expected} values`}, not ${found}`,
  unicode: () => `${customerColumn} must be well-formed Unicode without NUL`,
  'customer-id': ({ max }: Params) =>
    `${customerColumn} must be 1 to ${max} characters without control characters, and without a space at either end`,
  'other-bank': ({ bank }: Params) => `must name a customer of ${bank}: this one belongs to another bank`,
} satisfies Record<string, (params: Params) => string>

type FileRule = keyof typeof fileTexts
/** A rule that a line breaks, without the number of the line. */
export type BrokenLine = { rule: keyof typeof lineTexts; params?: Params }
/** The error of one line. */
export type LineProblem = Problem & { line: number; rule: keyof typeof lineTexts }

export function lineProblem(line: number, { rule, params = {} }: BrokenLine): LineProblem {
  const column = rule === 'unicode' || rule === 'customer-id' ? customerColumn : null
  return { line, column, rule, params, value: null }
}

/** The error of a line as a sentence, such as `line 7 customerId must be 1 to 128 characters …`. */
export const lineText = ({ line, rule, params }: LineProblem): string => `line ${line} ${lineTexts[rule](params)}`

/** The error that refuses the whole file. */
export function noCustomers(rule: FileRule, params: Params = {}): DomainError {
  const line = rule === 'header' || rule === 'utf8' ? 1 : null
  return new DomainError('invalid', [fileTexts[rule](params)], {
    problems: [{ line, column: null, rule, params, value: null }],
  })
}
