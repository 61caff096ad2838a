const lineFeed = 10
const carriageReturn = 13

/**
 * Copies the line with this number; the first line is number 1. Returns false when the file ends before the line. Each
 * call must use a higher number than the call before.
 */
export type LineCopier = (lineNumber: number) => Promise<boolean>

/**
 * Copies chosen lines of a file unchanged, without their line end and without a byte-order mark at the beginning.
 * Counts lines as the platform does (`readLines` in text/csv-lines.ts), so the line numbers in the platform's answers
 * fit. Keeps at most one chunk in memory, for lines of any length.
 */
export function createLineCopier(
  chunks: AsyncIterator<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): LineCopier {
  let chunk: Uint8Array = new Uint8Array()
  let at = 0
  let line = 1
  let first = true

  const next = async (): Promise<boolean> => {
    const read = await chunks.next()
    if (read.done) return false
    chunk = read.value
    at = first && startsWithMark(chunk) ? 3 : 0
    first = false
    return true
  }

  return async lineNumber => {
    // Do not copy a carriage return until it is known whether it belongs to the line end.
    let held = false
    while (at < chunk.length || (await next())) {
      const end = chunk.indexOf(lineFeed, at)
      const part = chunk.subarray(at, end < 0 ? chunk.length : end)
      at = end < 0 ? chunk.length : end + 1
      if (line === lineNumber && part.length > 0) {
        if (held) await write(Uint8Array.of(carriageReturn))
        held = part.at(-1) === carriageReturn
        await write(held ? part.subarray(0, -1) : part)
      }
      if (end >= 0 && line++ === lineNumber) return true
    }
    return line === lineNumber
  }
}

const startsWithMark = ([first, second, third]: Uint8Array): boolean =>
  first === 0xef && second === 0xbb && third === 0xbf
