/** Lists of products that people paste, for instance from a spreadsheet. Pure. */

/** What separates values. `\s` stands for every space, line break and tab; ' ' is the key that ends a typed value. */
export const separators = [',', ';', ' ', '\\s']

/**
 * A spreadsheet copies a cell with a line break in quotation marks, and doubles the marks inside. This takes them off. The values
 * of such a cell are separate by now, so the marks may be at two of them.
 */
export function withoutQuotes(values: readonly string[]): string[] {
  const cells = values.join('\n').replace(/^"((?:[^"]|"")*)"$/gm, (_, inside: string) => inside.replaceAll('""', '"'))
  return [...new Set(cells.split('\n'))].filter(value => value !== '')
}
