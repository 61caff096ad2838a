/** Reads a file of customers before it is sent. */

const lineFeed = 0x0a
const space = 0x20
/** The header and a byte order mark are much shorter. */
const maxHeaderBytes = 4096

/** `brokenRule`: the rule of the platform that line 1 breaks; null: it is the right header. */
export type SegmentFile = { count: number; brokenRule: 'header' | 'utf8' | null }

/**
 * Checks the header, and counts the lines below it that are not blank. The platform later checks whether they are ids. Only one
 * piece of the file is in memory at a time, so a large file needs little memory.
 *
 * @param file CSV with one id a line
 */
export async function readSegmentFile(file: Blob): Promise<SegmentFile> {
  const [count, start] = await Promise.all([countIds(file), file.slice(0, maxHeaderBytes).arrayBuffer()])
  return { count, brokenRule: brokenHeaderRule(new Uint8Array(start)) }
}

function brokenHeaderRule(start: Uint8Array): SegmentFile['brokenRule'] {
  const end = start.indexOf(lineFeed)
  try {
    const header = new TextDecoder('utf-8', { fatal: true }).decode(end < 0 ? start : start.subarray(0, end))
    // A zero or "PK" at the beginning: text in UTF-16, or a workbook.
    if (header.includes('\0') || header.startsWith('PK\u0003\u0004')) return 'utf8'
    return /^(?:customerId|"customerId")\r?$/.test(header) ? null : 'header'
  } catch {
    return 'utf8'
  }
}

async function countIds(file: Blob): Promise<number> {
  let count = 0
  let isHeader = true
  let isBlank = true
  const endLine = () => {
    if (!isHeader && !isBlank) count++
    isHeader = false
    isBlank = true
  }
  const reader = file.stream().getReader()
  for (let piece = await reader.read(); piece.value; piece = await reader.read())
    for (const byte of piece.value) {
      if (byte === lineFeed) endLine()
      // Spaces and control characters, such as the carriage return, are no id.
      else if (byte > space) isBlank = false
    }
  endLine()
  return count
}
