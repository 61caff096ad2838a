/** Reads CSV files of any length (RFC 4180) line by line. */

const maxBytes = 4096
/**
 * The maximum number of lines in a batch. It is small, so that a batch is processed before the garbage collector moves
 * it to the memory of long-lived objects. Such a move takes time.
 */
const maxLines = 200

/** One line of a file without its line end, one character per byte; `text` is undefined when the line is too long. */
export type FileLine = { lineNumber: number; text: string | undefined }

/**
 * Splits a stream of bytes into numbered lines, at most 200 per array. Line numbers begin with 1, lines end with LF
 * or CRLF, and a UTF-8 byte-order mark at the beginning is skipped. It keeps at most one chunk, one array of lines and one
 * line of 4,096 bytes in memory. A longer line has no text. Bytes are read as Latin-1, which maps each byte to one
 * character. So no byte is lost, and a reader of ASCII columns notices each non-ASCII byte.
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
    // Keep only the beginning of a line that is too long. A byte-order mark before the line has 3 bytes.
    if (rest.length <= maxBytes + 3) rest += bytes.slice(start, start + maxBytes + 4)
  }
  if (rest !== '') take(rest)
  if (lines.length > 0) yield lines
}

/**
 * Counts the lines of a file. Blank lines are counted separately, because a file may end with some. `max` is the
 * maximum for each of the two counts, because reading blank lines takes time, too.
 *
 * @returns a function that takes the next line, and returns whether there are now too many lines
 */
export function createLineCount(max: number): (line: string | undefined) => boolean {
  let [lines, blankLines] = [0, 0]
  return line => (line === '' ? ++blankLines : ++lines) > max
}

// `readLines` has already skipped the byte-order mark at the beginning of the file. Anywhere else this mark is an
// ordinary character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes a line that may hold more than ASCII.
 *
 * @param line one character per byte
 * @returns null when the bytes are not valid UTF-8
 */
export function decodeLine(line: string): string | null {
  if (/^[\0-\x7f]*$/.test(line)) return line
  try {
    return utf8.decode(Buffer.from(line, 'latin1'))
  } catch {
    return null
  }
}

/** Whether the first line of a file is the beginning of a workbook (a ZIP archive), or of text in another encoding. */
export const isOtherFormat = (line: string): boolean =>
  line.startsWith('PK\u0003\u0004') || line.includes('\0') || decodeLine(line) === null

/** The error of a file in another format. */
export const otherFormatText = 'line 1 must be UTF-8 text: save the file as CSV in UTF-8'

/** A line that ended with CRLF, without the CR. */
export function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function latin1(chunk: unknown): string {
  if (chunk instanceof Uint8Array)
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
  return Buffer.from(String(chunk)).toString('latin1')
}

/** What may separate the fields of a line. */
export type Separator = ',' | ';' | '\t'

/** A field with its end; an object for each separator, because a regular expression is expensive to make. */
const fieldPatterns: Record<Separator, RegExp> = {
  ',': /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";]*))(;|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t]*))(\t|$)/y,
}

/** Splits a line into its fields (RFC 4180); undefined when its quotes are wrong. */
export function splitRecord(text: string, separator: Separator = ','): string[] | undefined {
  if (!text.includes('"')) return text.split(separator)
  const fields: string[] = []
  const field = fieldPatterns[separator]
  field.lastIndex = 0
  for (let end: string | undefined = separator; end === separator; ) {
    const match = field.exec(text)
    if (match === null) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    end = match[3]
  }
  return fields
}

/** Lists errors for people. The last line has their total number and says what happened to the file. */
export function describeErrors(named: readonly string[], count: number, outcome = 'nothing was kept'): string[] {
  const more = count > named.length ? `... and ${count - named.length} more errors; ` : ''
  return [...named, `${more}${count} ${count === 1 ? 'error' : 'errors'} in all: ${outcome}`]
}
