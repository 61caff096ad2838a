/**
 * Reads the terminals of one merchant from a `terminalsFile` of the directory file (contract/operations.md, "The directory
 * file").
 */

import { ruleText } from '../../error-rules.ts'
import type { Problem } from '../../errors.ts'
import { type Separator, splitRecord, withoutCarriageReturn } from '../../text/csv-lines.ts'
import { shownStart } from '../../text/shown-text.ts'
import { brokenRule, plainOneLine } from '../../text/text-rules.ts'
import { addError, type FoundErrors } from './found-errors.ts'

/** A terminal in the platform's directory of merchants. */
export type DirectoryTerminal = {
  terminalId: string
  name: string | null
  location: string | null
  paymentSystemMerchantId: string | null
  paymentSystemMerchantName: string | null
}

const maxCharacters = {
  terminalId: 128,
  name: 200,
  location: 500,
  paymentSystemMerchantId: 128,
  paymentSystemMerchantName: 200,
} as const

/** The rule of each column. The keys of a terminal in the YAML file have the same rules. */
export const terminalRules = {
  terminalId: plainOneLine(maxCharacters.terminalId),
  name: plainOneLine(maxCharacters.name),
  location: plainOneLine(maxCharacters.location),
  paymentSystemMerchantId: plainOneLine(maxCharacters.paymentSystemMerchantId),
  paymentSystemMerchantName: plainOneLine(maxCharacters.paymentSystemMerchantName),
} as const

export const maxTerminals = 200_000

type Column = keyof typeof terminalRules
const columns = Object.keys(terminalRules) as Column[]

type Broken = { text: string; rule: string; params?: Problem['params']; value?: string | null }

/**
 * Reads a terminals file (contract/operations.md, "The directory file"): CSV with a header that names the columns.
 * Only `terminalId` is required. The fields are separated as in the header. A byte-order mark and CRLF are accepted,
 * and an empty value is null. Every error is added to `found`: as a sentence with file, line and column, and as a
 * problem for programs.
 *
 * @param fileName the path as the YAML file writes it
 * @returns the terminals; none if the file has an error, so that they take no memory
 */
export function readTerminalsFile(csv: string, fileName: string, found: FoundErrors): DirectoryTerminal[] {
  const errorsBefore = found.errorCount
  const refuse = (line: number, { text, rule, params = {}, value = null }: Broken, column?: Column) => {
    const error = `${fileName} (line ${line}${column === undefined ? '' : `, ${column}`}): ${text}`
    addError(found, error, { line, column: column ?? null, rule, params, value })
  }
  const misquoted = { text: 'must be quoted as in RFC 4180', rule: 'quotes' }
  const [header = { text: '', line: 1 }, ...records] = numberedLines(csv)
  const separator = separatorOf(header.text)
  const names = splitRecord(header.text, separator)
  // Without the header, nothing can be said about the other lines.
  if (names === undefined || !isHeader(names)) {
    refuse(header.line, names === undefined ? misquoted : wrongHeader(header.text))
    return []
  }
  if (records.length > maxTerminals) {
    const text = `must be followed by at most ${maxTerminals} terminals`
    refuse(1, { text, rule: 'max-terminals', params: { max: maxTerminals } })
  }
  const firstLines = new Map<string, number>()
  const terminals = records.flatMap(({ text: record, line }) => {
    const fields = splitRecord(record, separator)
    if (fields === undefined) {
      refuse(line, misquoted)
      return []
    }
    if (fields.length !== names.length) {
      const params = { expected: names.length, found: fields.length }
      refuse(line, { text: `must have ${names.length} columns, as the header has`, rule: 'value-count', params })
    }
    const terminal = readTerminal(
      name => fields[names.indexOf(name)] ?? '',
      (column, broken) => refuse(line, broken, column),
    )
    const firstLine = firstLines.get(terminal.terminalId)
    if (firstLine === undefined) firstLines.set(terminal.terminalId, line)
    else {
      const text = `must be unique; line ${firstLine} has it already`
      refuse(line, { text, rule: 'repeated', params: { line: firstLine } }, 'terminalId')
    }
    return [terminal]
  })
  return found.errorCount > errorsBefore ? [] : terminals
}

type NumberedLine = { text: string; line: number }

/**
 * Splits a file into lines. No value may contain a line break, so each line is a record, and a wrong quote affects
 * only its own line. Empty lines are skipped.
 */
function numberedLines(csv: string): NumberedLine[] {
  const lines: NumberedLine[] = []
  for (const [index, line] of csv
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const text = withoutCarriageReturn(line)
    if (text === '') continue
    if (lines.length === maxTerminals + 2) break
    lines.push({ text, line: index + 1 })
  }
  return lines
}

/**
 * Returns the first separator in the header. No name of a column contains one. Spreadsheets write semicolons where the
 * comma is a decimal comma, and tabs in text files.
 */
const separatorOf = (header: string): Separator => (/[,;\t]/.exec(header)?.[0] ?? ',') as Separator

const maxShownLength = 100

function wrongHeader(header: string): Broken {
  const optional = columns.slice(1).join(', ')
  const text = `must be a header of terminalId and any of ${optional}, each once`
  const value = header === '' ? null : shownStart(header, maxShownLength)
  return { text, rule: 'terminals-header', params: { optional }, value }
}

function isHeader(names: readonly string[]): names is Column[] {
  const known = names.every(name => (columns as string[]).includes(name))
  return known && names.includes('terminalId') && new Set(names).size === names.length
}

function readTerminal(
  cellOf: (column: Column) => string,
  refuse: (column: Column, broken: Broken) => void,
): DirectoryTerminal {
  const read = (column: Column) => {
    const value = cellOf(column)
    if (value === '' && column !== 'terminalId') return null
    const broken = brokenRule(value, terminalRules[column])
    if (broken) refuse(column, { ...broken, text: `must ${ruleText(broken)}` })
    return value
  }
  return {
    terminalId: read('terminalId') ?? '',
    name: read('name'),
    location: read('location'),
    paymentSystemMerchantId: read('paymentSystemMerchantId'),
    paymentSystemMerchantName: read('paymentSystemMerchantName'),
  }
}
