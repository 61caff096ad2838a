/**
 * Makes a caller's text safe for an error message: well-formed and without control characters. The caller of this
 * function limits the length.
 */
export const shownText = (text: string): string => text.toWellFormed().replace(/\p{C}/gu, '?')

/** The beginning of a caller's text, safe for an error message. A mark follows at most `max` characters of a longer text. */
export function shownStart(text: string, max: number): string {
  const start = firstCharacters(text, max)
  return shownText(start === text ? text : `${start}…`)
}

/**
 * The first characters of a text, at most `max`. `slice` alone could cut a character of two UTF-16 units in half, and
 * PostgreSQL refuses half a character.
 */
export function firstCharacters(text: string, max: number): string {
  if (text.length <= max) return text
  // `max` characters have at most twice as many units. If the last one of these is half a character, enough precede it.
  return [...text.slice(0, 2 * max)].slice(0, max).join('')
}
