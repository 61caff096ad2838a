/** Reads instants as PostgreSQL writes them. Each order has two or three of them, so reading must be fast. */

const codeOfZero = 48

/** The number at `start` in `text`. */
function digits(text: string, start: number, length: number): number {
  let number = 0
  for (let at = start; at < start + length; at++) number = number * 10 + text.charCodeAt(at) - codeOfZero
  return number
}

const secondsEnd = '2026-11-21 08:15:00'.length

/** PostgreSQL writes only the digits that are needed: `.5`, `.25`, `.123456`. */
function milliseconds(text: string): number {
  const length = Math.min(text.length - secondsEnd - '.+00'.length, 3)
  return length > 0 ? digits(text, secondsEnd + 1, length) * 10 ** (3 - length) : 0
}

/**
 * SQL that writes an instant as answers show it. It needs a session in UTC. For texts that are stored, use the SQL
 * function `instant_text` (`migrations/`) instead.
 */
export const shownInstant = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * SQL that writes an instant as a JSON string, in a session of any time zone. It gives the same text as `instant_text`;
 * calling that function for each row takes 1.5 times as long.
 */
export const jsonInstant = (column: string): string =>
  `to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`

/**
 * Parses an instant as PostgreSQL writes it.
 *
 * @param text from a session in UTC, years 0001 to 9999: `2026-11-21 08:15:00+00` or `2026-11-21 08:15:00.123456+00`
 * @returns the instant, truncated to milliseconds
 */
export function parseInstant(text: string): Date {
  // `Date.UTC` reads years of one or two digits as years of the twentieth century.
  if (text.startsWith('00')) return new Date(`${text.slice(0, 10)}T${text.slice(11).replace('+00', 'Z')}`)
  return new Date(
    Date.UTC(
      digits(text, 0, 4),
      digits(text, 5, 2) - 1,
      digits(text, 8, 2),
      digits(text, 11, 2),
      digits(text, 14, 2),
      digits(text, 17, 2),
      milliseconds(text),
    ),
  )
}
