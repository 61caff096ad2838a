export type CsvCell = string | number | boolean | null

/** CSV that spreadsheets open as it is meant: in UTF-8 with a mark that says so, and no cell taken for a formula. */
export const csvText = (rows: readonly (readonly CsvCell[])[]): string =>
  `\uFEFF${rows.map(cells => `${cells.map(csvCell).join(',')}\r\n`).join('')}`

function csvCell(value: CsvCell): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
