/**
 * Reads PostgreSQL's binary copy format: a header, rows, and a trailer. In a row, the length of each field comes before
 * its bytes. The server sends these bytes in messages (`copy ... to stdout (format binary)`).
 */

/** A signature of 11 bytes, flags, and the length of an extension, which is 0. */
export const copyHeader: Buffer = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
export const copyTrailer: Buffer = Buffer.from([0xff, 0xff])

/**
 * The form of the output. `json`: a JSON array; each row is the text of one element, with a comma before it. `text`:
 * only the bytes of the rows.
 */
export type CopyForm = 'json' | 'text'

export type CopyReader = {
  /**
   * Reads received bytes and writes the bytes of all fields into `target` from `at` on. In the form `json` it also writes
   * the brackets of the array, and leaves out the comma before the first element. The output is never longer than the input.
   *
   * @returns `end`: where the output ends in `target`; `rest`: null until the rows have ended, then a copy of the bytes after
   *   them, which the `pg` client must get
   */
  read(received: Buffer, target: Buffer, at: number): { end: number; rest: Buffer | null }
}

const messageHeaderBytes = 5
const endOfRows = -1
/**
 * The types of messages between rows that are ignored: the announcement of the copy, notices, settings and
 * notifications.
 */
const passedOver = new Set([...'HNSA'].map(letter => letter.charCodeAt(0)))
const rowsMessage = 'd'.charCodeAt(0)

export function createCopyReader(form: CopyForm): CopyReader {
  const header = createFrame(messageHeaderBytes)
  const rows = createRows(form)
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

/** Gathers a fixed number of bytes that belong together but may arrive in parts. */
function createFrame(bytes: number) {
  const gathered = Buffer.alloc(bytes)
  let expected = bytes
  let count = 0
  return {
    bytes: gathered,
    expect(bytes: number) {
      expected = bytes
    },
    /** @returns true when all expected bytes have arrived */
    add(byte: number): boolean {
      gathered[count++] = byte
      if (count < expected) return false
      count = 0
      return true
    },
  }
}

function createRows(form: CopyForm) {
  const frame = createFrame(copyHeader.length)
  let next: 'header' | 'row' | 'field' = 'header'
  let bytesLeft = 0
  let fieldsLeft = 0
  let isFirst = form === 'json'

  /** Handles a complete header, row or field frame. @returns the text that the output gets in place of the frame */
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
    return form === 'json' ? text : ''
  }

  return {
    /** Reads a part of what was received. @returns where the output ends in `target` */
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
