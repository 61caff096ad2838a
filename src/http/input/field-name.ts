/** Names and paths of fields in error messages. */
import { firstCharacters, shownText } from '../../text/shown-text.ts'

const maxShownLength = 200

/** A field's name in an error message. The name comes from the caller and may have any length. */
export const shownName = (name: string): string => shownText(firstCharacters(name, maxShownLength))

/** Adds a name to a path. A path that is too long to be shown does not grow. */
export const innerPath = (path: string, name: string | number): string =>
  path.length > maxShownLength ? path : path === '' ? String(name) : `${path}.${name}`
