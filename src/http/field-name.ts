/** A field's name in a fault is the caller's own text: it is shown bounded, well-formed and without control characters. */
const longestShown = 200

export const shownName = (name: string): string => name.slice(0, longestShown).toWellFormed().replace(/\p{C}/gu, '?')

/** Adds a name to a path; a path that is too long to be shown grows no further. */
export const innerPath = (path: string, name: string | number): string =>
  path.length > longestShown ? path : path === '' ? String(name) : `${path}.${name}`
