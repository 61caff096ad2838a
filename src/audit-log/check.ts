/** Checks the log in the database (contract/audit-log.md, "Checking"). */
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findAuditKeys } from './keys.ts'
import { findKeptNotes, findStart, readLines } from './lines-store.ts'
import { findLostEntry } from './lost-entry-store.ts'
import { type AuditKey, isIncomplete, readNote, splitNotes } from './note.ts'
import { findEarlyRemoval, type TimedAnchor } from './removals.ts'
import { type Anchor, type Covered, coveredBy, createVerifier, type Verified } from './verifier.ts'

const checkedAtOnce = 50
const whole = { from: null, until: null }

/**
 * @param params.notes checkpoints that were kept outside the database; null: none
 * @param params.years how long entries are kept
 * @throws DomainError 'invalid' when `notes` is malformed
 */
export async function checkLog(
  { database }: { database: Queryable },
  params: { notes: string | null; years: number },
): Promise<Verified & { covered: Covered; incomplete: number }> {
  const { anchors: outside, incomplete } =
    params.notes === null ? noNotes : await wholeAnchorsOf(params.notes, await findAuditKeys(database))
  const kept = await findKeptAnchors(database, 0)
  const checked = await checkEntries(database, { outside, kept, years: params.years })
  const lost = checked.ok ? await findLostEntry(database) : null
  const verified = lost ? { ...checked, ok: false, fault: lost } : checked
  return { ...verified, covered: coveredBy(params.notes === null ? kept : outside, verified), incomplete }
}

async function checkEntries(
  database: Queryable,
  { outside, kept, years }: { outside: TimedAnchor[]; kept: Anchor[]; years: number },
): Promise<Verified> {
  const fault = await findEarlyRemoval(database, { outside, years })
  if (fault) return { ok: false, entries: 0, checkedFrom: null, checkedUntil: null, fault }
  const verifier = createVerifier(await findStart(database), [...outside, ...kept])
  for await (const lines of readLines(database, null, whole))
    for (const line of lines) if (!verifier.add(line)) return verifier.end()
  return verifier.end()
}

/**
 * Reads checkpoints of the whole log.
 * @throws DomainError 'invalid' for a malformed text and for a checkpoint of one account
 */
async function wholeAnchorsOf(notes: string, keys: readonly AuditKey[]): Promise<ReadNotes> {
  const read = await anchorsOf(notes, keys)
  const own = read.anchors.findIndex(({ account }) => account !== null)
  if (own === -1) return read
  throw new DomainError('invalid', [`anchors must be of the whole log; the ${own + 1}. is of one account`])
}

/**
 * The stored checkpoints whose last entry has a number above `after`. The hash is null when the signed text (`note`)
 * contradicts the stored columns, or is not signed by the platform.
 */
export async function findKeptAnchors(database: Queryable, after: number): Promise<Anchor[]> {
  const keys = await findAuditKeys(database)
  const anchors: Anchor[] = []
  for (const { seq, at, hash, note: text } of await findKeptNotes(database, after)) {
    // Checking the checkpoints of some years takes seconds, so let other work run in between.
    if (anchors.length % checkedAtOnce === 0) await othersTurn()
    const note = readNote(text)
    const isProof =
      note?.seq === seq && note.at.getTime() === at.getTime() && note.hash.equals(hash) && note.isSignedBy(keys)
    anchors.push({ seq, at, hash: isProof ? hash : null })
  }
  return anchors
}

/**
 * `account` is the id of the account whose chain the checkpoint confirms; null: the whole log. `installation` is the
 * id of the platform that made the checkpoint.
 */
export type NotedAnchor = TimedAnchor & { account: string | null; installation: string }

/**
 * `incomplete` is the number of checkpoints that are cut off, for example because the disk was full. They are skipped.
 */
type ReadNotes = { anchors: NotedAnchor[]; incomplete: number }

const noNotes: ReadNotes = { anchors: [], incomplete: 0 }

/**
 * Reads checkpoints. A checkpoint with a wrong signature gets a null hash.
 *
 * @param keys null: do not check signatures
 * @throws DomainError 'invalid' for a malformed text
 */
export async function anchorsOf(notes: string, keys: readonly AuditKey[] | null): Promise<ReadNotes> {
  const anchors: NotedAnchor[] = []
  let incomplete = 0
  for (const [index, text] of splitNotes(notes).entries()) {
    if (index % checkedAtOnce === 0) await othersTurn()
    if (isIncomplete(text)) {
      incomplete++
      continue
    }
    const note = readNote(text)
    if (note === null) throw new DomainError('invalid', [`anchors must be signed notes; the ${index + 1}. is none`])
    const hash = keys === null || note.isSignedBy(keys) ? note.hash : null
    const { seq, at, account, installation } = note
    anchors.push({ seq, at, hash, account, installation })
  }
  return { anchors, incomplete }
}
