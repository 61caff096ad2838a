/**
 * A bank's part of a segment as a CSV file of up to a million customers. The ids are stored as the text of a JSON
 * array. The text is converted while it is read.
 */

import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Database } from '../../db/database.ts'
import { withLiterals } from '../../db/literals.ts'
import { ofJson, openCopy, type WriteTo } from '../../db/streaming/open-copy.ts'
import { csvCell, csvMark } from '../../text/csv-cell.ts'

/**
 * Opens the file. `database`, `signal`, the result and the errors are as for `openCopy`.
 *
 * @param part the bank's part of the campaign's segment
 */
export async function openSegmentFile(
  database: Database,
  part: { cashbackId: string; bankId: string },
  signal: AbortSignal,
): Promise<WriteTo> {
  const text = withLiterals(
    `select ',', customer_ids from campaign_segments where cashback_id = $1::uuid and bank_id = $2::uuid`,
    [part.cashbackId, part.bankId],
  )
  const writeIds = await openCopy(database, text, signal, ofJson)
  return async taker => {
    const lines = toLines()
    const written = pipeline(lines, taker, { end: false })
    await Promise.all([writeIds(lines).then(() => lines.end()), written])
  }
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
      let lines = isFirst ? `${csvMark}${csvCell('customerId')}\r\n` : ''
      isFirst = false
      // A string that is cut off at the end of the piece does not match yet. The next piece completes it.
      for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
        lines += `${csvCell(JSON.parse(match[0]) as string)}\r\n`
        end = match.index + match[0].length
      }
      rest = text.slice(end)
      done(null, lines)
    },
  })
}
