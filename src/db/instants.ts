/** Instants as PostgreSQL writes them. Every order that is read brings two or three, so they are read digit by digit. */

const codeOfZero = 48

/** The number that stands in `text` from `start` on. */
function digits(text: string, start: number, length: number): number {
  let number = 0
  for (let at = start; at < start + length; at++) number = number * 10 + text.charCodeAt(at) - codeOfZero
  return number
}

const secondsEnd = '2026-11-21 08:15:00'.length

/** The fraction of a second has as many digits as it needs: `.5`, `.25`, `.123456`. */
function milliseconds(text: string): number {
  const length = Math.min(text.length - secondsEnd - '.+00'.length, 3)
  return length > 0 ? digits(text, secondsEnd + 1, length) * 10 ** (3 - length) : 0
}

/** SQL of an instant as answers show it, in a session in UTC; stored texts have it from `instant_text` (`migrations/`). */
export const shownInstant = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * @param text from a session in UTC, of the years 0001 to 9999: `2026-11-21 08:15:00+00` or `2026-11-21 08:15:00.123456+00`
 * @returns the instant, without what is finer than a millisecond
 */
export function parseInstant(text: string): Date {
  // `Date.UTC` takes years of one or two digits for those of the twentieth century.
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
