/**
 * Reads a file of terminals that the person chooses: CSV with a header, with the API's column names or those of the
 * directory. Pure.
 */
import { isTooLong } from '../../ui/text-length.ts'
import type { CampaignTerminal } from '../types.ts'

const maxTerminals = 50_000

/** An error in a line of a file; the header is line 1. */
export type FileError =
  | { line: number; kind: 'header' | 'no-id' | 'twice' | 'cells' | 'quote' | 'empty' | 'too-many' }
  /** `column` has the name that the file gives it. */
  | { line: number; kind: 'too-long'; column: string; maxLength: number }

/** The most characters that the platform accepts. */
const maxLength: Record<keyof CampaignTerminal, number> = {
  terminal_id: 128,
  terminal_name: 200,
  terminal_location: 500,
  merchant_id: 128,
  merchant_name: 200,
}

const columnNames: Record<string, keyof CampaignTerminal> = {
  terminal_id: 'terminal_id',
  terminalid: 'terminal_id',
  terminal_name: 'terminal_name',
  name: 'terminal_name',
  terminal_location: 'terminal_location',
  location: 'terminal_location',
  merchant_id: 'merchant_id',
  paymentsystemmerchantid: 'merchant_id',
  merchant_name: 'merchant_name',
  paymentsystemmerchantname: 'merchant_name',
}

const maxErrors = 20

export function readTerminalsFile(content: string): { terminals: CampaignTerminal[]; errors: FileError[] } {
  const { rows, unclosedLine } = readRows(content.replace(/^\uFEFF/, ''))
  if (unclosedLine !== null) return { terminals: [], errors: [{ line: unclosedLine, kind: 'quote' }] }
  const [header, ...lines] = rows
  if (!header) return { terminals: [], errors: [{ line: 1, kind: 'empty' }] }
  const columns = header.cells.map(name => columnNames[name.trim().toLowerCase()])
  if (!columns.includes('terminal_id') || columns.includes(undefined) || new Set(columns).size < columns.length)
    return { terminals: [], errors: [{ line: 1, kind: 'header' }] }
  if (lines.length === 0) return { terminals: [], errors: [{ line: 1, kind: 'empty' }] }
  const tooMany = lines[maxTerminals]
  if (tooMany) return { terminals: [], errors: [{ line: tooMany.line, kind: 'too-many' }] }

  const errors: FileError[] = []
  const known = new Set<string>()
  const terminals = lines.map(({ line, cells }) => {
    const terminal = terminalOf(columns, cells)
    if (cells.length !== columns.length) errors.push({ line, kind: 'cells' })
    else if (terminal.terminal_id === '') errors.push({ line, kind: 'no-id' })
    else if (known.has(terminal.terminal_id)) errors.push({ line, kind: 'twice' })
    known.add(terminal.terminal_id)
    columns.forEach((column, index) => {
      if (column && isTooLong(terminal[column] ?? '', maxLength[column]))
        errors.push({ line, kind: 'too-long', column: header.cells[index]?.trim() ?? '', maxLength: maxLength[column] })
    })
    return terminal
  })
  return errors.length > 0 ? { terminals: [], errors: errors.slice(0, maxErrors) } : { terminals, errors }
}

function terminalOf(columns: readonly (keyof CampaignTerminal | undefined)[], cells: readonly string[]) {
  const terminal: CampaignTerminal = {
    terminal_id: '',
    terminal_name: null,
    terminal_location: null,
    merchant_id: null,
    merchant_name: null,
  }
  columns.forEach((column, index) => {
    const value = cells[index]?.trim() ?? ''
    if (column === 'terminal_id') terminal.terminal_id = value
    else if (column && value !== '') terminal[column] = value
  })
  return terminal
}

type Row = { line: number; cells: string[] }

/**
 * Reads CSV (RFC 4180). The values are separated by commas, semicolons or tabs. Spreadsheets write semicolons in some countries,
 * and tabs in files in UTF-16.
 */
function readRows(content: string): { rows: Row[]; unclosedLine: number | null } {
  const separator = /[,;\t]/.exec(content.split('\n', 1)[0] ?? '')?.[0] ?? ','
  const rows: Row[] = []
  let cells: string[] = []
  let [cell, isQuoted, line, startLine] = ['', false, 1, 1]
  const endRow = () => {
    cells.push(cell)
    // A spreadsheet saves an empty row as separators alone.
    if (cells.some(each => each.trim() !== '')) rows.push({ line: startLine, cells })
    cells = []
    cell = ''
  }
  for (let at = 0; at < content.length; at++) {
    const sign = content[at] ?? ''
    if (sign === '\n') line++
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (content[at + 1] === '"') cell += content[at++]
      else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === separator) {
      cells.push(cell)
      cell = ''
    } else if (sign === '\n') {
      endRow()
      startLine = line
    } else if (sign !== '\r') cell += sign
  }
  endRow()
  return { rows, unclosedLine: isQuoted ? startLine : null }
}

/** Adds terminals to the existing ones. A terminal that is in the list already stays unchanged. */
export function addedTerminals(
  before: readonly CampaignTerminal[],
  more: readonly CampaignTerminal[],
): CampaignTerminal[] {
  const known = new Set(before.map(({ terminal_id }) => terminal_id))
  return [...before, ...more.filter(({ terminal_id }) => !known.has(terminal_id))]
}
