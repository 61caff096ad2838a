/** SQL that closes statements, and SQL that reads their stored files. */
import type { Queryable } from '../db/database.ts'
import { usualZoneName } from '../text/time-zones.ts'
import { commissionOf } from './commission.ts'
import type { TariffTotal } from './read-store.ts'
import type { CurrencyTotal } from './record.ts'

const closingLock = 7_365_031

/** The data of a bank that are needed to close its next statement. */
export type BankState = {
  bankId: string
  bankCode: string
  timeZone: string
  /** Decimal text. */
  commissionPercentage: string
  /** The last closed statement; null: none yet. */
  last: { statementId: string; number: number; day: string; to: Date; sha256: string } | null
  /** The time at which the earliest open line was confirmed. An open line is in no statement yet. */
  firstOpen: Date | null
}

type StateRow = Omit<BankState, 'last'> & {
  statementId: string | null
  number: number
  day: string
  to: Date
  sha256: string
}

const statesText = (condition: string): string => `
  select b.bank_id as "bankId", b.code as "bankCode", b.esim_time_zone as "timeZone",
         b.esim_commission_percentage::text as "commissionPercentage", s.statement_id as "statementId", s.number,
         s.day::text, s.to_at as "to", encode(s.sha256, 'hex') as sha256, l.confirmed_at as "firstOpen"
  from banks b
  left join lateral (select * from statements where bank_id = b.bank_id order by number desc limit 1) as s on true
  left join lateral (
    select confirmed_at from statement_lines where bank_id = b.bank_id and statement_id is null
    order by confirmed_at limit 1
  ) as l on true
  where (s.statement_id is not null or l.confirmed_at is not null) ${condition}
  order by b.code`

const stateOf = ({ statementId, number, day, to, sha256, ...bank }: StateRow): BankState => ({
  ...bank,
  // Older versions stored a name in any case.
  timeZone: usualZoneName(bank.timeZone),
  last: statementId === null ? null : { statementId, number, day, to, sha256 },
})

/** The states of all banks with sales. */
export async function findBankStates(database: Queryable): Promise<BankState[]> {
  return (await database.query<StateRow>(statesText(''))).map(stateOf)
}

/** @returns null when the bank has never sold */
export async function findBankState(database: Queryable, bankId: string): Promise<BankState | null> {
  const [row] = await database.query<StateRow>(statesText('and b.bank_id = $1'), [bankId])
  return row ? stateOf(row) : null
}

/**
 * Takes the lock for closing a bank's statements, until the transaction ends.
 *
 * @param waits whether to wait while another process holds it
 * @returns whether the lock is held
 */
export async function takeBank(transaction: Queryable, bankId: string, waits: boolean): Promise<boolean> {
  const key = `${closingLock}, hashtext($1)`
  const [row] = await transaction.query<{ taken: boolean }>(
    waits
      ? `select true as taken from pg_advisory_xact_lock(${key})`
      : `select pg_try_advisory_xact_lock(${key}) as taken`,
    [bankId],
  )
  return row?.taken === true
}

export type NewStatement = {
  statementId: string
  bankId: string
  bankCode: string
  number: number
  day: string
  timeZone: string
  from: Date
  to: Date
  closedAt: Date
  previousStatementId: string | null
  /** In hex; null for the first statement. */
  previousSha256: string | null
  commissionPercentage: string
}

/**
 * Begins the transaction of a closing, and switches off some ways to read and join tables. Otherwise the planner
 * sometimes reads the lines of all banks, or sorts all lines of the bank to take the next few.
 */
export const beginClosing = `begin; ${['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map(way => `set local enable_${way} = off`).join('; ')}`

/** The sums over the lines of a statement, as the API returns them. */
export type Sums = { totals: CurrencyTotal[]; byTariff: TariffTotal[]; lines: number; late: number }

/**
 * SQL for the sums.
 * @param cells the name of a query with the columns `currency`, `tariff_id`, `sales`, `amount`, `commission` and
 *   `late`. Each row may be the sum of several sales
 */
