/**
 * PostgreSQL's binary copy format: a header, rows, in those fields behind their length, and a trailer. It is taken as it is, and sent
 * (`copy ... to stdout (format binary)`) in messages.
 */

/** A signature of 11 bytes, flags, and the length of an extension that there is not. */
export const copyHeader: Buffer = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
export const copyTrailer: Buffer = Buffer.from([0xff, 0xff])

export type CopyReader = {
  /**
   * Reads what was received and writes the bytes of all fields into `target`, from `at` on, in brackets and without their first one:
   * a comma before each element becomes a JSON array. It is never longer than what it comes from.
   *
   * @returns `end`: where it ends in `target`; `rest`: a copy of what follows the rows and is for the client of the connection, null
   *   while there are rows to come
   */
  read(received: Buffer, target: Buffer, at: number): { end: number; rest: Buffer | null }
}

const messageHeaderBytes = 5
const endOfRows = -1
/** What may come between rows and is of no interest: the copy's announcement, notices, settings and notifications. */
const passedOver = new Set([...'HNSA'].map(letter => letter.charCodeAt(0)))
const rowsMessage = 'd'.charCodeAt(0)

export function createCopyReader(): CopyReader {
  const header = createFrame(messageHeaderBytes)
  const rows = createRows()
  let bytesLeft = 0
  let hasRows = false

  return {
    read(received, target, at) {
      let taken = 0
      let end = at
      while (taken < received.length) {
        if (bytesLeft > 0) {
          const next = Math.min(received.length, taken + bytesLeft)
          bytesLeft -= next - taken
          if (hasRows) end = rows.read(received, taken, next, target, end)
          taken = next
        } else if (header.add(received[taken++] ?? 0)) {
          const type = header.bytes[0] ?? 0
          hasRows = type === rowsMessage
          if (!hasRows && !passedOver.has(type))
            return { end, rest: Buffer.concat([header.bytes, received.subarray(taken)]) }
          bytesLeft = header.bytes.readUInt32BE(1) - 4
        }
      }
      return { end, rest: null }
    },
  }
}

/** Gathers bytes that belong together and may come apart. */
function createFrame(bytes: number) {
  const gathered = Buffer.alloc(bytes)
  let expected = bytes
  let count = 0
  return {
    bytes: gathered,
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

function createRows() {
  const frame = createFrame(copyHeader.length)
  let next: 'header' | 'row' | 'field' = 'header'
  let bytesLeft = 0
  let fieldsLeft = 0
  let isFirst = true

  /** @returns what stands in its place */
  const onFrame = (): '' | '[' | ']' => {
    let text: ReturnType<typeof onFrame> = '['
    if (next === 'field') {
      text = ''
      bytesLeft = Math.max(0, frame.bytes.readInt32BE(0))
      fieldsLeft--
    } else if (next === 'row') {
      fieldsLeft = frame.bytes.readInt16BE(0)
      text = fieldsLeft === endOfRows ? ']' : ''
    }
    next = fieldsLeft > 0 ? 'field' : 'row'
    frame.expect(next === 'field' ? 4 : 2)
    return text
  }

  return {
    /** Reads a part of what was received. @returns where the text ends in `target` */
    read(received: Buffer, from: number, to: number, target: Buffer, at: number): number {
      let taken = from
      let end = at
      while (taken < to) {
        if (bytesLeft > 0) {
          if (isFirst) {
            isFirst = false
            taken++
            bytesLeft--
          }
          const bytes = Math.min(bytesLeft, to - taken)
          end += received.copy(target, end, taken, taken + bytes)
          taken += bytes
          bytesLeft -= bytes
        } else if (frame.add(received[taken++] ?? 0)) end += target.write(onFrame(), end, 'latin1')
      }
      return end
    },
  }
}
