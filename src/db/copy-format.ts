/** How PostgreSQL sends `copy ... to stdout (format binary)`: messages, in them a header and rows, in those fields behind their length. */

export type CopyTaker = {
  /**
   * Takes what was received, and leaves of it, in place, the JSON array of the rows.
   *
   * @returns `rest`: a copy of what follows the rows and is for the client of the connection; null while there are rows to come
   */
  take(received: Buffer): { bytes: Buffer; rest: Buffer | null }
}

const messageHeaderBytes = 5
/** A signature of 11 bytes, flags, and the length of an extension that there is not. */
const copyHeaderBytes = 19
const endOfRows = -1
/** What may come between rows and is of no interest: the copy's announcement, notices, settings and notifications. */
const passedOver = new Set([...'HNSA'].map(letter => letter.charCodeAt(0)))
const rows = 'd'.charCodeAt(0)

export function createCopyTaker(): CopyTaker {
  const header = createFrame(messageHeaderBytes)
  const row = createRows()
  let bytesLeft = 0
  let hasRows = false

  return {
    take(received) {
      let taken = 0
      let given = 0
      while (taken < received.length) {
        if (bytesLeft > 0) {
          const end = Math.min(received.length, taken + bytesLeft)
          bytesLeft -= end - taken
          if (hasRows) given = row.compact(received, { from: taken, end, to: given })
          taken = end
        } else if (header.add(received[taken++] ?? 0)) {
          const type = header.bytes[0] ?? 0
          hasRows = type === rows
          if (!hasRows && !passedOver.has(type))
            return {
              bytes: received.subarray(0, given),
              rest: Buffer.concat([header.bytes, received.subarray(taken)]),
            }
          bytesLeft = header.bytes.readUInt32BE(1) - 4
        }
      }
      return { bytes: received.subarray(0, given), rest: null }
    },
  }
}

/** Gathers bytes that belong together and may come apart. */
function createFrame(bytes: number) {
  const gathered = Buffer.alloc(copyHeaderBytes)
  let expected = bytes
  let count = 0
  return {
    bytes: gathered.subarray(0, bytes),
    expect(bytes: number) {
      expected = bytes
    },
    /** @returns true when all are there */
    add(byte: number): boolean {
      gathered[count++] = byte
      if (count < expected) return false
      count = 0
      return true
    },
  }
}

/** Leaves out everything but the fields' bytes and puts in brackets and commas: the result is never longer. */
function createRows() {
  const frame = createFrame(copyHeaderBytes)
  let next: 'header' | 'row' | 'field' = 'header'
  let bytesLeft = 0
  let fieldsLeft = 0
  let isFirst = true

  /** @returns what is to stand in its place: one character at most, as its other bytes may have come before */
  const onFrame = (): '' | '[' | ',' | ']' => {
    let text: ReturnType<typeof onFrame> = '['
    if (next === 'field') {
      text = ''
      bytesLeft = Math.max(0, frame.bytes.readInt32BE(0))
      fieldsLeft--
    } else if (next === 'row') {
      fieldsLeft = frame.bytes.readInt16BE(0)
      text = fieldsLeft === endOfRows ? ']' : isFirst ? '' : ','
      isFirst = false
    }
    next = fieldsLeft > 0 ? 'field' : 'row'
    frame.expect(next === 'field' ? 4 : 2)
    return text
  }

  return {
    /** @returns where the result ends that begins at `to` */
    compact(buffer: Buffer, { from, end, to }: { from: number; end: number; to: number }): number {
      let taken = from
      let given = to
      while (taken < end) {
        if (bytesLeft > 0) {
          const bytes = Math.min(bytesLeft, end - taken)
          if (given < taken) buffer.copyWithin(given, taken, taken + bytes)
          taken += bytes
          given += bytes
          bytesLeft -= bytes
        } else if (frame.add(buffer[taken++] ?? 0)) given += buffer.write(onFrame(), given, 'latin1')
      }
      return given
    },
  }
}
