/** What guards an edit against undoing another's: the version of a campaign as an entity tag (RFC 9110, 8.8.3 and 13.1.1). */

export const entityTag = (version: number): string => `"${version}"`

/**
 * Whether an edit may go on that was made from what `header` names: `*`, or a list of entity tags one of which is the campaign's. They
 * are compared strongly, so that a weak one never matches; neither does what is no entity tag.
 *
 * @param header undefined: the last write wins
 */
export function matches(header: string | undefined, version: number): boolean {
  if (header === undefined || header.trim() === '*') return true
  // A comma may stand inside of a tag.
  const tags: readonly string[] = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.includes(entityTag(version))
}
