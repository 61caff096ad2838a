/** CSV files of any length (RFC 4180), line by line. */

const maxBytes = 4096
/** So few that they are done with before they are moved to where memory is swept seldom. */
const maxLines = 200

/** One line of a file without its line end, a character per byte; `text` is undefined when the line is too long. */
export type FileLine = { lineNumber: number; text: string | undefined }

/**
 * Cuts a stream of bytes into lines, at most 200 to an array, numbered from 1. Lines end with LF or CRLF; a UTF-8
 * byte-order mark is left out. No more is kept than one chunk and one line of at most 4,096 bytes: what goes beyond is
 * passed over. Bytes are read as Latin-1, which loses none, so a reader of ASCII columns sees every foreign byte as a
 * character that is not its own.
 */
export async function* readLines(source: AsyncIterable<unknown>): AsyncGenerator<FileLine[], void, undefined> {
  let lines: FileLine[] = []
  let lineNumber = 0
  let rest = ''
  const take = (text: string) => {
    lineNumber++
    const line = lineNumber === 1 && text.startsWith('\u00ef\u00bb\u00bf') ? text.slice(3) : text
    lines.push({ lineNumber, text: line.length > maxBytes ? undefined : withoutCarriageReturn(line) })
  }
  for await (const chunk of source) {
    const bytes = latin1(chunk)
    let start = 0
    for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
      take(rest + bytes.slice(start, end))
      rest = ''
      start = end + 1
      if (lines.length < maxLines) continue
      yield lines
      lines = []
    }
    // One character over the bound is enough to know the line as too long, however much of it is still to come.
    if (rest.length <= maxBytes + 3) rest += bytes.slice(start, start + maxBytes + 4)
  }
  if (rest !== '') take(rest)
  if (lines.length > 0) yield lines
}

// The mark at the beginning of the file was left out already; anywhere else it is a character like others.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of a line that may hold more than ASCII.
 *
 * @param line a character per byte
 * @returns null when the bytes are no UTF-8
 */
export function decodeLine(line: string): string | null {
  if (/^[\0-\x7f]*$/.test(line)) return line
  try {
    return utf8.decode(Buffer.from(line, 'latin1'))
  } catch {
    return null
  }
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function latin1(chunk: unknown): string {
  if (chunk instanceof Uint8Array)
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
  return Buffer.from(String(chunk)).toString('latin1')
}

/** The fields of one line by RFC 4180; undefined when its quotes are wrong. */
export function splitRecord(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(',')
  const fields: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (let separator: string | undefined = ','; separator === ','; ) {
    const match = field.exec(text)
    if (match === null) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    separator = match[3]
  }
  return fields
}

/** The last line of a list of faults counts them all, and says what came of the file. */
export function describeFaults(named: readonly string[], count: number, outcome = 'nothing was kept'): string[] {
  const more = count > named.length ? `... and ${count - named.length} more faults; ` : ''
  return [...named, `${more}${count} ${count === 1 ? 'fault' : 'faults'} in all: ${outcome}`]
}
