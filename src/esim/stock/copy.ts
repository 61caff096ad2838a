/** Rows of new profiles in PostgreSQL's binary copy format: the columns `profile_id`, `iccid_hash`, `msisdn` and `sealed`. */

export type StagedProfile = { profileId: number; iccidHash: Buffer; msisdn: string; sealed: Buffer }

const columns = 4
const idBytes = 8

/** All rows in one buffer; `msisdn` must be ASCII. */
export function encodeRows(rows: readonly StagedProfile[]): Buffer {
  let size = 0
  for (const { iccidHash, msisdn, sealed } of rows)
    size += 2 + columns * 4 + idBytes + iccidHash.length + msisdn.length + sealed.length
  const buffer = Buffer.allocUnsafe(size)
  let at = 0
  for (const { profileId, iccidHash, msisdn, sealed } of rows) {
    at = buffer.writeInt16BE(columns, at)
    at = buffer.writeInt32BE(idBytes, at)
    at = buffer.writeBigInt64BE(BigInt(profileId), at)
    at = buffer.writeInt32BE(iccidHash.length, at)
    at += iccidHash.copy(buffer, at)
    at = buffer.writeInt32BE(msisdn.length, at)
    at += buffer.write(msisdn, at, 'latin1')
    at = buffer.writeInt32BE(sealed.length, at)
    at += sealed.copy(buffer, at)
  }
  return buffer
}
