/** Reads the files of `--anchors` and `--keys` (contract/audit-log.md, "Checking"). */
import { anchorsOf, type NotedAnchor } from '../audit-log/check.ts'
import { type AuditKey, isRemark } from '../audit-log/note.ts'
import type { Anchor } from '../audit-log/verifier.ts'
import { CommandError } from './failure.ts'

/** The entries that a file contains: all, or those of one account. The platform's account has the id null. */
export type FileChain = { of: 'all' } | { of: 'account'; id: string | null }

/**
 * What was read from a file of signed checkpoints (notes). `passedOver` is the number of notes that are ignored because
 * other platforms signed them. `incomplete` is the number of notes that are skipped because they are cut off.
 * `unsigned` is a sentence that tells the user why no signature was checked. It is null when every signature was
 * checked, or when there are no notes.
 */
export type ReadAnchors = { anchors: Anchor[]; passedOver: number; incomplete: number; unsigned: string | null }

export const noAnchors: ReadAnchors = { anchors: [], passedOver: 0, incomplete: 0, unsigned: null }

/**
 * Reads signed checkpoints (notes). A partner's file has events instead: one `audit.checkpoint` event in each line.
 *
 * @param keys null: do not check signatures
 * @param chain the chain of the file. Checkpoints of other chains are ignored; null: it is unknown, so all are used
 * @throws CommandError when a line is not a checkpoint, or when several platforms signed notes and `keys` is null
 */
export async function readAnchors(
  file: { path: string; text: string },
  keys: AuditKey[] | null,
  chain: FileChain | null,
): Promise<ReadAnchors> {
  if (/^[ \t]*\{/m.test(file.text)) {
    const anchors = readEvents(file)
    return {
      anchors: chain?.of === 'all' ? [] : anchors,
      passedOver: 0,
      incomplete: 0,
      unsigned: 'No signature was checked: events have none.',
    }
  }
  const { anchors: notes, incomplete } = await anchorsOf(file.text, keys)
  const own = ownNotes(notes, keys)
  const anchors = own.filter(({ account }) => chain === null || isNoteOf(chain, account))
  const unsigned = keys === null && notes.length > 0 ? 'No signature was checked: that needs --keys.' : null
  return { anchors, passedOver: notes.length - own.length, incomplete, unsigned }
}

/**
 * Returns the signed checkpoints (notes) of the platform whose keys were given. Each note names the installation that
 * made it. If one note of an installation has a valid signature, all notes of that installation are returned. If no
 * note has a valid signature, all notes are returned, because they may be forged and must then be reported, not
 * ignored.
 *
 * @throws CommandError when the notes name several installations but no keys were given
 */
function ownNotes(notes: NotedAnchor[], keys: AuditKey[] | null): NotedAnchor[] {
  const installations = new Set(notes.map(({ installation }) => installation))
  if (installations.size < 2) return notes
  if (keys === null)
    throw new CommandError('The file of --anchors also has notes of another platform. Only --keys can tell which.')
  const own = new Set(notes.filter(({ hash }) => hash !== null).map(({ installation }) => installation))
  return own.size === 0 ? notes : notes.filter(({ installation }) => own.has(installation))
}

/**
 * Whether a signed checkpoint (note) is about this chain. No note is about the chain of the platform's own entries.
 *
 * @param account the account that the note is about; null: the whole log
 */
const isNoteOf = (chain: FileChain, account: string | null): boolean =>
  chain.of === 'all' ? account === null : account !== null && account === chain.id

/** Reads a partner's events. Events of other types than `audit.checkpoint` are ignored. */
function readEvents({ path, text }: { path: string; text: string }): Anchor[] {
  return text.split('\n').flatMap((line, index) => {
    if (isRemark(line)) return []
    const event = objectOf(parseOrNull(line))
    const { type = 'audit.checkpoint' } = event ?? {}
    if (type !== 'audit.checkpoint') return []
    const anchor = event && anchorOfEvent(event)
    if (!anchor) throw new CommandError(`${path}, line ${index + 1}, is no checkpoint.`)
    return [anchor]
  })
}

/**
 * Reads the checkpoint in an event.
 *
 * @param event the whole event, or only its `data`
 * @returns null when it is not a checkpoint
 */
function anchorOfEvent(event: Record<string, unknown>): Anchor | null {
  const { data = event } = event
  const { accountSeq, accountHash, at } = objectOf(data) ?? {}
  if (typeof accountSeq !== 'number' || !Number.isSafeInteger(accountSeq) || accountSeq < 1) return null
  if (typeof accountHash !== 'string' || !/^[0-9a-f]{64}$/i.test(accountHash)) return null
  return { seq: accountSeq, hash: Buffer.from(accountHash, 'hex'), at: new Date(typeof at === 'string' ? at : 0) }
}

/**
 * Reads the keys that sign checkpoints. Keys of other kinds are ignored.
 * @throws CommandError when the text is not a JWKS
 */
export function readKeys(path: string, text: string): AuditKey[] {
  const { keys } = objectOf(parseOrNull(text)) ?? {}
  if (!Array.isArray(keys)) throw new CommandError(`${path} is no JWKS: it has no keys.`)
  return keys.map(key => keyOf(path, objectOf(key))).filter(({ x }) => x.length === 32)
}

function keyOf(path: string, key: Record<string, unknown> | null): AuditKey {
  const { x = '' } = key ?? { x: null }
  if (typeof x !== 'string') throw new CommandError(`${path} is no JWKS: one of its keys is none.`)
  return { x: Buffer.from(x, 'base64url') }
}

/** @returns null when the value is no object */
const objectOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

/** Parses JSON. @returns null also when the text is not JSON */
export function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
