import { shownText } from '../../text/shown-text.ts'

const longestShown = 200

/** A field's name in a fault: the caller's own text, and of any length. */
export const shownName = (name: string): string => shownText(name.slice(0, longestShown))

/** Adds a name to a path; a path that is too long to be shown grows no further. */
export const innerPath = (path: string, name: string | number): string =>
  path.length > longestShown ? path : path === '' ? String(name) : `${path}.${name}`
