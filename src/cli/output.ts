/** What commands print: one JSON value for programs, short text for people. */

export type OutputOptions = { json?: boolean }

/**
 * The only writer on stdout: with `--json` the value on one line and nothing else.
 *
 * @param lines the same for people
 */
export function print(options: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : lines.map(line => `${line}\n`).join(''))
}

/** Columns under their titles, as wide as they have to be; numbers stand to the right. */
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

/** Text of others without control characters but line breaks: it could steer the terminal. */
export const plain = (text: string): string => text.replace(/(?!\n)\p{Cc}/gu, ' ')

/** `2026-03-01 09:30`, in UTC. */
export const minute = (instant: string): string => instant.slice(0, 16).replace('T', ' ')

export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

const lengthOf = (text: string): number => [...text].length
