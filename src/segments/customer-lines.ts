/** A file of customers: CSV (RFC 4180, UTF-8) with the one column `customerId`. Pure: bytes in, ids and faults out. */

import { decodeLine, readLines, splitRecord } from '../text/csv-lines.ts'
import { brokenRule, type TextRule } from '../text/text-rules.ts'
import {
  type BrokenLine,
  customerColumn,
  type LineProblem,
  lineProblem,
  mostIdCharacters,
  noCustomers,
} from './customer-rules.ts'

/** `lineNumber` is that of the file, 1 being the header. */
export type CustomerLine = { lineNumber: number; customerId: string }
/** Some lines in the order of the file, and what is wrong with others. */
export type ReadCustomerLines = { lines: CustomerLine[]; faults: LineProblem[] }

/** What the eye doesn't see must not make two ids of one. */
const isId = (text: string): boolean =>
  text !== '' &&
  text.trim() === text &&
  !/\p{Cc}/u.test(text) &&
  (text.length <= mostIdCharacters || [...text].length <= mostIdCharacters)

export type CustomerFileRules = { mostLines: number; blankLines: 'left-out' | 'faults' }

/**
 * Reads a file of customers as a stream, at most 200 lines at a time. A line is a record: no value may hold a line break, so a stray
 * quote costs one line and not the rest of the file.
 *
 * @param options.mostLines below the header
 * @param options.blankLines whether they are left out, or faults
 * @throws DomainError 'invalid' when line 1 is not the header, or more lines follow
 */
export async function* readCustomerLines(
  source: AsyncIterable<unknown>,
  { mostLines, blankLines }: CustomerFileRules,
): AsyncGenerator<ReadCustomerLines, void, undefined> {
  let count = 0
  let isBelowHeader = false
  for await (const fileLines of readLines(source)) {
    const read: ReadCustomerLines = { lines: [], faults: [] }
    for (const { lineNumber, text } of fileLines) {
      if (!isBelowHeader) {
        if (splitRecord(text ?? '')?.join() !== customerColumn) throw noCustomers('header', { columns: customerColumn })
        isBelowHeader = true
      } else if (text !== '' || blankLines === 'faults') {
        if (text !== '' && ++count > mostLines) throw noCustomers('max-lines', { max: mostLines })
        const id = readId(text)
        if (typeof id === 'string') read.lines.push({ lineNumber, customerId: id })
        else read.faults.push(lineProblem(lineNumber, id))
      }
    }
    yield read
  }
  if (!isBelowHeader) throw noCustomers('not-empty')
}

/** @returns the id, or why the line has none */
function readId(line: string | undefined): string | BrokenLine {
  if (line === undefined) return { rule: 'max-bytes', params: { max: 4096 } }
  const text = decodeLine(line)
  if (text === null) return { rule: 'utf8' }
  const values = splitRecord(text)
  if (values === undefined) return { rule: 'quotes' }
  const [customerId = ''] = values
  if (values.length !== 1) return { rule: 'value-count', params: { expected: 1, found: values.length } }
  if (brokenRule(customerId, anyText)) return { rule: 'unicode' }
  return isId(customerId) ? customerId : { rule: 'customer-id', params: { max: mostIdCharacters } }
}

const anyText: TextRule = { rule: 'unicode', params: {}, holds: () => true }
