/**
 * Keeps the changes of entries small (contract/audit-log.md, "Entries"): the log cannot be shortened later, so callers
 * must not be able to fill it with long values. Pure: values in, values out.
 */
import { firstCharacters } from '../text/shown-text.ts'
import type { EntryChange } from './audit-entry.ts'

/**
 * The maximum size of a list that an entry and a campaign's history show in full. For a longer list they show only its
 * length.
 */
const maxListed = { items: 100, characters: 1_024 }

export const isLongList = (value: unknown): boolean =>
  Array.isArray(value) && (value.length > maxListed.items || JSON.stringify(value).length > maxListed.characters)

type List = readonly string[]
const shownList = (list: List): List | number => (isLongList(list) ? list.length : list)

/**
 * The elements that were added to a list and removed from it, or only their numbers if they are many or long.
 * @param before null: there was no list
 */
export function listChange(before: List | null, after: List | null): EntryChange[string] {
  if (before === null || after === null) return [before && shownList(before), after && shownList(after)]
  const added = after.filter(element => !before.includes(element))
  const removed = before.filter(element => !after.includes(element))
  if (isLongList([...added, ...removed])) return [null, { added: added.length, removed: removed.length }]
  return [null, { added, removed }]
}

const maxBytes = 2_048
/** Maximum sizes of a value, in bytes. They are tried in this order until the change is small enough. */
const maxValueBytes = [1_024, 320, 80]
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/**
 * Shortens a change of more than 2 KB. A long list becomes its length, and a long text is cut off. If the change is still
 * too large, it keeps the first fields that fit, and `others` says how many were left out.
 */
export function boundedChange(change: EntryChange): EntryChange {
  if (bytesOf(change) <= maxBytes) return change
  let bounded = change
  for (const max of maxValueBytes) {
    bounded = Object.fromEntries(Object.entries(change).map(([name, values]) => [name, shortenedPair(values, max)]))
    if (bytesOf(bounded) <= maxBytes) return bounded
  }
  return firstFields(bounded)
}

/** If one of two lists is long, both become their lengths, so that they can be compared. */
function shortenedPair([old, present]: EntryChange[string], max: number): EntryChange[string] {
  const hasLongList = [old, present].some(value => Array.isArray(value) && bytesOf(value) > max)
  const shown = (value: unknown) => (hasLongList && Array.isArray(value) ? value.length : shortened(value, max))
  return [shown(old), shown(present)]
}

function shortened(value: unknown, max: number): unknown {
  if (bytesOf(value) <= max) return value
  if (Array.isArray(value)) return value.length
  // A character has at most four bytes.
  if (typeof value === 'string') return `${firstCharacters(value, max / 4)}…`
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part, max)]))
}

function firstFields(change: EntryChange): EntryChange {
  const fields = Object.entries(change)
  /** Room for the braces and for `others`. */
  let left = maxBytes - 40
  const first = fields.filter(([name, values]) => {
    const bytes = bytesOf(name) + bytesOf(values) + 2
    if (bytes > left) return false
    left -= bytes
    return true
  })
  return { ...Object.fromEntries(first), others: [null, fields.length - first.length] }
}
