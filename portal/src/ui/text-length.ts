/** The length of texts that people type. Spaces at the ends do not count, because they are not sent. Pure. */

/** Counts characters as the platform does, not UTF-16 units: an emoji counts once. */
export const lengthOf = (text: string): number => [...text.trim()].length

export const isTooLong = (text: string, maxLength: number): boolean => lengthOf(text) > maxLength
