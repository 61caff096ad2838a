/**
 * A bank's part of a segment as a CSV file of up to a million customers, converted while it is read. The ids are stored as the
 * text of a JSON array.
 */

import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Database } from '../../db/database.ts'
import { withLiterals } from '../../db/literals.ts'
import { copyAsJson } from '../../db/streaming/copy-out.ts'
import { DomainError } from '../../errors.ts'
import { csvCell } from '../../text/csv-cell.ts'

const reading = { stallMs: 10_000, wholeMs: 90_000 }

/**
 * Opens the file. It resolves when the first bytes have arrived.
 *
 * @param signal aborts when the client disconnects
 * @throws DomainError 'unavailable' when the client has disconnected
 */
export function openSegmentFile(
  database: Database,
  { cashbackId, bankId }: { cashbackId: string; bankId: string },
  signal: AbortSignal,
): Promise<(taker: Writable) => Promise<void>> {
  const opened = Promise.withResolvers<(taker: Writable) => Promise<void>>()
  database
    .longRead('files', async client => {
      signal.throwIfAborted()
      const text = withLiterals(
        `select ',', customer_ids from campaign_segments where cashback_id = $1::uuid and bank_id = $2::uuid`,
        [cashbackId, bankId],
      )
      const read = copyAsJson(client, text, reading)
      signal.addEventListener('abort', () => read.stop(new Error('The reader has left')))
      await read.begun
      opened.resolve(async taker => {
        const lines = toLines()
        const written = pipeline(lines, taker, { end: false })
        await Promise.all([read.writeTo(lines).then(() => lines.end()), written])
      })
      await read.ended
    })
    .catch(opened.reject)
  return opened.promise.catch(error => {
    throw signal.aborted ? new DomainError('unavailable', 'The reader has left', { cause: error }) : error
  })
}

/** Converts the bytes of JSON arrays of strings to CSV: a header, then one line for each string. */
function toLines(): Transform {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let isFirst = true
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      const text = rest + decoder.write(bytes)
      let end = 0
      let lines = isFirst ? `${csvCell('customerId')}\r\n` : ''
      isFirst = false
      // A string that the end of the piece cuts off does not match yet; it is completed by the next piece.
      for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
        lines += `${csvCell(JSON.parse(match[0]) as string)}\r\n`
        end = match.index + match[0].length
      }
      rest = text.slice(end)
      done(null, lines)
    },
  })
}
