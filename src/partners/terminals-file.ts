/** The terminals of one merchant, as a `terminalsFile` of the directory file lists them (operations.md, "The directory file"). */
import { splitRecord } from '../csv-lines.ts'
import { brokenRule, oneLine } from './text-rules.ts'

/** A terminal of a merchant in the platform's own directory. */
export type Terminal = {
  terminalId: string
  name: string | null
  location: string | null
  paymentSystemMerchantId: string | null
  paymentSystemMerchantName: string | null
}

/** The rule of each column; the keys of a terminal in the YAML file are the same. */
export const terminalRules = {
  terminalId: oneLine(128),
  name: oneLine(200),
  location: oneLine(500),
  paymentSystemMerchantId: oneLine(128),
  paymentSystemMerchantName: oneLine(200),
} as const

export const maxTerminals = 200_000

type Column = keyof typeof terminalRules
const columns = Object.keys(terminalRules) as Column[]

/**
 * Reads a `terminalsFile` (operations.md, "The directory file"): CSV with a header that names the columns, of which only
 * `terminalId` has to be there; a byte-order mark and CRLF are fine. An empty value is null. Every fault goes to `faults`
 * with file, line and column, `fileName` being the path as the YAML file writes it.
 */
export function readTerminals(csv: string, fileName: string, faults: string[]): Terminal[] {
  const refuse = (line: number, text: string, column?: string) =>
    faults.push(`${fileName} (line ${line}${column === undefined ? '' : `, ${column}`}): ${text}`)
  const [header, ...records] = readRecords(csv, line => refuse(line, 'must be quoted as in RFC 4180'))
  const names = header?.fields ?? []
  if (!isHeader(names)) {
    refuse(header?.line ?? 1, `must be a header of terminalId and any of ${columns.slice(1).join(', ')}, each once`)
    return []
  }
  if (records.length > maxTerminals) refuse(1, `must be followed by at most ${maxTerminals} terminals`)
  const firstLines = new Map<string, number>()
  return records.map(({ fields, line }) => {
    if (fields.length !== names.length) refuse(line, `must have ${names.length} columns, as the header has`)
    const terminal = readTerminal(
      name => fields[names.indexOf(name)] ?? '',
      (column, text) => refuse(line, text, column),
    )
    const firstLine = firstLines.get(terminal.terminalId)
    if (firstLine === undefined) firstLines.set(terminal.terminalId, line)
    else refuse(line, `must be unique; line ${firstLine} has it already`, 'terminalId')
    return terminal
  })
}

type NumberedRecord = { fields: string[]; line: number }

/** No value may hold a line break, so each line is a record, and a wrong quote spoils only its own. Empty lines are none. */
function readRecords(csv: string, misquoted: (line: number) => void): NumberedRecord[] {
  const records: NumberedRecord[] = []
  for (const [index, line] of csv
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    if (text === '') continue
    if (records.length === maxTerminals + 2) break
    const fields = splitRecord(text)
    if (fields) records.push({ fields, line: index + 1 })
    else misquoted(index + 1)
  }
  return records
}

function isHeader(names: readonly string[]): names is Column[] {
  const known = names.every(name => (columns as string[]).includes(name))
  return known && names.includes('terminalId') && new Set(names).size === names.length
}

function readTerminal(cellOf: (column: Column) => string, refuse: (column: Column, text: string) => void): Terminal {
  const read = (column: Column) => {
    const value = cellOf(column)
    if (value === '' && column !== 'terminalId') return null
    const broken = brokenRule(value, terminalRules[column])
    if (broken !== undefined) refuse(column, broken)
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
