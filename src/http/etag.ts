/** What callers say with entity tags of the version that they know (RFC 9110, 8.8.3, 13.1.1 and 13.1.2). */

const weak = /^W\//

/**
 * @param header `If-None-Match`: `*`, or a list of entity tags; they are compared weakly
 * @param tag the strong entity tag of what the reader would get
 */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return isAny(header) || tagsOf(header).some(one => one.replace(weak, '') === tag)
}

/**
 * Whether a change may go on that was made from what `header` names.
 *
 * @param header `If-Match`: `*`, or a list of entity tags; they are compared strongly, so that a weak one never matches. Undefined:
 *   whichever version there is
 * @param tag the strong entity tag of the present version
 */
export function matches(header: string | undefined, tag: string): boolean {
  return header === undefined || isAny(header) || tagsOf(header).includes(tag)
}

const isAny = (header: string): boolean => header.trim() === '*'

/** A comma may stand inside of a tag. */
const tagsOf = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []
