/** The statement that will be closed next, with its content so far (contract/statements.md, "The open statement"). */
import type { Clock } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { readFigures, spanCells, spanValues } from '../esim/sold/figures-store.ts'
import { standingOf } from './closing.ts'
import { type BankState, findBankState, type Sums, sumsText } from './closing-store.ts'
import { commissionOf } from './commission.ts'
import { makeAllLines } from './lines-store.ts'
import type { Statement } from './read-store.ts'
import { dueSpan, nextSpan, type StatementSpan } from './spans.ts'

const linesWithinMs = 2_000
const maxTries = 10

export type OpenDeps = { database: Database; reads: Queryable; clock: Clock }

/**
 * Reads the open statement of a bank. It contains every sale of its period that was confirmed before the call. After the
 * period has ended, and until the statement is closed, newer sales belong to the next statement, which is not shown.
 *
 * @param deps.database for creating lines
 * @param deps.reads for reading figures
 * @throws DomainError 'not-found' for a bank that has never sold; 'unavailable' while many lines are being created
 */
export async function readOpen(deps: OpenDeps, bankId: string): Promise<Statement> {
  await makeAllLines(deps.database, linesWithinMs)
  for (let tried = 0; tried < maxTries; tried++) {
    const bank = await findBankState(deps.reads, bankId)
    const standing = bank && standingOf(bank)
    if (!bank || !standing) throw new DomainError('not-found', 'There is no statement: nothing was sold yet')
    const span = dueSpan(standing, deps.clock.now()) ?? nextSpan(standing)
    const sums = await sumOpen(deps.reads, bank, span)
    if (sums.number === (bank.last?.number ?? 0)) return openStatement(bank, span, sums)
  }
  throw new DomainError('unavailable', 'Statements are being closed; try again', { retryAfterSeconds: 5 })
}

/**
 * Sums the sales of the period from the stored figures and the newer outbox rows. Late sales were confirmed before the
 * period, but are in no statement yet; their lines are added.
 *
 * @returns the sums, and the number of the last closed statement. If this number differs from `bank.last`, a statement
 *   was closed meanwhile, and the sums do not match the period
 */
async function sumOpen(database: Queryable, bank: BankState, span: StatementSpan): Promise<Sums & { number: number }> {
  const [sums] = await readFigures<Sums & { number: number }>(database, {
    ofBank: '$4',
    parts: `${spanCells}
      ), priced as (
        select tariff_id, currency, price, sum(orders) as sales from cells where outcome = 'confirmed' group by tariff_id, currency, price
      ), sold as (
        select tariff_id, currency, sales, sales * price as amount, sales * ${commissionOf('price', '$16::numeric')} as commission, 0 as late
        from priced where sales <> 0
        union all
        select tariff_id, currency, 1, amount, ${commissionOf('amount', '$16::numeric')}, 1
        from statement_lines where bank_id = $4 and statement_id is null and confirmed_at < $17
      )`,
    select: `${sumsText('sold')}, (select coalesce(max(number), 0) from statements where bank_id = $4) as number`,
    values: [...spanValues(bank.bankId, [span.from, span.to]), bank.commissionPercentage, span.from],
  })
  if (!sums) throw new Error('An aggregate without groups has one row')
  return sums
}

function openStatement(bank: BankState, span: StatementSpan, { totals, byTariff, late }: Sums): Statement {
  return {
    statementId: null,
    number: null,
    ...span,
    timeZone: bank.timeZone,
    closedAt: null,
    previousStatementId: bank.last?.statementId ?? null,
    commissionPercentage: bank.commissionPercentage,
    totals,
    byTariff,
    late,
    sha256: null,
  }
}
