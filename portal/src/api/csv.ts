import { csvCell } from '../../../src/text/csv-cell.ts'

export type CsvCell = Parameters<typeof csvCell>[0]

/** CSV for spreadsheets: in UTF-8 with a byte-order mark, and no cell is calculated as a formula. */
export const csvText = (rows: readonly (readonly CsvCell[])[]): string =>
  `\uFEFF${rows.map(cells => `${cells.map(csvCell).join(',')}\r\n`).join('')}`
