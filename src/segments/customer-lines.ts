/** A file of customers: CSV (RFC 4180, UTF-8) with the one column `customerId`. Pure: bytes in, ids and faults out. */

import { decodeLine, readLines, splitRecord } from '../csv-lines.ts'
import { DomainError } from '../errors.ts'
import { brokenRule, type TextRule } from '../partners/text-rules.ts'

const customerColumn = 'customerId'
export const mostIdCharacters = 128
const header = `line 1 must be the header ${customerColumn}`

/** `lineNumber` is that of the file, 1 being the header. */
export type CustomerLine = { lineNumber: number; customerId: string }
/** Some lines in the order of the file, and what is wrong with others. A fault shows no value: an id names a person. */
export type ReadCustomerLines = { lines: CustomerLine[]; faults: LineFault[] }
export type LineFault = { lineNumber: number; fault: string }

/** What the eye doesn't see must not make two ids of one. */
const idRule: TextRule = {
  must: `be 1 to ${mostIdCharacters} characters without control characters, and without a space at either end`,
  holds: text =>
    text !== '' &&
    text.trim() === text &&
    !/\p{Cc}/u.test(text) &&
    (text.length <= mostIdCharacters || [...text].length <= mostIdCharacters),
}

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
        if (splitRecord(text ?? '')?.join() !== customerColumn) throw new DomainError('invalid', [header])
        isBelowHeader = true
      } else if (text !== '') {
        if (++count > mostLines)
          throw new DomainError('invalid', [`file must have at most ${mostLines} lines below its header`])
        const { customerId, fault } = readId(text)
        if (fault === undefined) read.lines.push({ lineNumber, customerId })
        else read.faults.push({ lineNumber, fault })
      } else if (blankLines === 'faults') read.faults.push({ lineNumber, fault: 'must not be empty' })
    }
    yield read
  }
  if (!isBelowHeader) throw new DomainError('invalid', [`file must not be empty: ${header}`])
}

function readId(line: string | undefined): { customerId: string; fault?: string } {
  const refuse = (fault: string) => ({ customerId: '', fault })
  if (line === undefined) return refuse('must be at most 4096 bytes')
  const text = decodeLine(line)
  if (text === null) return refuse('must be valid UTF-8')
  const values = splitRecord(text)
  if (values === undefined) return refuse('must be quoted as in RFC 4180, without a line break in a value')
  const [customerId = ''] = values
  if (values.length !== 1) return refuse(`must have one value, not ${values.length}`)
  const broken = brokenRule(customerId, idRule)
  return broken === undefined ? { customerId } : refuse(`${customerColumn} ${broken}`)
}
