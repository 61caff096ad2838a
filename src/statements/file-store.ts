/** The stored files of statements, as bytes that are passed on as they arrive. */
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import type pg from 'pg'
import type { Database } from '../db/database.ts'
import { withLiterals } from '../db/literals.ts'
import { copyAsText } from '../db/streaming/copy-out.ts'
import { openCopy, type WriteTo } from '../db/streaming/open-copy.ts'

const bytesOf = (statementIds: readonly string[]): string =>
  withLiterals(
    `select bytes from unnest($1::uuid[]) with ordinality as asked (statement_id, n) join statement_files using (statement_id)
     order by n, piece`,
    [statementIds],
  )

/** Opens the files of statements, one after the other. @param left, @throws as `openCopy` */
export const openFiles = (database: Database, statementIds: readonly string[], left: AbortSignal): Promise<WriteTo> =>
  openCopy(database, bytesOf(statementIds), left)

const hashing = { stallMs: 60_000, wholeMs: 10 * 60_000 }

/** The SHA-256 of a file that the transaction of this connection has stored. */
export async function hashStored(client: pg.Client, statementId: string): Promise<Buffer> {
  const hash = createHash('sha256')
  const taker = new Writable({
    write(bytes: Buffer, _encoding, done) {
      hash.update(bytes)
      done()
    },
  })
  await copyAsText(client, bytesOf([statementId]), hashing).writeTo(taker)
  return hash.digest()
}
