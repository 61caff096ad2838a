import { parse } from 'csv-parse/sync'
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
  const [header, ...records] = readRecords(csv, refuse)
  const names = header?.record ?? []
  if (!isHeader(names)) {
    refuse(
      header?.info.lines ?? 1,
      `must be a header of terminalId and any of ${columns.slice(1).join(', ')}, each once`,
    )
    return []
  }
  if (records.length > maxTerminals) refuse(1, `must be followed by at most ${maxTerminals} terminals`)
  const firstLines = new Map<string, number>()
  return records.map(({ record, info: { lines: line } }) => {
    if (record.length !== names.length) refuse(line, `must have ${names.length} columns, as the header has`)
    const terminal = readTerminal(
      name => record[names.indexOf(name)] ?? '',
      (column, text) => refuse(line, text, column),
    )
    const firstLine = firstLines.get(terminal.terminalId)
    if (firstLine === undefined) firstLines.set(terminal.terminalId, line)
    else refuse(line, `must be unique; line ${firstLine} has it already`, 'terminalId')
    return terminal
  })
}

type NumberedRecord = { record: string[]; info: { lines: number } }

function readRecords(csv: string, refuse: (line: number, text: string) => void): NumberedRecord[] {
  const records: unknown = parse(csv, {
    bom: true,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n'],
    to: maxTerminals + 2,
    skip_records_with_error: true,
    on_skip: error => void refuse(Number(error?.lines ?? 1), 'must be quoted as in RFC 4180'),
  })
  // The types of csv-parse do not know what `info` makes of the result.
  return records as NumberedRecord[]
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
