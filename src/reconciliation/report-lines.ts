/** A report as a file (behaviour.md, section 7): CSV (RFC 4180, UTF-8) that becomes checked lines. Pure: bytes in, lines and faults out. */
import { isDateAlone, readInstant } from '../campaigns/instant.ts'
import { decodeLine, readLines, splitRecord } from '../csv-lines.ts'
import { DomainError } from '../errors.ts'
import { brokenRule, oneLine, type TextRule } from '../partners/text-rules.ts'
import { shownText } from '../shown-text.ts'
import type { Side } from './differences.ts'

const reportColumns = ['transactionId', 'terminalId', 'transactionAt', 'amount', 'cashbackAmount'] as const
type ReportColumn = (typeof reportColumns)[number]

export const mostReportLines = 1_000_000

/** Amounts are decimal texts, exact. */
export type ReportLine = {
  /** Of the file, 1 being the header. */
  lineNumber: number
  transactionId: string
  terminalId: string
  transactionAt: Date
  amount: string
  /** null: a merchant's report may leave it out. */
  cashbackAmount: string | null
}

/** Some lines in the order of the file, what is wrong with others (`line 7: amount must be ..., not "12,5"`), and how many lines both are. */
export type ReadReportLines = { lines: ReportLine[]; faults: string[]; count: number }

type Places = { columns: number; of: Record<ReportColumn, number> }

/**
 * Reads a report as a stream, at most 200 lines at a time; empty lines are left out. A line is a record: no value may hold a line
 * break, so a stray quote costs one line and not the rest of the file.
 *
 * @throws DomainError 'invalid' when line 1 is not the header, or more lines follow than a report may have
 */
export async function* readReportLines(
  source: AsyncIterable<unknown>,
  side: Side,
): AsyncGenerator<ReadReportLines, void, undefined> {
  let places: Places | undefined
  let count = 0
  for await (const fileLines of readLines(source)) {
    const read: ReadReportLines = { lines: [], faults: [], count: 0 }
    for (const { lineNumber, text } of fileLines) {
      if (places === undefined) places = readHeader(text, side)
      else if (text !== '') {
        if (++count > mostReportLines)
          throw new DomainError('invalid', [`file must have at most ${mostReportLines} lines below its header`])
        read.count++
        const line = readLine(lineNumber, text, places, side)
        if (Array.isArray(line)) read.faults.push(...line.map(fault => `line ${lineNumber}: ${fault}`))
        else read.lines.push(line)
      }
    }
    // Nothing that is done with is kept while somebody waits for the database.
    fileLines.length = 0
    yield read
  }
  if (places === undefined) throw new DomainError('invalid', ['file must not be empty: its line 1 is the header'])
}

function readHeader(text: string | undefined, side: Side): Places {
  const names = splitRecord(decodeLine(text ?? '') ?? '') ?? []
  const place = (column: ReportColumn) => names.indexOf(column)
  const needed = side === 'merchant' ? reportColumns.filter(column => column !== 'cashbackAmount') : reportColumns
  const isRight =
    names.every(name => (reportColumns as readonly string[]).includes(name)) &&
    new Set(names).size === names.length &&
    needed.every(column => names.includes(column))
  if (!isRight) {
    const leave = side === 'merchant' ? '; cashbackAmount may be left out' : ''
    const header = `line 1: the header must be ${reportColumns.join(',')} (in any order${leave})`
    throw new DomainError('invalid', [`${header}, not ${shown(decodeLine(text ?? '') ?? '')}`])
  }
  const of = Object.fromEntries(reportColumns.map(column => [column, place(column)])) as Places['of']
  return { columns: names.length, of }
}

/** @returns the line, or what is wrong with it */
function readLine(lineNumber: number, text: string | undefined, places: Places, side: Side): ReportLine | string[] {
  const values = splitLine(text, places.columns)
  if (typeof values === 'string') return [values]
  const value = (column: ReportColumn) => values[places.of[column]] ?? ''
  const transactionAt = instantOf(value('transactionAt'))
  const cashback = value('cashbackAmount')
  const withoutCashback = side === 'merchant' && cashback === ''
  // In the order of the columns.
  const broken = [
    brokenRule(value('transactionId'), id),
    brokenRule(value('terminalId'), id),
    transactionAt ? undefined : `must be ${instantForm}`,
    moneyFault(value('amount')),
    withoutCashback ? undefined : moneyFault(cashback),
  ]
  if (transactionAt === null || broken.some(must => must !== undefined))
    return reportColumns.flatMap((column, place) =>
      broken[place] === undefined ? [] : [`${column} ${broken[place]}, not ${shown(value(column))}`],
    )
  return {
    lineNumber,
    transactionId: value('transactionId'),
    terminalId: value('terminalId'),
    transactionAt,
    amount: value('amount'),
    cashbackAmount: withoutCashback ? null : cashback,
  }
}

/** @returns the values of a line, or why it has none */
function splitLine(text: string | undefined, columns: number): string[] | string {
  if (text === undefined) return 'must be at most 4096 bytes'
  const decoded = decodeLine(text)
  if (decoded === null) return 'must be valid UTF-8'
  const values = splitRecord(decoded)
  if (values === undefined) return 'must be quoted as in RFC 4180, without a line break in a value'
  return values.length === columns ? values : `must have ${columns} values, as the header has, not ${values.length}`
}

const instantForm = 'an ISO 8601 date and time with a time zone, from 1970 to 9999'
const id: TextRule = oneLine(128)

/** The day of a transaction says too little about when it was. */
const instantOf = (text: string): Date | null => (isDateAlone(text) ? null : readInstant(text))

const most = '9999999999.99'

function moneyFault(text: string): string | undefined {
  if (/^0*\d{1,10}(?:\.\d{1,2})?$/.test(text)) return undefined
  if (!/^-?\d+(?:\.\d{1,2})?$/.test(text)) return 'must be a decimal number with at most 2 decimals'
  return text.startsWith('-') ? 'must be at least 0' : `must be at most ${most}`
}

/** Enough to find a value by; it is the caller's own text and of any length. */
const longestShown = 100

const shown = (value: string): string =>
  `"${shownText(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value)}"`
