/** The rules of a report's file, each with a code for programs and its English text. */
import type { Problem } from '../errors.ts'

export const reportColumns = ['transactionId', 'terminalId', 'transactionAt', 'amount', 'cashbackAmount'] as const
export type ReportColumn = (typeof reportColumns)[number]

type Params = Problem['params']

/** The English text of each rule. In the error of a column, the name of the column comes before this text. */
const texts = {
  header: ({ columns, optional }: Params) =>
    `the header must be ${columns} (in any order${optional ? `; ${optional} may be left out` : ''})`,
  'not-empty': () => 'file must not be empty: its line 1 is the header',
  'max-lines': ({ max }: Params) => `file must have at most ${max} lines below its header`,
  'no-card-numbers': () =>
    'transactionId must be an id of the transaction, not a card number: at least half of the lines have one; nothing was kept',
  'max-bytes': ({ max }: Params) => `must be at most ${max} bytes`,
  utf8: () => 'must be valid UTF-8',
  quotes: () => 'must be quoted as in RFC 4180, without a line break in a value',
  'value-count': ({ expected, found }: Params) => `must have ${expected} values, as the header has, not ${found}`,
  unicode: () => 'must be well-formed Unicode without NUL',
  'one-line': ({ max }: Params) => `must be one line of 1 to ${max} characters`,
  'visible-id': ({ max }: Params) =>
    `must be one line of 1 to ${max} visible characters, without a space at either end`,
  instant: ({ from, to }: Params) => `must be an ISO 8601 date and time with a time zone, from ${from} to ${to}`,
  decimal: ({ decimals }: Params) => `must be a decimal number with at most ${decimals} decimals`,
  min: ({ min }: Params) => `must be at least ${min}`,
  max: ({ max }: Params) => `must be at most ${max}`,
} satisfies Record<string, (params: Params) => string>

type ReportRule = keyof typeof texts
/** A broken rule, without its place. */
export type Broken = { rule: ReportRule; params?: Params }
export type ReportProblem = Problem & { rule: ReportRule }

export function problem(
  { rule, params = {} }: Broken,
  place: { line?: number; column?: ReportColumn; value?: string } = {},
): ReportProblem {
  const { line = null, column = null, value = null } = place
  return { line, column, rule, params, value }
}

/** An error as a sentence, such as `line 7: amount must be a decimal number with at most 2 decimals, not "12,5"`. */
export function problemText({ line, column, rule, params, value }: ReportProblem): string {
  const where = `${line === null ? '' : `line ${line}: `}${column === null ? '' : `${column} `}`
  return `${where}${texts[rule](params)}${value === null ? '' : `, not "${value}"`}`
}
