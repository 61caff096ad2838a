/** SQL that reads closed statements and their lines. */
import type { Queryable } from '../db/database.ts'
import type { CurrencyTotal } from './record.ts'
import { lineSource, lineValues } from './record.ts'

export type TariffTotal = {
  operatorCode: string
  tariffCode: string
  currency: string
  count: number
  amount: string
}

/** A statement, open or closed. An open statement has no id, number or file. */
export type Statement = {
  statementId: string | null
  number: number | null
  /** `yyyy-mm-dd` */
  day: string
  timeZone: string
  from: Date
  to: Date
  closedAt: Date | null
  previousStatementId: string | null
  /** Decimal text with 4 places. */
  commissionPercentage: string
  totals: CurrencyTotal[]
  byTariff: TariffTotal[]
  late: number
  /** The hash of the file in hex. */
  sha256: string | null
}
export type ClosedStatement = Statement & { statementId: string; number: number; closedAt: Date; sha256: string }

export const statementColumns = `
  s.statement_id as "statementId", s.number, s.day::text, s.time_zone as "timeZone", s.from_at as "from", s.to_at as "to",
  s.closed_at as "closedAt", s.previous_statement_id as "previousStatementId",
  s.commission_percentage::text as "commissionPercentage", s.totals, s.by_tariff as "byTariff", s.late,
  encode(s.sha256, 'hex') as sha256`

/** Days, both inclusive. */
export type DayRange = { from: string; to: string }

/**
 * A bank's statements in a range of days, newest first.
 *
 * @param page.before only statements with a lower number
 */
export function findStatements(
  database: Queryable,
  bankId: string,
  { from, to }: DayRange,
  page: { before: number | null; limit: number },
): Promise<ClosedStatement[]> {
  return database.query(
    `select ${statementColumns} from statements s
     where bank_id = $1 and day between $2 and $3 and ($4::bigint is null or number < $4) order by day desc limit $5`,
    [bankId, from, to, page.before, page.limit],
  )
}

/** @returns null when the bank has no such statement */
export async function findStatement(
  database: Queryable,
  bankId: string,
  statementId: string,
): Promise<ClosedStatement | null> {
  const [found] = await database.query<ClosedStatement>(
    `select ${statementColumns} from statements s where statement_id = $1 and bank_id = $2`,
    [statementId, bankId],
  )
  return found ?? null
}

/** @returns null when the bank has no statement */
export async function findLatest(database: Queryable, bankId: string): Promise<ClosedStatement | null> {
  const [found] = await database.query<ClosedStatement>(
    `select ${statementColumns} from statements s where bank_id = $1 order by number desc limit 1`,
    [bankId],
  )
  return found ?? null
}

export type StatementLine = {
  line: number
  type: 'sale' | 'credit'
  orderId: string
  externalId: string
  paymentReference: string | null
  operatorCode: string
  tariffCode: string
  tariffName: string
  confirmedAt: string
  currency: string
  amount: string
  commission: string
  net: string
  late: boolean
  creditOf: string | null
}

const lineColumns = Object.entries(lineValues)
  .map(([name, value]) => `${value} as "${name}"`)
  .join(', ')

/** The lines of a closed statement, in order. @param page.after only lines with a higher number */
export function findLines(
  database: Queryable,
  statementId: string,
  page: { after: number; limit: number },
): Promise<StatementLine[]> {
  return database.query(
    `select ${lineColumns} from ${lineSource('(select * from statements where statement_id = $1)')}
     where l.statement_id = s.statement_id and l.line > $2::bigint order by l.line limit $3`,
    [statementId, page.after, page.limit],
  )
}
