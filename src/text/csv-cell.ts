/**
 * Writes one value of a CSV file that people download (RFC 4180), and the mark with which such a file begins. The server
 * writes all such cells with this function, or in SQL with its patterns.
 */

/**
 * Quotes texts and disarms formulas. A spreadsheet whose separator is a semicolon or a tab may split a cell inside its
 * quotes. So each part of the cell that looks like a formula gets an apostrophe, not only the first part.
 *
 * @param value a text; a number or boolean, which is written unchanged; or null for an empty cell
 */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  if (harmless.test(value)) return `"${value}"`
  if (opening.test(value)) return `"'${value}"`
  return `"${value.replace(formula, "$1'$2").replaceAll('"', '""')}"`
}

/**
 * Matches a text that needs no escaping. Nearly all texts match. For them this check takes half as long as the escaping
 * would take.
 */
const harmless = /^(?![=+\-@\uff1d\uff0b\uff0d\uff20])[^;\t\r\n"]*$/

/** Matches a text of which only the beginning needs escaping, such as a phone number. */
const opening = /^[=+\-@\uff1d\uff0b\uff0d\uff20][^;\t\r\n"]*$/

/**
 * The beginning of a cell, or of a part of it, that a spreadsheet would read as a formula: `=`, `+`, `-`, `@` or their
 * full-width forms, also after quotes.
 */
const formula = /(^|[;\t\r\n])("*[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** What `csvCell` does, as the end of a sentence in the description of such a file. */
export const aboutCsvCells =
  'texts are in quotes, and a quote inside is doubled; null is an empty cell. A text that begins with `=`, `+`, `-` or `@` (also ' +
  'full-width), which a spreadsheet would take for a formula, gets an apostrophe before it, and so does a part of it after a ' +
  "semicolon, a tab or a line break: a phone number is `'+380…`."

/**
 * The byte order mark, with which each file of the portal begins. Without it, Excel does not read the file as UTF-8 and shows
 * Ukrainian names as other letters. Statements and files of the Partner API have none: programs read them.
 */
export const csvMark = '\ufeff'

/** The patterns for SQL that writes such cells. They have the same meaning in PostgreSQL. */
export const csvPatterns = { harmless, opening, formula }
