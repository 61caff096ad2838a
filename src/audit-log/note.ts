/**
 * A checkpoint as a signed note (C2SP signed-note): four lines, an empty line, and the signature of the text above
 * (contract/audit-log.md, "Checkpoints"). Needs no database, because the command that checks a file works without a platform.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

export type Checkpoint = { seq: number; hash: Buffer; at: Date }
/** A current or former signing key. `x` is the public key, 32 bytes. */
export type AuditKey = { x: Buffer }

const ed25519 = 0x01
/** The id of the key, and the signature. */
const signatureBytes = 4 + 64
/** The DER header of an Ed25519 public key; the 32 bytes of the key follow. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

export const originOfNotes = (installationId: string): string => `perkline.audit/${installationId}`

/**
 * The name in checkpoints (signed notes) of the chain of one account. It differs from the name of the whole log and of
 * other accounts, so that no note can be mistaken for another.
 */
export const originOfAccount = (name: string, accountId: string): string => `${name}/${accountId}`

function publicKeyOf({ x }: AuditKey): KeyObject {
  return createPublicKey({ key: Buffer.concat([derPrefix, x]), format: 'der', type: 'spki' })
}

/** The first 4 bytes of SHA-256(name ‖ line feed ‖ algorithm ‖ key). */
const keyIdOf = (name: string, { x }: AuditKey): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([ed25519]))
    .update(x)
    .digest()
    .subarray(0, 4)

const textOf = (name: string, { seq, hash, at }: Checkpoint): string =>
  `${name}\n${seq}\n${hash.toString('base64')}\n${at.toISOString()}\n`

export function writeNote(name: string, checkpoint: Checkpoint, key: AuditKey & { privateKey: KeyObject }): string {
  const text = textOf(name, checkpoint)
  const signature = Buffer.concat([keyIdOf(name, key), sign(null, Buffer.from(text), key.privateKey)])
  return `${text}\n— ${name} ${signature.toString('base64')}\n`
}

/**
 * A checkpoint read from a signed note. `account` is the id of the account whose chain it is about; null: the whole
 * log.
 */
export type ReadNote = Checkpoint & {
  name: string
  installation: string
  account: string | null
  isSignedBy(keys: readonly AuditKey[]): boolean
}

const noteForm =
  /^(perkline\.audit\/([0-9a-f-]{36})(?:\/([0-9a-f-]{36}))?)\n([0-9]{1,15})\n([A-Za-z0-9+/]{43}=)\n(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\n\n— (\S+) ([A-Za-z0-9+/=]+)\n?$/

/** Reads a note without checking its signature. @returns null when the text is not a valid note */
export function readNote(note: string): ReadNote | null {
  const [, name = '', installation = '', account = null, seq = '', hash = '', at = '', signer = '', signed = ''] =
    noteForm.exec(note) ?? []
  if (name === '') return null
  const text = Buffer.from(`${name}\n${seq}\n${hash}\n${at}\n`)
  const signature = Buffer.from(signed, 'base64')
  const isBy = (key: AuditKey): boolean =>
    keyIdOf(name, key).equals(signature.subarray(0, 4)) && verify(null, text, publicKeyOf(key), signature.subarray(4))
  return {
    name,
    installation,
    account,
    seq: Number(seq),
    hash: Buffer.from(hash, 'base64'),
    at: new Date(at),
    isSignedBy: keys => signer === name && signature.length === signatureBytes && keys.some(isBy),
  }
}

/** A regular expression's alternatives for a cut-off `perkline.audit/`: `p`, `pe`, `per` and so on. */
const cutNames = [...'perkline.audit/'].map((_, index, letters) => letters.slice(0, index + 1).join('')).join('|')

/**
 * Matches a signed note that is cut off somewhere, at the latest in its signature. If it is cut off within a character,
 * this character is read as U+FFFD.
 */
const beginningForm = new RegExp(
  `^(?:${cutNames}|perkline\\.audit/[0-9a-f/-]{0,73}` +
    '(?:\\n[0-9]{0,15}(?:\\n[A-Za-z0-9+/]{0,43}=?(?:\\n[0-9TZ.:-]*(?:\\n(?:\\n(?:\ufffd|—(?: \\S*(?: [A-Za-z0-9+/=]*)?)?)?)?)?)?)?)?)$',
)

/**
 * Whether a text is only the beginning of a note, because the disk was full, for example. A note with the whole signature is
 * complete, whether the signature is right or wrong.
 */
export function isIncomplete(note: string): boolean {
  const [, signature = ''] = /\n— \S+ (\S+)$/.exec(note) ?? []
  return beginningForm.test(note) && Buffer.from(signature, 'base64').length < signatureBytes
}

const noteStart = new RegExp(`^(?=perkline\\.audit/|(?:${cutNames})$)`, 'm')

/** Whether a line is empty or begins with `#`. A file may contain such lines before and after its notes. */
export const isRemark = (line: string): boolean => line.startsWith('#') || line.trim() === ''

/** Splits a file into notes, complete or not, without the remarks around them. */
export const splitNotes = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(noteStart)
    .map(withoutRemarks)
    .filter(note => note !== '')

function withoutRemarks(note: string): string {
  const lines = note.split('\n')
  const isText = (line: string) => !isRemark(line)
  // If the text has only remarks, the result is empty.
  return lines
    .slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1)
    .join('\n')
    .trim()
}
