/** Writes the files of statements, and opens them as streams. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Database } from '../db/database.ts'
import { withLiterals } from '../db/literals.ts'
import { openCopy, type WriteTo } from '../db/streaming/open-copy.ts'
import type { NewStatement } from './closing-store.ts'
import type { Pace } from './pace.ts'
import { lineRecord, recordSource } from './record.ts'

const firstId = '00000000-0000-0000-0000-000000000000'

const bytesOf = (statementIds: readonly string[]): string =>
  withLiterals(
    `select bytes from unnest($1::uuid[]) with ordinality as asked (statement_id, n) join statement_files using (statement_id)
     order by n, piece`,
    [statementIds],
  )

/** Opens the files of statements, one after the other. `openCopy` describes `signal` and the errors. */
export const openFiles = (database: Database, statementIds: readonly string[], signal: AbortSignal): Promise<WriteTo> =>
  openCopy(database, bytesOf(statementIds), signal)

/**
 * Assigns the bank's next open lines (lines of no statement yet) to the statement, in the order of their confirmation.
 * Writes their records as a piece of the file. Only sales that were confirmed before the statement's end are included.
 * The update finds a line by its place in the table (`ctid`). No line moves meanwhile, because only a closing changes
 * lines, and it holds the bank's lock.
 *
 * @param limit the maximum number of lines. It is part of the text and not a parameter, so that the planner knows it
 */
const pieceText = (limit: number): string => `
  with last as materialized (
    select confirmed_at, order_id from statement_lines where statement_id = $1 and line = $2::int
  ), taken as materialized (
    select place, ($2::int + row_number() over (order by confirmed_at, order_id))::int as line from (
      select ctid as place, confirmed_at, order_id from statement_lines
      where bank_id = $3 and statement_id is null and confirmed_at < $4
        and (confirmed_at, order_id) > (
          coalesce((select confirmed_at from last), '-infinity'), coalesce((select order_id from last), '${firstId}'))
      order by confirmed_at, order_id limit ${limit}
    ) as next
  ), assigned as (
    update statement_lines l set statement_id = $1, line = taken.line from taken where l.ctid = taken.place returning l.*
  ), piece as materialized (
    select string_agg(${lineRecord}, '' order by l.line) as records, count(*)::int as lines
    from ${recordSource('(select $5::timestamptz as from_at, $6::numeric as commission_percentage)', 'assigned')}
    having count(*) > 0
  ), written as (
    insert into statement_files (statement_id, piece, bytes)
    select $1, $7::int, convert_to(records, 'UTF8') from piece
  )
  select records, lines, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as "firstUnused" from piece`

/** @property firstUnused the id that the next writing transaction will get (see `Pace`) */
type Piece = { records: string; lines: number; firstUnused: number }

const insertPiece = 'insert into statement_files (statement_id, piece, bytes) values ($1, $2, $3)'

export type FileWriter = {
  /**
   * Assigns the next lines to the statement, writes them, and then calls `pace.pause`. @returns whether there may be
   * more
   */
  writePiece(): Promise<boolean>
  /** Writes the end of the file. @returns the hash of the file */
  end(trailer: string): Promise<Buffer>
}

/** Writes the file of a statement in pieces: first the header, then the lines, and last the trailer. */
export async function beginFile(
  client: pg.Client,
  statement: NewStatement,
  { header, pace }: { header: string; pace: Pace },
): Promise<FileWriter> {
  const { statementId, bankId, from, to, commissionPercentage } = statement
  const hash = createHash('sha256')
  let pieces = 0
  let lines = 0
  const insert = async (text: string) => {
    const bytes = Buffer.from(text)
    await client.query(insertPiece, [statementId, pieces++, bytes])
    hash.update(bytes)
  }
  await insert(header)
  return {
    async writePiece() {
      const startMs = performance.now()
      const limit = pace.linesAtOnce()
      const values = [statementId, lines, bankId, to, from, commissionPercentage, pieces]
      const { rows } = await client.query<Piece>({ name: `statements.piece-${limit}`, text: pieceText(limit), values })
      const [piece] = rows
      if (!piece) return false
      hash.update(piece.records)
      pieces++
      lines += piece.lines
      await pace.pause(performance.now() - startMs, piece.firstUnused)
      return piece.lines === limit
    },
    async end(trailer) {
      await insert(trailer)
      return hash.digest()
    },
  }
}
