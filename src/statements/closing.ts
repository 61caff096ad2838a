/**
 * Closes the days that are over (contract/statements.md, "Days and closing"): one transaction for each bank and day, so that a process
 * that dies leaves the whole statement or nothing of it.
 */
import { randomUUID } from 'node:crypto'
import { clockOrigin } from '../audit-log/origin.ts'
import { tellEntries } from '../audit-log/tell.ts'
import type { Clock } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { tellEvents } from '../events/event-writing.ts'
import * as store from './closing-store.ts'
import { hasEveryLine, makeAllLines } from './lines-store.ts'
import { headerRecord, trailerRecords } from './record.ts'
import { beginningWith, dueSpan, nextSpan, type Standing, type StatementSpan } from './spans.ts'

export type ClosingDeps = {
  database: Database
  clock: Clock
  /** Told of every statement, for the metrics. */
  observe?: { statementClosed(): void }
}

/** One run ends after so long, so that a stop does not wait for many banks and days. */
const runMs = 2_000
const linesWithinMs = 10_000

export function standingOf({ last, firstOpen, timeZone }: store.BankState): Standing | null {
  if (last) return { from: last.to, day: last.day, timeZone }
  return firstOpen && beginningWith(firstOpen, timeZone)
}

/** The statement of a bank that is due; null: none. */
function dueOf(bank: store.BankState, now: Date): StatementSpan | null {
  const standing = standingOf(bank)
  return standing && dueSpan(standing, now)
}

/**
 * Closes statements that are due, for some seconds.
 *
 * @param waits false: a bank that another process is busy with is left to it
 * @returns whether there may be more
 */
export async function closeStatements(deps: ClosingDeps, waits: boolean): Promise<boolean> {
  const { database, clock } = deps
  if (!(await hasEveryLine(database))) return false
  // First: what nobody has seen yet may be a bank's first sale, or belong to the day that is closed now.
  await makeAllLines(database, linesWithinMs)
  const due = (await store.findBankStates(database)).filter(bank => dueOf(bank, clock.now()))
  const endAtMs = performance.now() + runMs
  for (const bank of due) {
    while (await isDue(deps, bank.bankId)) {
      if (!(await closeNext(deps, bank.bankId, waits))) break
      if (performance.now() > endAtMs) return true
    }
  }
  return false
}

/** Asked before a connection is made for a closing. */
async function isDue({ database, clock }: ClosingDeps, bankId: string): Promise<boolean> {
  const bank = await store.findBankState(database, bankId)
  return bank !== null && dueOf(bank, clock.now()) !== null
}

/** Closes one statement of a bank. @returns false: none is due, or another process is busy with the bank */
function closeNext(deps: ClosingDeps, bankId: string, waits: boolean): Promise<boolean> {
  return longTransaction(deps.database, async (_client, transaction) => {
    if (!(await store.takeBank(transaction, bankId, waits))) return false
    // A statement of its own, after the lock: it sees what another process has closed meanwhile.
    const bank = await store.findBankState(transaction, bankId)
    const now = deps.clock.now()
    const span = bank && dueOf(bank, now)
    if (!bank || !span) return false
    await close(transaction, bank, span, now)
    return true
  }).then(isClosed => {
    if (isClosed) deps.observe?.statementClosed()
    return isClosed
  })
}

async function close(transaction: Queryable, bank: store.BankState, span: StatementSpan, now: Date): Promise<void> {
  const { last, bankId, bankCode, timeZone, commissionPercentage } = bank
  const statement: store.NewStatement = {
    statementId: randomUUID(),
    bankId,
    number: (last?.number ?? 0) + 1,
    ...span,
    timeZone,
    closedAt: now,
    previousStatementId: last?.statementId ?? null,
    commissionPercentage,
  }
  await store.takeLines(transaction, statement)
  const sums = await store.sumLines(transaction, statement)
  const previousSha256 = last?.sha256 ?? null
  const header = headerRecord({ ...statement, bankCode, previousSha256 })
  const sha256 = await store.writeFile(transaction, statement, { header, trailer: trailerRecords(sums.totals) })
  await store.insertStatement(transaction, statement, { ...sums, sha256 })
  await tellOf(transaction, statement, sums, sha256)
}

/** The statement's bank and the platform get an event, and the bank's audit log an entry. */
async function tellOf(
  transaction: Queryable,
  { statementId, bankId, number, day, closedAt }: store.NewStatement,
  { totals }: store.Sums,
  sha256: Buffer,
): Promise<void> {
  const data = { statementId, number, day, totals }
  await tellEvents(transaction, [{ type: 'statement.closed', at: closedAt, banks: [bankId], platform: true, data }])
  await tellEntries(transaction, clockOrigin, [
    {
      action: 'statement.closed',
      object: { type: 'statement', id: statementId },
      owner: { type: 'bank', id: bankId },
      change: { number: [null, number], sha256: [null, sha256.toString('hex')] },
    },
  ])
}

/** Age of the oldest day that should be closed and is not, in seconds; 0: none. */
export async function lateSeconds(database: Queryable, now: Date): Promise<number> {
  const ages = (await store.findBankStates(database)).flatMap(bank => {
    const standing = standingOf(bank)
    return standing && dueSpan(standing, now) ? [now.getTime() - nextSpan(standing).to.getTime()] : []
  })
  return Math.max(0, ...ages) / 1000
}
