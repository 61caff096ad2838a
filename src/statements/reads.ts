/** What readers of closed statements ask for. */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findTimeZone } from '../esim/sold/figures-store.ts'
import { countDays, dayAfter, dayOf } from '../text/days.ts'
import { readFile } from './closing-store.ts'
import { type ClosedStatement, type DayRange, findLatest, findStatement, findStatements } from './read-store.ts'

const mostDays = 400
/** What is shown when no days are asked for. */
const usualDays = 30

/**
 * The days that are asked for; `to` is today if it is left out, `from` 30 days before `to`.
 *
 * @throws DomainError 'invalid' for days that are none, in the wrong order or more than 400
 */
export function rangeOf(asked: Partial<DayRange>, now: Date, timeZone: string): DayRange {
  const to = asked.to ?? dayOf(now, timeZone)
  countDays({ from: to, to }, mostDays)
  const range = { from: asked.from ?? dayAfter(to, -usualDays), to }
  countDays(range, mostDays)
  return range
}

/** @param statementId or `latest`. @throws DomainError 'not-found' */
export async function readStatement(
  database: Queryable,
  bankId: string,
  statementId: string,
): Promise<ClosedStatement> {
  const found =
    statementId === 'latest' ? await findLatest(database, bankId) : await findStatement(database, bankId, statementId)
  if (!found) throw new DomainError('not-found', 'There is no such statement')
  return found
}

export type StatementFile = { name: string; sha256: Buffer; bytes: AsyncIterable<Buffer> }

/** The file of one statement. @throws DomainError 'not-found' */
export async function readStatementFile(
  database: Queryable,
  bankId: string,
  statementId: string,
): Promise<StatementFile> {
  const { day, sha256 } = await readStatement(database, bankId, statementId)
  return { name: `statement-${day}.csv`, sha256: Buffer.from(sha256, 'hex'), bytes: readFile(database, statementId) }
}

/** The files of some days one after the other. They never change, so their digest can be told before they are sent. */
export async function readStatementFiles(
  deps: { database: Queryable; clock: Clock },
  bankId: string,
  asked: Partial<DayRange>,
): Promise<StatementFile> {
  const { database, clock } = deps
  const range = rangeOf(asked, clock.now(), await findTimeZone(database, bankId))
  const found = await findStatements(database, bankId, range, { before: null, limit: mostDays })
  const ids = found.map(({ statementId }) => statementId).reverse()
  const hash = createHash('sha256')
  for await (const bytes of filesOf(database, ids)) hash.update(bytes)
  return { name: `statements-${range.from}-${range.to}.csv`, sha256: hash.digest(), bytes: filesOf(database, ids) }
}

async function* filesOf(database: Queryable, statementIds: readonly string[]): AsyncGenerator<Buffer> {
  for (const statementId of statementIds) yield* readFile(database, statementId)
}

/** A page of the list. @param page.before only those with a lower number */
export async function listStatements(
  deps: { database: Queryable; clock: Clock },
  bankId: string,
  asked: Partial<DayRange>,
  page: { before: number | null; limit: number },
): Promise<ClosedStatement[]> {
  const { database, clock } = deps
  const range = rangeOf(asked, clock.now(), await findTimeZone(database, bankId))
  return findStatements(database, bankId, range, page)
}
