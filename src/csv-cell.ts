/** A value as a cell of the CSV files that the platform hands out (RFC 4180). */

/**
 * A text that a spreadsheet would carry out, as partners could put into ids of their own, begins with an apostrophe; a plain number
 * (also a phone number) stays as it is.
 *
 * @param value null: an empty cell
 */
export function csvCell(value: string | number | null): string {
  if (value === null || typeof value === 'number') return String(value ?? '')
  const text = isFormula(value) ? `'${value}` : value
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const isFormula = (value: string): boolean => /^[=+\-@\t\r]/.test(value) && !/^[+-]?\d+(?:\.\d+)?$/.test(value)
