/** Builds the answers about entries and checkpoints. An entry stores only the ids of its actor and account; names are added here. */

import type { Entry } from '../outbox/audit-entry.ts'
import { writeNote } from './note.ts'
import type { StoredEntry } from './read-store.ts'
import type { EntryNames, ShownCheckpoint } from './reads.ts'

const erased = 'erased person'

/**
 * @param isForAll whether the reader sees the log of all accounts. The view then also has the entry's number in this
 *   log, and the account's name
 */
export function entryView({ seq, entry }: StoredEntry, names: EntryNames, isForAll: boolean) {
  const { actor, account, ...rest } = JSON.parse(entry) as Entry
  const name = actor.id === null ? null : (names.actors.get(actor.id) ?? (actor.type === 'person' ? erased : null))
  const accountName = isForAll && account.id !== null ? names.accounts.get(account.id) : undefined
  return { ...(isForAll && { seq }), ...rest, account: { ...account, ...accountName }, actor: { ...actor, name } }
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
