/**
 * How entries are chained by hashes (contract/audit-log.md, "The chain"). The stored text is exactly the hashed text,
 * so a check rebuilds nothing. An account's chain can be checked without other accounts' entries; the chain of all
 * needs only the accounts' hashes.
 */
import { hash as digest } from 'node:crypto'

/** The hash before the first entry. */
const noHash: Buffer = Buffer.alloc(32)

/** The last entry of a chain and its hash. */
export type Head = { seq: number; hash: Buffer }

export const firstHead: Head = { seq: 0, hash: noHash }

/** SHA-256(previous hash of the account ‖ text) */
export const accountHashOf = (previous: Buffer, text: string): Buffer =>
  // In one call: a hash that is fed piece by piece takes twice as long for so few bytes.
  digest('sha256', Buffer.concat([previous, Buffer.from(text, 'utf8')]), 'buffer')

/** SHA-256(previous hash of all ‖ number as 8 bytes, big-endian ‖ hash of the account) */
export function hashOf(previous: Buffer, seq: number, accountHash: Buffer): Buffer {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(seq))
  return digest('sha256', Buffer.concat([previous, number, accountHash]), 'buffer')
}