export const sumsText = (cells: string): string => `
  select (
    select coalesce(json_agg(json_build_object(
      'currency', currency, 'sales', sales, 'salesAmount', amount::text, 'credits', 0, 'creditsAmount', '0.00', 'gross', amount::text,
      'commission', commission::text, 'net', (amount - commission)::text) order by currency collate "C"), '[]')
    from (
      select currency, sum(sales) as sales, sum(amount) as amount, sum(commission) as commission from ${cells} group by currency
    ) as sums
  ) as totals, (
    select coalesce(json_agg(json_build_object(
      'operatorCode', m.code, 'tariffCode', t.code, 'currency', sums.currency, 'count', sales, 'amount', amount::text)
      order by m.code collate "C", t.code collate "C", sums.currency collate "C"), '[]')
    from (
      select tariff_id, currency, sum(sales) as sales, sum(amount) as amount from ${cells} group by tariff_id, currency
    ) as sums join tariffs t using (tariff_id) join mobile_operators m using (mobile_operator_id)
  ) as "byTariff", (select coalesce(sum(sales), 0)::int from ${cells}) as lines,
  (select coalesce(sum(late), 0)::int from ${cells}) as late`

/** Sums the lines that were assigned to the statement. The commission is computed once for all lines with the same amount. */
export async function sumLines(transaction: Queryable, statement: NewStatement): Promise<Sums> {
  const [sums] = await transaction.query<Sums>(
    `with priced as (
       select currency, tariff_id, amount, count(*) as sales, count(*) filter (where confirmed_at < $3) as late
       from statement_lines where statement_id = $1 group by currency, tariff_id, amount
     ), cells as materialized (
       select currency, tariff_id, sum(sales) as sales, sum(sales * amount) as amount,
              sum(sales * ${commissionOf('amount', '$2::numeric')}) as commission, sum(late) as late
       from priced group by currency, tariff_id
     ) ${sumsText('cells')}`,
    [statement.statementId, statement.commissionPercentage, statement.from],
  )
  if (!sums) throw new Error('An aggregate without groups has one row')
  return sums
}

/** The number of pieces of a file that are read at once. Together they are usually below 2 MB. */
const piecesAtOnce = 16

function readPieces(database: Queryable, statementId: string, from: number): Promise<{ bytes: Buffer }[]> {
  return database.query(
    {
      name: 'statements.pieces',
      text: 'select bytes from statement_files where statement_id = $1 and piece >= $2 order by piece limit $3',
    },
    [statementId, from, piecesAtOnce],
  )
}

/** The pieces of a statement's file, in order. The next pieces are read while the caller handles the present ones. */
export async function* readFile(database: Queryable, statementId: string): AsyncGenerator<Buffer> {
  let piece = 0
  for (let next: ReturnType<typeof readPieces> | null = readPieces(database, statementId, piece); next; ) {
    const rows: { bytes: Buffer }[] = await next
    piece += rows.length
    next = rows.length < piecesAtOnce ? null : readPieces(database, statementId, piece)
    // An error of this read is thrown when the loop awaits it. If the caller has stopped, nobody awaits it, so handle
    // the error here to prevent an unhandled rejection.
    next?.catch(() => {})
    for (const { bytes } of rows) yield bytes
  }
}

/** All pieces of some files, in order within each file. Use it only when all files together are short. */
export const readShortFiles = (
  database: Queryable,
  statementIds: readonly string[],
): Promise<{ statementId: string; bytes: Buffer }[]> =>
  database.query(
    `select statement_id as "statementId", bytes from statement_files where statement_id = any($1) order by statement_id, piece`,
    [statementIds],
  )

export async function insertStatement(
  transaction: Queryable,
  statement: NewStatement,
  { totals, byTariff, lines, late, sha256 }: Sums & { sha256: Buffer },
): Promise<void> {
  await transaction.execute(
    `insert into statements (statement_id, bank_id, number, day, time_zone, from_at, to_at, closed_at, previous_statement_id,
       commission_percentage, totals, by_tariff, lines, late, sha256)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      statement.statementId,
      statement.bankId,
      statement.number,
      statement.day,
      statement.timeZone,
      statement.from,
      statement.to,
      statement.closedAt,
      statement.previousStatementId,
      statement.commissionPercentage,
      JSON.stringify(totals),
      JSON.stringify(byTariff),
      lines,
      late,
      sha256,
    ],
  )
}
