/**
 * How entries hang together (contract/audit-log.md, "The chain"). The text that is stored is the text that is hashed, so nothing is
 * rebuilt to check it. An account's own chain needs nobody else's entries; the chain of all needs the account's hashes only.
 */
import { createHash } from 'node:crypto'

/** Before the first entry. */
const noHash: Buffer = Buffer.alloc(32)

/** Where a chain has come to. */
export type Head = { seq: number; hash: Buffer }

export const firstHead: Head = { seq: 0, hash: noHash }

/** SHA-256(previous hash of the account ‖ text) */
export const accountHashOf = (previous: Buffer, text: string): Buffer =>
  createHash('sha256').update(previous).update(text, 'utf8').digest()

/** SHA-256(previous hash of all ‖ number as 8 bytes, big-endian ‖ hash of the account) */
export function hashOf(previous: Buffer, seq: number, accountHash: Buffer): Buffer {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(seq))
  return createHash('sha256').update(previous).update(number).update(accountHash).digest()
}
