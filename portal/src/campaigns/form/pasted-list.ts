/** Lists of products that people paste, for instance from a spreadsheet. Pure. */

/** The separators of values. `\s` stands for every space, line break and tab. ' ' is the key that ends a typed value. */
export const separators = [',', ';', ' ', '\\s']

/**
 * Removes the quotation marks that a spreadsheet adds when it copies a cell with a line break; it also doubles the marks inside
 * the cell. The cell is already split into values here, so its first and its last mark may be in different values.
 */
export function withoutQuotes(values: readonly string[]): string[] {
  const cells = values.join('\n').replace(/^"((?:[^"]|"")*)"$/gm, (_, inside: string) => inside.replaceAll('""', '"'))
  return cells.split('\n').filter(value => value !== '')
}
