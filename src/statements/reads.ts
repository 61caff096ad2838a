/** Reads of a bank's closed statements. */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { findTimeZone } from '../esim/sold/figures-store.ts'
import { countDays, dayAfter, dayOf, requireDays } from '../text/days.ts'
import { readFile } from './closing-store.ts'
import { type ClosedStatement, type DayRange, findLatest, findStatement, findStatements } from './read-store.ts'

const maxDays = 400
/** How many days before `to` the list begins when the request has no `from`. */
const defaultDaysBefore = 30

/**
 * The range of days of a request. Without `to` it ends today, or at `from` if that is later; without `from` it begins 30 days
 * before its end.
 *
 * @throws DomainError 'invalid' for invalid days, a wrong order, or more than 400 days
 */
export function rangeOf(params: Partial<DayRange>, now: Date, timeZone: string): DayRange {
  requireDays(params)
  const today = dayOf(now, timeZone)
  const to = params.to ?? (params.from !== undefined && params.from > today ? params.from : today)
  const range = { from: params.from ?? dayAfter(to, -defaultDaysBefore), to }
  countDays(range, maxDays)
  return range
}

/** The range of days of a bank's request, in the bank's time zone. @throws as `rangeOf` */
export async function readRange(
  { database, clock }: { database: Queryable; clock: Clock },
  bankId: string,
  params: Partial<DayRange>,
): Promise<DayRange> {
  return rangeOf(params, clock.now(), await findTimeZone(database, bankId))
}

/** @param statementId an id, or `latest`. @throws DomainError 'not-found' when the bank has no such statement */
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

/** Files of statements, one after the other. The hash is over all their bytes. */
export type StatementFile = { name: string; sha256: Buffer; statementIds: readonly string[] }

/** The file of one statement. @throws DomainError 'not-found' when the bank has no such statement */
export async function readStatementFile(
  database: Queryable,
  bankId: string,
  statementId: string,
): Promise<StatementFile> {
  const { day, sha256 } = await readStatement(database, bankId, statementId)
  return { name: `statement-${day}.csv`, sha256: Buffer.from(sha256, 'hex'), statementIds: [statementId] }
}

/** The files of a range of days, concatenated. Files never change, so we can send their digest before their bytes. */
export async function readStatementFiles(
  deps: { database: Queryable; clock: Clock },
  bankId: string,
  params: Partial<DayRange>,
): Promise<StatementFile> {
  const { database } = deps
  const range = await readRange(deps, bankId, params)
  const found = await findStatements(database, bankId, range, { before: null, limit: maxDays })
  const ids = found.map(({ statementId }) => statementId).reverse()
  const hash = createHash('sha256')
  for (const id of ids) for await (const bytes of readFile(database, id)) hash.update(bytes)
  return { name: `statements-${range.from}-${range.to}.csv`, sha256: hash.digest(), statementIds: ids }
}
