/** Writes rows in PostgreSQL's binary copy format. An import sends its new profiles to the database in this format. */

/** A value of a row: a `bigint` column takes a number, `bytea` a buffer, `text` a string of ASCII. */
export type CopyValue = number | Buffer | string | null

const numberBytes = 8

/** All rows in one buffer. Each row has its values in the order of the columns. */
export function encodeRows(rows: readonly (readonly CopyValue[])[]): Buffer {
  let size = 0
  for (const row of rows) {
    size += 2
    for (const value of row) size += 4 + bytesOf(value)
  }
  const buffer = Buffer.allocUnsafe(size)
  let at = 0
  for (const row of rows) {
    at = buffer.writeInt16BE(row.length, at)
    for (const value of row) {
      at = buffer.writeInt32BE(value === null ? -1 : bytesOf(value), at)
      if (typeof value === 'number') at = buffer.writeBigInt64BE(BigInt(value), at)
      else if (typeof value === 'string') at += buffer.write(value, at, 'latin1')
      else if (value !== null) at += value.copy(buffer, at)
    }
  }
  return buffer
}

function bytesOf(value: CopyValue): number {
  if (value === null) return 0
  return typeof value === 'number' ? numberBytes : value.length
}
