/**
 * Chains entries by hashes (contract/audit-log.md, "The chain"). The stored text is exactly the hashed text, so a
 * check hashes what is stored. An account's chain can be checked without other accounts' entries. The chain of the whole
 * log needs only the hashes of the accounts' chains.
 */
import { hash as digest } from 'node:crypto'

/** The hash before the first entry. */
const noHash: Buffer = Buffer.alloc(32)

/** The last entry of a chain and its hash. */
export type Head = { seq: number; hash: Buffer }

export const firstHead: Head = { seq: 0, hash: noHash }

/** One buffer for all data that is hashed. Making a new buffer for each entry took a fifth of the time of a check. */
let room = Buffer.alloc(8 * 1024)
const roomOfAll = Buffer.alloc(72)
const maxBytesOfUnit = 3

/** The hash of an entry in the chain of its account: SHA-256(previous hash of that chain ‖ text of the entry). */
export function accountHashOf(previous: Buffer, text: string): Buffer {
  const maxBytes = previous.length + text.length * maxBytesOfUnit
  if (room.length < maxBytes) room = Buffer.alloc(maxBytes)
  const end = previous.copy(room) + room.write(text, previous.length, 'utf8')
  return sha256(room.subarray(0, end))
}

/**
 * The hash of an entry in the chain of the whole log: SHA-256(previous hash of that chain ‖ number of the entry as 8 bytes, big-endian ‖
 * hash of the entry in the chain of its account).
 */
export function hashOf(previous: Buffer, seq: number, accountHash: Buffer): Buffer {
  previous.copy(roomOfAll)
  roomOfAll.writeBigUInt64BE(BigInt(seq), 32)
  const end = 40 + accountHash.copy(roomOfAll, 40)
  return sha256(roomOfAll.subarray(0, end))
}

/** Gets each hash as a string and converts it. To get a buffer from `digest` takes six times as long. */
const sha256 = (bytes: Buffer): Buffer => Buffer.from(digest('sha256', bytes, 'binary'), 'latin1')
