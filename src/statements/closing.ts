/**
 * Closes days that are over (contract/statements.md, "Days and closing"). Each bank and day is one transaction, so a
 * process that dies leaves a whole statement or nothing.
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Clock } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { longTransactions, type Transact } from '../db/long-transaction.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { recordEvents } from '../outbox/event-writing.ts'
import { clockOrigin } from '../outbox/origin.ts'
import { forEachItem } from '../work/for-each.ts'
import * as store from './closing-store.ts'
import { beginFile } from './file-store.ts'
import { hasEveryLine, makeAllLines } from './lines-store.ts'
import { createPace, type Pace } from './pace.ts'
import { headerRecord, trailerRecords } from './record.ts'
import { beginningWith, dueSpan, nextSpan, type Standing, type StatementSpan } from './spans.ts'

export type ClosingDeps = {
  database: Database
  clock: Clock
  /** Called for every closed statement, for the metrics. */
  observe?: { statementClosed(): void }
}

/** After this time, a run starts no further statement, so that the process can stop quickly. */
const runMs = 2_000
const linesWithinMs = 10_000

/** How far the bank's days are closed; null: the bank has never sold. */
export function standingOf({ last, firstOpen, timeZone }: store.BankState): Standing | null {
  if (last) return { from: last.to, day: last.day, timeZone }
  return firstOpen && beginningWith(firstOpen, timeZone)
}

/** The period of the bank's next due statement; null: none is due. */
function dueOf(bank: store.BankState, now: Date): StatementSpan | null {
  const standing = standingOf(bank)
  return standing && dueSpan(standing, now)
}

/**
 * Closes due statements for some seconds. An error at one bank does not stop the others.
 *
 * @param waits whether to wait for a bank that another process is closing; otherwise it is skipped
 * @returns whether there may be more
 * @throws AggregateError at the end, which names the banks whose statements could not be closed
 */
export async function closeStatements(deps: ClosingDeps, waits: boolean): Promise<boolean> {
  const { database, clock } = deps
  if (!(await hasEveryLine(database))) return false
  // Create the lines of new sales first. A new sale may be the first sale of a bank, or belong to the day that is being
  // closed.
  await makeAllLines(database, linesWithinMs)
  const due = (await store.findBankStates(database)).filter(bank => dueOf(bank, clock.now()))
  if (due.length === 0) return false
  return longTransactions(database, store.beginClosing, async transact => {
    const endAtMs = performance.now() + runMs
    const pace = createPace()
    let isOver = false
    const closeAt = async ({ bankId }: store.BankState) => {
      while (!isOver && (await closeIn(transact, deps, { bankId, waits, pace }))) isOver = performance.now() > endAtMs
    }
    await forEachItem(due, ({ bankId }) => `bank ${bankId}`, closeAt)
    return isOver
  })
}

/**
 * Closes one statement of a bank.
 *
 * @param waits whether to wait while another process closes a statement of this bank
 * @returns false when none is due, or when another process is closing one and `waits` is false
 */
export const closeNext = (deps: ClosingDeps, bankId: string, waits: boolean): Promise<boolean> =>
  longTransactions(deps.database, store.beginClosing, transact =>
    closeIn(transact, deps, { bankId, waits, pace: createPace() }),
  )

async function closeIn(
  transact: Transact,
  { clock, observe }: ClosingDeps,
  { bankId, waits, pace }: { bankId: string; waits: boolean; pace: Pace },
): Promise<boolean> {
  const isClosed = await transact(async (transaction, client) => {
    if (!(await store.takeBank(transaction, bankId, waits))) return false
    // Read the bank with a separate query after the lock, so that it sees a statement that another process has just
    // closed.
    const bank = await store.findBankState(transaction, bankId)
    const now = clock.now()
    const span = bank && dueOf(bank, now)
    if (!bank || !span) return false
    await close(transaction, client, newStatement(bank, span, now), pace)
    return true
  })
  if (isClosed) observe?.statementClosed()
  return isClosed
}

function newStatement(bank: store.BankState, span: StatementSpan, now: Date): store.NewStatement {
  const { last, bankId, bankCode, timeZone, commissionPercentage } = bank
  return {
    statementId: randomUUID(),
    bankId,
    bankCode,
    number: (last?.number ?? 0) + 1,
    ...span,
    timeZone,
    closedAt: now,
    previousStatementId: last?.statementId ?? null,
    previousSha256: last?.sha256 ?? null,
    commissionPercentage,
  }
}

async function close(
  transaction: Queryable,
  client: pg.Client,
  statement: store.NewStatement,
  pace: Pace,
): Promise<void> {
  const file = await beginFile(client, statement, { header: headerRecord(statement), pace })
  while (await file.writePiece());
  const sums = await store.sumLines(transaction, statement)
  const sha256 = await file.end(trailerRecords(sums.totals))
  await store.insertStatement(transaction, statement, { ...sums, sha256 })
  await announce(transaction, statement, sums, sha256)
}

/** Writes events for the bank and the platform, and an entry in the bank's audit log. */
async function announce(
  transaction: Queryable,
  { statementId, bankId, number, day, closedAt }: store.NewStatement,
  { totals }: store.Sums,
  sha256: Buffer,
): Promise<void> {
  const data = { statementId, number, day, totals }
  await recordEvents(transaction, [{ type: 'statement.closed', at: closedAt, banks: [bankId], platform: true, data }])
  await recordEntries(transaction, clockOrigin, [
    {
      action: 'statement.closed',
      object: { type: 'statement', id: statementId },
      owner: { type: 'bank', id: bankId },
      change: { number: [null, number], sha256: [null, sha256.toString('hex')] },
    },
  ])
}

/** How long ago the oldest overdue day ended, in seconds; 0: no day is overdue. */
export async function lateSeconds(database: Queryable, now: Date): Promise<number> {
  const ages = (await store.findBankStates(database)).flatMap(bank => {
    const standing = standingOf(bank)
    return standing && dueSpan(standing, now) ? [now.getTime() - nextSpan(standing).to.getTime()] : []
  })
  return Math.max(0, ...ages) / 1000
}
