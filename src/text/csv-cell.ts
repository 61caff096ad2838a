/** One value of a CSV file that people download (RFC 4180). Server and portal write every such cell here. */

/**
 * Texts are quoted, and no piece of a text begins like a formula. A spreadsheet whose list separator is a semicolon or a tab cuts
 * lines there, also inside of quotes that do not begin its cell, so each piece gets an apostrophe and not only the first.
 *
 * @param value null: an empty cell; a number or boolean stays as it is
 */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  if (harmless.test(value)) return `"${value}"`
  return `"${value.replace(formula, "$1'$2").replaceAll('"', '""')}"`
}

/** One piece without quotes, as nearly all are: told in half the time. */
const harmless = /^(?![=+\-@\uff1d\uff0b\uff0d\uff20])[^;\t\r\n"]*$/

/** The beginning of a piece that a spreadsheet would calculate: `=`, `+`, `-`, `@` or their full-width forms, also behind quotes. */
const formula = /(^|[;\t\r\n])("*[=+\-@\uff1d\uff0b\uff0d\uff20])/g
