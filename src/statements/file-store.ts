/** The stored files of statements, as bytes that are passed on as they arrive. */
import type { Database } from '../db/database.ts'
import { withLiterals } from '../db/literals.ts'
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
