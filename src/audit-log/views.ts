/** How answers show entries and checkpoints. */

import type { Head } from './chain.ts'
import type { Entry } from './entry.ts'
import type { KeptCheckpoint } from './lines-store.ts'
import type { StoredEntry } from './read-store.ts'

const erased = 'erased person'

/** @param names the current names of actors, by id */
export function entryView({ seq, entry }: StoredEntry, names: ReadonlyMap<string, string>, showsSeq: boolean) {
  const { actor, ...rest } = JSON.parse(entry) as Entry
  const name = actor.id === null ? null : (names.get(actor.id) ?? (actor.type === 'person' ? erased : null))
  return { ...(showsSeq && { seq }), ...rest, actor: { ...actor, name } }
}

/**
 * @property head the head of the reader's own chain at the checkpoint; undefined for the platform, which sees the
 *   whole log
 */
export function checkpointView({ checkpoint, head }: { checkpoint: KeptCheckpoint; head: Head | null | undefined }) {
  const { at, hash, seq, note } = checkpoint
  const shown = { at: at.toISOString(), hash: hash.toString('hex') }
  if (head === undefined) return { ...shown, seq, note }
  return { ...shown, accountSeq: head?.seq ?? 0, accountHash: head?.hash.toString('hex') ?? null }
}
