/** Prints the results of commands: one JSON value for programs, or short text for people. */

export type OutputOptions = { json?: boolean }

/**
 * Prints a result on stdout. With `--json` it prints only the value, on one line.
 *
 * @param lines the same result for people
 */
export function print(options: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : lines.map(line => `${line}\n`).join(''))
}

/** A table with titles. Columns are as wide as their longest value; numbers are right-aligned. */
export function table(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [titles, ...rows].map(row => row.map(cell => plain(String(cell)).replaceAll('\n', ' ')))
  const widths = titles.map((_, column) => Math.max(...cells.map(row => lengthOf(row[column] ?? ''))))
  const toTheRight = titles.map((_, column) => rows.some(row => typeof row[column] === 'number'))
  return cells.map(row =>
    row
      .map((cell, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - lengthOf(cell))
        return toTheRight[column] ? padding + cell : cell + padding
      })
      .join('  ')
      .trimEnd(),
  )
}

/**
 * Replaces control characters except line breaks, because they could control the terminal. It also replaces characters
 * that change the direction of text, because they could show a line in another order.
 */
export const plain = (text: string): string => text.replace(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, ' ')

/** `2026-03-01 09:30`, in UTC. */
export const minute = (instant: string): string => instant.slice(0, 16).replace('T', ' ')

export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

const lengthOf = (text: string): number => [...text].length
