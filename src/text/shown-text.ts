/** A caller's own text as a fault may show it: well-formed and without control characters. How long it may be is up to the fault. */
export const shownText = (text: string): string => text.toWellFormed().replace(/\p{C}/gu, '?')
