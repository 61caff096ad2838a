/**
 * Sends long texts to the database. As one parameter a text of 10 MB would block this thread for some 10 ms, because
 * the driver copies it several times. So it is sent in pieces before the statement that needs it.
 */
import { randomUUID } from 'node:crypto'
import type { Queryable, Statement } from './database.ts'

const insertPiece: Statement = {
  name: 'staged-text.insert',
  text: 'insert into staged_texts (staged_id, place, piece) values ($1, $2, $3)',
}

/**
 * A text as two parameters of a statement: the text itself, or the id under which it is stored in `staged_texts`. The
 * other parameter is null; for no text, both are null.
 */
export type GivenText = readonly [text: Uint8Array | null, stagedId: string | null]
export const noText: GivenText = [null, null]

/**
 * Passes a text to `work` as two parameters for its statements. The statements read the text with `givenText`.
 *
 * @param text the text as UTF-8, in chunks of some 64 KiB; null for no text
 */
export async function withGivenText<T>(
  transaction: Queryable,
  text: readonly Uint8Array[] | null,
  work: (input: GivenText) => Promise<T>,
): Promise<T> {
  const [only = null, ...more] = text ?? []
  if (text === null || more.length === 0) return work([only, null])
  const stagedId = randomUUID()
  for (const [place, piece] of text.entries()) await transaction.execute(insertPiece, [stagedId, place, piece])
  const result = await work([null, stagedId])
  await transaction.execute('delete from staged_texts where staged_id = $1', [stagedId])
  return result
}

/** Builds SQL that reads a text from the two parameters of a `GivenText`. @param text a parameter, such as `$1` */
export const givenText = (text: string, stagedId: string): string =>
  `coalesce(${text}::text, (select convert_from(string_agg(piece, ''::bytea order by place), 'UTF8')
     from staged_texts where staged_id = ${stagedId}::uuid))`
