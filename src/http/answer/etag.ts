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

const oneTag = /(?:W\/)?"[^"]*"/g
/** Tags with commas between; a comma may stand inside of a tag, too. */
const listOfTags = /^[\s,]*(?:W\/)?"[^"]*"(?:\s*,[\s,]*(?:W\/)?"[^"]*")*[\s,]*$/

/** None of a header that is no list of tags. */
const tagsOf = (header: string): readonly string[] => (listOfTags.test(header) ? header.match(oneTag) : null) ?? []
