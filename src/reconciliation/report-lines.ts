/**
 * Reads and checks the lines of a report (contract/reconciliation.md, "The report file"): CSV (RFC 4180, UTF-8). Pure: bytes in,
 * lines and errors out.
 */

import { DomainError } from '../errors.ts'
import { createLineCount, decodeLine, readLines, splitRecord } from '../text/csv-lines.ts'
import { isDateAlone, readInstant } from '../text/instant.ts'
import { shownStart } from '../text/shown-text.ts'
import { brokenRule, oneLine, type TextRule } from '../text/text-rules.ts'
import { everyInvisible } from '../text/visible.ts'
import { isCardNumber, mayHoldCard } from './card-numbers.ts'
import type { Side } from './differences.ts'
import {
  type Broken,
  problem,
  problemText,
  type ReportColumn,
  type ReportProblem,
  reportColumns,
} from './report-rules.ts'

export const maxReportLines = 1_000_000

/** A valid line of a report. Amounts are exact decimal texts. */
export type ReportLine = {
  /** Line number in the file; the header is 1. */
  lineNumber: number
  transactionId: string
  terminalId: string
  transactionAt: Date
  amount: string
  /** null when a merchant's report leaves it out. */
  cashbackAmount: string | null
}

/**
 * A batch of lines of the file: the valid lines in their order, the errors of the other lines, and the number of all
 * lines in the batch. `cards` is how many lines, valid or not, have a card number as transaction id.
 */
export type ReadReportLines = { lines: ReportLine[]; errors: ReportProblem[]; count: number; cards: number }

type Places = { columns: number; of: Record<ReportColumn, number> }

/**
 * Reads a report as a stream, at most 200 lines at a time, without empty lines. Each line is a record: no value may contain a
 * line break, so a stray quote affects only its own line.
 *
 * @throws DomainError 'invalid' when line 1 is not the header, or when there are too many lines
 */
export async function* readReportLines(
  source: AsyncIterable<unknown>,
  side: Side,
): AsyncGenerator<ReadReportLines, void, undefined> {
  const isTooMany = createLineCount(maxReportLines)
  let places: Places | undefined
  for await (const fileLines of readLines(source)) {
    const read: ReadReportLines = { lines: [], errors: [], count: 0, cards: 0 }
    for (const { lineNumber, text } of fileLines) {
      if (places === undefined) places = readHeader(text, side)
      else if (isTooMany(text)) throw noReport(problem({ rule: 'max-lines', params: { max: maxReportLines } }))
      else if (text !== '') {
        read.count++
        const values = splitLine(text, places.columns)
        if (Array.isArray(values) && isCardNumber(values[places.of.transactionId] ?? '')) read.cards++
        const line = Array.isArray(values)
          ? readLine(lineNumber, values, places, side)
          : [problem(values, { line: lineNumber })]
        if (Array.isArray(line)) read.errors.push(...line)
        else read.lines.push(line)
      }
    }
    // Do not keep processed lines in memory while the caller waits for the database.
    fileLines.length = 0
    yield read
  }
  if (places === undefined) throw noReport(problem({ rule: 'not-empty' }))
}

/** The error that refuses the whole file. */
export const noReport = (reason: ReportProblem): DomainError =>
  new DomainError('invalid', [problemText(reason)], { problems: [reason] })

function readHeader(text: string | undefined, side: Side): Places {
  const header = decodeLine(text ?? '')
  if (header === null) throw noReport(problem({ rule: 'utf8' }, { line: 1 }))
  const names = splitRecord(header) ?? []
  const place = (column: ReportColumn) => names.indexOf(column)
  const needed = side === 'merchant' ? reportColumns.filter(column => column !== 'cashbackAmount') : reportColumns
  const isRight =
    names.every(name => (reportColumns as readonly string[]).includes(name)) &&
    new Set(names).size === names.length &&
    needed.every(column => names.includes(column))
  if (!isRight) {
    const params = { columns: reportColumns.join(','), ...(side === 'merchant' && { optional: 'cashbackAmount' }) }
    throw noReport(problem({ rule: 'header', params }, { line: 1, ...shown(header) }))
  }
  const of = Object.fromEntries(reportColumns.map(column => [column, place(column)])) as Places['of']
  return { columns: names.length, of }
}

/** @returns the line, or its error */
function readLine(
  lineNumber: number,
  values: readonly string[],
  places: Places,
  side: Side,
): ReportLine | ReportProblem[] {
  const value = (column: ReportColumn) => values[places.of[column]] ?? ''
  const transactionAt = instantOf(value('transactionAt'))
  const cashback = value('cashbackAmount')
  const withoutCashback = side === 'merchant' && cashback === ''
  // The checks are in the order of the columns.
  const broken = [
    transactionIdError(value('transactionId')),
    idError(value('terminalId')),
    transactionAt ? undefined : instantError,
    moneyError(value('amount')),
    withoutCashback ? undefined : moneyError(cashback),
  ]
  if (transactionAt === null || broken.some(rule => rule !== undefined))
    return reportColumns.flatMap((column, place) => {
      const rule = broken[place]
      // In the other columns, a value with 13 or more digits can be an amount. So only values that are card numbers are hidden.
      const mayHold = column === 'transactionId' ? mayHoldCard : isCardNumber
      return rule === undefined ? [] : [problem(rule, { line: lineNumber, column, ...shown(value(column), mayHold) })]
    })
  return {
    lineNumber,
    transactionId: value('transactionId'),
    terminalId: value('terminalId'),
    transactionAt,
    amount: value('amount'),
    cashbackAmount: withoutCashback ? null : cashback,
  }
}

/** @returns the values of a line, or its error */
function splitLine(text: string | undefined, columns: number): string[] | Broken {
  if (text === undefined) return { rule: 'max-bytes', params: { max: 4096 } }
  const decoded = decodeLine(text)
  if (decoded === null) return { rule: 'utf8' }
  const values = splitRecord(decoded)
  if (values === undefined) return { rule: 'quotes' }
  // A spreadsheet saves an empty row as commas alone. It is one error, not one for each column.
  const found = values.every(value => value.trim() === '') ? 0 : values.length
  return found === columns ? values : { rule: 'value-count', params: { expected: columns, found } }
}

const instantError: Broken = { rule: 'instant', params: { from: 1970, to: 9999 } }

const maxIdLength = 128
const id = oneLine(maxIdLength)
const anyText: TextRule = { rule: 'unicode', params: {}, holds: () => true }

function idError(text: string): Broken | undefined {
  if (brokenRule(text, id) === undefined) return undefined
  return brokenRule(text, anyText) ? { rule: 'unicode' } : { rule: 'one-line', params: { max: maxIdLength } }
}

/**
 * Matches characters that an id must not have: invisible characters, spaces other than U+0020, and spaces at either
 * end. Otherwise two ids that look the same could claim one transaction twice.
 */
const hidden = new RegExp(`[${everyInvisible}]|[^\\S ]|^ | $`, 'u')

const transactionIdError = (text: string): Broken | undefined =>
  idError(text) ?? (hidden.test(text) ? { rule: 'visible-id', params: { max: maxIdLength } } : undefined)

/** Reads the instant of a transaction. A date alone is refused, because a transaction needs a time. */
const instantOf = (text: string): Date | null => (isDateAlone(text) ? null : readInstant(text))

const maxAmount = '9999999999.99'

function moneyError(text: string): Broken | undefined {
  if (/^0*\d{1,10}(?:\.\d{1,2})?$/.test(text)) return undefined
  if (!/^-?\d+(?:\.\d{1,2})?$/.test(text)) return { rule: 'decimal', params: { decimals: 2 } }
  return text.startsWith('-') ? { rule: 'min', params: { min: 0 } } : { rule: 'max', params: { max: maxAmount } }
}

/**
 * Maximum length of a value that an error shows. It is long enough to find the value in the file. The value itself may
 * be longer.
 */
const maxShownLength = 100

/** The value that a problem shows. It is left out if the text may hold a card number. */
function shown(text: string, mayHold = mayHoldCard): { value?: string } {
  if (mayHold(text)) return {}
  return { value: shownStart(text, maxShownLength) }
}
