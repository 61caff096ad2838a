/** Whether a reader has the present version already (RFC 9110, 13.1.2). */

const weak = /^W\//

/**
 * @param header `If-None-Match`: `*`, or a list of entity tags; they are compared weakly
 * @param tag the strong entity tag of what the reader would get
 */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  // A comma may stand inside of a tag.
  const tags: readonly string[] = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some(one => one.replace(weak, '') === tag)
}
