/**
 * Makes a caller's text safe for an error message: well-formed and without control characters. The caller of this
 * function limits the length.
 */
export const shownText = (text: string): string => text.toWellFormed().replace(/\p{C}/gu, '?')
