/** Checks the log in the database (contract/audit-log.md, "Checking"). */
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findAuditKeys } from './keys.ts'
import { findKeptAnchors, findStart, readLines } from './lines-store.ts'
import { type AuditKey, readNote, splitNotes } from './note.ts'
import { findEarlyRemoval, type TimedAnchor } from './removals.ts'
import { createVerifier, type Verified } from './verifier.ts'

const whole = { from: null, until: null }

/**
 * @param params.notes checkpoints that were kept outside the database; null: none
 * @param params.years how long entries are kept
 * @throws DomainError 'invalid' when `notes` is malformed
 */
export async function checkLog(
  { database }: { database: Queryable },
  params: { notes: string | null; years: number },
): Promise<Verified> {
  const outside = params.notes === null ? [] : anchorsOf(params.notes, await findAuditKeys(database))
  const fault = await findEarlyRemoval(database, { outside, years: params.years })
  if (fault) return { ok: false, entries: 0, checkedUntil: null, fault }
  const verifier = createVerifier(await findStart(database), [...outside, ...(await findKeptAnchors(database))])
  for await (const lines of readLines(database, null, whole))
    for (const line of lines) if (!verifier.add(line)) return verifier.end()
  return verifier.end()
}

/**
 * Reads checkpoints. A checkpoint with a wrong signature gets a null hash.
 *
 * @param keys null: do not check signatures
 * @throws DomainError 'invalid' for a malformed text
 */
export function anchorsOf(notes: string, keys: readonly AuditKey[] | null): TimedAnchor[] {
  return splitNotes(notes).map((text, index) => {
    const note = readNote(text)
    if (note === null) throw new DomainError('invalid', [`anchors must be signed notes; the ${index + 1}. is none`])
    return { seq: note.seq, at: note.at, hash: keys === null || note.isSignedBy(keys) ? note.hash : null }
  })
}
