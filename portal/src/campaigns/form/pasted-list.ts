/** Lists of products that people paste, for instance from a spreadsheet. Pure. */

/**
 * The separators of values. Pasted text is split at `\s`: every space, line break and tab. ' ' is the key that ends a
 * typed value.
 */
export const separators = [',', ';', ' ', '\\s']

/**
 * Removes quotation marks. A spreadsheet puts them around a copied cell that has a line break, and doubles those inside
 * the cell. The input is already split into values, so the marks around a cell may be in two different values.
 */
export function withoutQuotes(values: readonly string[]): string[] {
  const cells = values.join('\n').replace(/^"((?:[^"]|"")*)"$/gm, (_, inside: string) => inside.replaceAll('""', '"'))
  return cells.split('\n').filter(value => value !== '')
}
