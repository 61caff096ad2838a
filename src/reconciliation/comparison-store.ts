/**
 * Reports against the campaign's terms and against each other, as sets inside the database: a million lines are never in our memory.
 * All of it happens in the uploading transaction before it locks the campaign.
 */
import type { Queryable } from '../db/database.ts'
import * as sql from './comparison-sql.ts'
import { type CountsByKind, countEveryKind, type DifferenceKind, type Side, sides } from './differences.ts'

/** Makes the tables for lines, and sets this transaction up for millions of them. */
export async function prepareComparison(transaction: Queryable): Promise<void> {
  await transaction.execute(`set local work_mem = '64MB'`)
  await transaction.execute('set local jit = off')
  // An upload has limits of its own; between two of its pieces the transaction is idle.
  await transaction.execute('set local idle_in_transaction_session_timeout = 0')
  for (const side of sides) await transaction.execute(sql.createLines(side))
}

export async function insertChunk(
  transaction: Queryable,
  given: { reportId: string; chunk: number; bytes: Buffer },
): Promise<void> {
  const text = 'insert into report_chunks (report_id, chunk, bytes) values ($1, $2, $3)'
  await transaction.execute({ name: 'reports.insert-chunk', text }, [given.reportId, given.chunk, given.bytes])
}

/** Which reports are held against the terms and each other, by their ids; null: that side has none. */
export type Compared = { reconciliationId: number } & Record<Side, string | null>

/** @returns null before the first report */
export async function findCompared(
  transaction: Queryable,
  given: { cashbackId: string; bankId: string },
): Promise<Compared | null> {
  const [row] = await transaction.query<Compared>(
    `select reconciliation_id as "reconciliationId", bank_report_id as bank, merchant_report_id as merchant
     from reconciliations where cashback_id = $1 and bank_id = $2`,
    [given.cashbackId, given.bankId],
  )
  return row ?? null
}

/** What an upload has led to; amounts are decimal texts. */
export type Comparison = {
  reconciliationId: number
  lines: number
  totalAmount: string
  totalCashback: string
  /** Of the bank's latest report, whoever uploaded now. */
  expectedCompensation: string
  /** Transactions that both reports name with the same amount; null while there is no merchant's report. */
  matched: number | null
  counts: CountsByKind
}

/**
 * Keeps the lines that were loaded for a report in the place of those of its side's report before, and finds all differences anew.
 *
 * @param given.before what was compared until now
 */
export async function compareReports(
  transaction: Queryable,
  given: { cashbackId: string; reportId: string; side: Side; before: Compared | null },
): Promise<Comparison> {
  const { cashbackId, side, before } = given
  await replaceLines(transaction, given)
  const other = side === 'bank' ? 'merchant' : 'bank'
  const otherReportId = before?.[other] ?? null
  if (otherReportId !== null) await fetchLines(transaction, other, otherReportId)
  await transaction.execute(sql.createTerminals)
  await transaction.execute(sql.listTerminals, [cashbackId])
  await transaction.execute('analyze campaign_terminals')
  for (const one of sides) await checkLines(transaction, one, cashbackId)

  const isMatched = otherReportId !== null
  const { reconciliationId, counts } = await insertDifferences(transaction, cashbackId, isMatched)
  const [totals] = await transaction.query<Pick<Comparison, 'lines' | 'totalAmount' | 'totalCashback'>>(
    sql.readTotals(side),
  )
  const [bank] = await transaction.query<{ transactions: number; expectedCompensation: string }>(sql.readCompensation, [
    cashbackId,
  ])
  if (!totals || !bank) throw new Error('A select of sums has one row')
  const { transactions, expectedCompensation } = bank
  const matched = isMatched ? transactions - counts['amount-differs'] - counts['only-in-bank-report'] : null
  return { ...totals, reconciliationId, expectedCompensation, matched, counts }
}

async function replaceLines(
  transaction: Queryable,
  { reportId, side, before }: { reportId: string; side: Side; before: Compared | null },
): Promise<void> {
  const table = sql.linesTable[side]
  await transaction.execute(`analyze ${table}`)
  if (before) {
    await transaction.execute('delete from report_differences where reconciliation_id = $1', [before.reconciliationId])
    await transaction.execute('delete from report_lines where report_id = $1', [before[side]])
  }
  const columns = sql.lineColumns
  await transaction.execute(
    `insert into report_lines (report_id, ${columns}) select $1, ${columns} from ${table} order by line`,
    [reportId],
  )
}

async function fetchLines(transaction: Queryable, side: Side, reportId: string): Promise<void> {
  const columns = sql.lineColumns
  await transaction.execute(
    `insert into ${sql.linesTable[side]} (${columns}) select ${columns} from report_lines where report_id = $1`,
    [reportId],
  )
  await transaction.execute(`analyze ${sql.linesTable[side]}`)
}

/** With `analyze`, as what the planner does not know of a new table makes it walk over all of one for each line of another. */
async function checkLines(transaction: Queryable, side: Side, cashbackId: string): Promise<void> {
  await transaction.execute(sql.createChecked(side))
  await transaction.execute(sql.checkLines(side), [cashbackId])
  await transaction.execute(`analyze ${sql.checkedTable[side]}`)
}

async function insertDifferences(transaction: Queryable, cashbackId: string, isMatched: boolean) {
  const [made] = await transaction.query<{ reconciliationId: number }>(
    `select nextval(pg_get_serial_sequence('reconciliations', 'reconciliation_id')) as "reconciliationId"`,
  )
  const reconciliationId = made?.reconciliationId ?? 0
  const counts: Partial<CountsByKind> = {}
  const insert = async (statement: string, ...values: unknown[]) => {
    const rows = await transaction.query<{ kind: DifferenceKind; count: number }>(
      `with added as (${statement} returning kind) select kind, count(*) as count from added group by kind`,
      [reconciliationId, ...values],
    )
    for (const { kind, count } of rows) counts[kind] = (counts[kind] ?? 0) + count
  }
  for (const side of sides) await insert(sql.insertTermDifferences(side), cashbackId)
  if (isMatched) await insert(sql.insertMatchDifferences)
  return { reconciliationId, counts: countEveryKind(counts) }
}
