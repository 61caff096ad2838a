/** Entries as their readers see them. */
import type { Entry } from './entry.ts'
import type { StoredEntry } from './read-store.ts'

const erased = 'erased person'

/** @param names of actors as they are now, by id */
export function entryView({ seq, entry }: StoredEntry, names: ReadonlyMap<string, string>, showsSeq: boolean) {
  const { actor, ...rest } = JSON.parse(entry) as Entry
  const name = actor.id === null ? null : (names.get(actor.id) ?? (actor.type === 'person' ? erased : null))
  return { ...(showsSeq && { seq }), ...rest, actor: { ...actor, name } }
}
