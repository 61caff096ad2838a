/** Reads a file of customers: CSV (RFC 4180, UTF-8) with the single column `customerId`. Pure: bytes in, ids and errors out. */

import { createLineCount, decodeLine, isOtherFormat, readLines, splitRecord } from '../text/csv-lines.ts'
import { brokenRule, type TextRule } from '../text/text-rules.ts'
import {
  type BrokenLine,
  customerColumn,
  type LineProblem,
  lineProblem,
  maxIdCharacters,
  noCustomers,
} from './customer-rules.ts'

/** `lineNumber` counts the lines of the file; the header is 1. */
export type CustomerLine = { lineNumber: number; customerId: string }
/** Some lines of the file: the valid lines in their order, and the errors of the other lines. */
export type ReadCustomerLines = { lines: CustomerLine[]; errors: LineProblem[] }

/**
 * Whether a text is an id. Control characters and spaces at the ends are refused, because editors may add them
 * unnoticed. Other invisible characters are allowed, because a bank may use any text as an id.
 */
const isId = (text: string): boolean =>
  text !== '' &&
  text.trim() === text &&
  !/\p{Cc}/u.test(text) &&
  (text.length <= maxIdCharacters || [...text].length <= maxIdCharacters)

export type CustomerFileRules = { maxLines: number; blankLines: 'left-out' | 'errors' }

/**
 * Reads a file of customers as a stream, at most 200 lines at a time. Each line is a record: no value may contain a line break,
 * so a stray quote affects only its own line.
 *
 * @param options.maxLines maximum number of lines below the header, and of blank lines
 * @param options.blankLines whether blank lines are skipped or are errors
 * @throws DomainError 'invalid' when the file is no UTF-8, when line 1 is not the header, or when there are too many lines
 */
export async function* readCustomerLines(
  source: AsyncIterable<unknown>,
  { maxLines, blankLines }: CustomerFileRules,
): AsyncGenerator<ReadCustomerLines, void, undefined> {
  const isTooMany = createLineCount(maxLines)
  let isBelowHeader = false
  for await (const fileLines of readLines(source)) {
    const read: ReadCustomerLines = { lines: [], errors: [] }
    for (const { lineNumber, text } of fileLines) {
      if (!isBelowHeader) {
        if (text !== undefined && isOtherFormat(text)) throw noCustomers('utf8')
        if (splitRecord(text ?? '')?.join() !== customerColumn) throw noCustomers('header', { columns: customerColumn })
        isBelowHeader = true
      } else if (isTooMany(text)) {
        throw noCustomers('max-lines', { max: maxLines })
      } else if (text !== '' || blankLines === 'errors') {
        const id = readId(text)
        if (typeof id === 'string') read.lines.push({ lineNumber, customerId: id })
        else read.errors.push(lineProblem(lineNumber, id))
      }
    }
    yield read
  }
  if (!isBelowHeader) throw noCustomers('not-empty')
}

/** @returns the id, or the error of the line */
function readId(line: string | undefined): string | BrokenLine {
  if (line === undefined) return { rule: 'max-bytes', params: { max: 4096 } }
  const text = decodeLine(line)
  if (text === null) return { rule: 'utf8' }
  const values = splitRecord(text)
  if (values === undefined) return { rule: 'quotes' }
  const [customerId = ''] = values
  if (values.length !== 1) return { rule: 'value-count', params: { expected: 1, found: values.length } }
  if (brokenRule(customerId, anyText)) return { rule: 'unicode' }
  return isId(customerId) ? customerId : { rule: 'customer-id', params: { max: maxIdCharacters } }
}

const anyText: TextRule = { rule: 'unicode', params: {}, holds: () => true }
