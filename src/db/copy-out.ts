/**
 * Reads that may be hundreds of megabytes: `copy ... to stdout`, whose bytes are handed on as they come, with back-pressure, so that
 * neither a row nor a field is ever held whole.
 */
import { once } from 'node:events'
import { pipeline, type Readable, Transform } from 'node:stream'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'

/** A reader holds a snapshot of the database, so it is cut off when it takes nothing, or not everything, for this long. */
export type ReadLimits = { stallMs: number; wholeMs: number }

/** A signature of 11 bytes, flags, and the length of an extension that there is not. */
const headerBytes = 19
const endOfRows = -1

/**
 * The rows of a query as a JSON array, each row the concatenation of its columns' text, nulls left out.
 *
 * @param client one of the caller's own, busy until the stream is closed
 * @param query its values are put into the text, as `copy` takes no parameters
 * @returns a stream that fails when the database does, and when its reader is too slow
 */
export function copyAsJson(
  client: pg.Client,
  query: { text: string; values: readonly Value[] },
  limits: ReadLimits,
): Readable {
  const text = withLiterals(query.text, query.values)
  const copied = client.query(copyTo(`copy (${text}) to stdout (format binary)`))
  // A connection that breaks after the reader has gone is nobody's concern.
  copied.on('error', () => {})
  const rows = rowsAsJson(() => stalled.refresh())
  const cut = () => rows.destroy(new Error('The reader of a long list was too slow'))
  const stalled = setTimeout(cut, limits.stallMs)
  const late = setTimeout(cut, limits.wholeMs)
  return pipeline(copied, rows, () => {
    clearTimeout(stalled)
    clearTimeout(late)
  })
}

/** Waits until the first bytes are there. @throws what has gone wrong before */
export async function hasBegun(stream: Readable): Promise<void> {
  await once(stream, 'readable')
}

type Value = string | Date | readonly string[] | null

/** Puts values in the places of `$1`, `$2` ... */
const withLiterals = (text: string, values: readonly Value[]): string =>
  text.replace(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1] ?? null))

function literal(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return pg.escapeLiteral(value)
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  return `array[${value.map(pg.escapeLiteral).join(', ')}]`
}

/**
 * Takes what `copy` sends in its binary format: a header, then for each row the number of its fields and each field behind its
 * length. Everything but the fields' bytes is left out, and brackets and commas put in, in place: the result is never longer.
 *
 * @param onProgress called whenever bytes are handed on
 */
function rowsAsJson(onProgress: () => void): Transform {
  const frame = Buffer.alloc(headerBytes)
  let framed = 0
  let expected: 'header' | 'row' | 'field' | 'nothing' = 'header'
  let frameBytes = headerBytes
  let bytesLeft = 0
  let fieldsLeft = 0
  let separator = '['

  const expect = (what: typeof expected, bytes: number) => {
    expected = what
    frameBytes = bytes
    framed = 0
  }
  const nextField = () => (fieldsLeft > 0 ? expect('field', 4) : expect('row', 2))
  /** @returns what is to be written in the place of a frame that is complete */
  const onFrame = (): string => {
    if (expected === 'header') {
      expect('row', 2)
      return ''
    }
    if (expected === 'field') {
      bytesLeft = Math.max(0, frame.readInt32BE(0))
      fieldsLeft--
      nextField()
      return ''
    }
    fieldsLeft = frame.readInt16BE(0)
    if (fieldsLeft === endOfRows) {
      expect('nothing', 1)
      return separator === '[' ? '[]' : ']'
    }
    nextField()
    const before = separator
    separator = ','
    return before
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let taken = 0
      let given = 0
      while (taken < chunk.length) {
        if (bytesLeft > 0) {
          const bytes = Math.min(bytesLeft, chunk.length - taken)
          if (given < taken) chunk.copyWithin(given, taken, taken + bytes)
          taken += bytes
          given += bytes
          bytesLeft -= bytes
        } else {
          frame[framed++] = chunk[taken++] ?? 0
          if (framed === frameBytes) given += chunk.write(onFrame(), given, 'latin1')
        }
      }
      onProgress()
      done(null, chunk.subarray(0, given))
    },
  })
}
