/** Compares a version with the entity tags that clients send in `If-Match` and `If-None-Match` (RFC 9110, 8.8.3, 13.1). */

const weak = /^W\//

/**
 * Whether the client already has the current version.
 *
 * @param header `If-None-Match`: `*`, or a list of entity tags; they are compared weakly
 * @param tag the strong entity tag of the current version
 */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return isAny(header) || tagsOf(header).some(one => one.replace(weak, '') === tag)
}

/**
 * Whether a change may go on, given the version that the client has seen.
 *
 * @param header `If-Match`: `*`, or a list of entity tags, compared strongly, so that a weak one never matches; undefined: any
 *   version
 * @param tag the strong entity tag of the current version
 */
export function matches(header: string | undefined, tag: string): boolean {
  return header === undefined || isAny(header) || tagsOf(header).includes(tag)
}

const isAny = (header: string): boolean => header.trim() === '*'

const oneTag = /(?:W\/)?"[^"]*"/g
/** Tags separated by commas. A tag may contain a comma. */
const listOfTags = /^[\s,]*(?:W\/)?"[^"]*"(?:\s*,[\s,]*(?:W\/)?"[^"]*")*[\s,]*$/

/** The tags in a header; none when it is not a valid list of tags. */
const tagsOf = (header: string): readonly string[] => (listOfTags.test(header) ? header.match(oneTag) : null) ?? []
