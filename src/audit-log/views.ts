/** Builds the answers about entries and checkpoints. An entry stores only the id of its actor; the name is added here. */

import type { Entry } from './entry.ts'
import { writeNote } from './note.ts'
import type { StoredEntry } from './read-store.ts'
import type { ShownCheckpoint } from './reads.ts'

const erased = 'erased person'

/** @param names the current names of actors, by id */
export function entryView({ seq, entry }: StoredEntry, names: ReadonlyMap<string, string>, showsSeq: boolean) {
  const { actor, ...rest } = JSON.parse(entry) as Entry
  const name = actor.id === null ? null : (names.get(actor.id) ?? (actor.type === 'person' ? erased : null))
  return { ...(showsSeq && { seq }), ...rest, actor: { ...actor, name } }
}

/** A partner sees its own chain. Users of the platform see the whole log. */
export function checkpointView({ checkpoint, head, signer }: ShownCheckpoint) {
  const { at, hash, seq, note } = checkpoint
  const shown = { at: at.toISOString(), hash: hash.toString('hex') }
  if (head === undefined) return { ...shown, seq, note }
  if (head === null || signer === null) return { ...shown, accountSeq: 0, accountHash: null }
  const own = { accountSeq: head.seq, accountHash: head.hash.toString('hex') }
  return { ...shown, ...own, note: writeNote(signer.name, { ...head, at }, signer.key) }
}
