/**
 * The records of a statement's file (contract/statements.md, "The file"): a header, one record for each line, and one
 * for each currency.
 */
import { shownInstant } from '../db/instants.ts'
import { commissionOf } from './commission.ts'

const formatVersion = 1

export type CurrencyTotal = {
  /** ISO 4217. */
  currency: string
  sales: number
  /** A decimal string with two places, like the other amounts. */
  salesAmount: string
  credits: number
  creditsAmount: string
  gross: string
  commission: string
  net: string
}

export type HeaderValues = {
  bankCode: string
  day: string
  timeZone: string
  from: Date
  to: Date
  number: number
  /** In hex; null for the first statement. */
  previousSha256: string | null
}

/** A CSV value for programs: quoted only where RFC 4180 requires it, and otherwise unchanged. */
const cell = (value: string | number): string => {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const record = (values: readonly (string | number)[]): string => `${values.map(cell).join(',')}\r\n`

export const headerRecord = ({ bankCode, day, timeZone, from, to, number, previousSha256 }: HeaderValues): string =>
  record([
    'H',
    formatVersion,
    bankCode,
    day,
    timeZone,
    from.toISOString(),
    to.toISOString(),
    number,
    previousSha256 ?? '-',
  ])

const noTotal: CurrencyTotal = {
  currency: '-',
  sales: 0,
  salesAmount: '0.00',
  credits: 0,
  creditsAmount: '0.00',
  gross: '0.00',
  commission: '0.00',
  net: '0.00',
}

export const trailerRecords = (totals: readonly CurrencyTotal[]): string =>
  (totals.length > 0 ? totals : [noTotal])
    .map(({ currency, sales, salesAmount, credits, creditsAmount, gross, commission, net }) =>
      record(['T', currency, sales, salesAmount, credits, creditsAmount, gross, commission, net]),
    )
    .join('')

const sqlCell = (value: string): string =>
  `case when ${value} ~ '[",\\r\\n]' then '"' || replace(${value}, '"', '""') || '"' else coalesce(${value}, '') end`

/** SQL for the values of a line, in the order of the file and of answers. The columns come from `lineSource`. */
export const lineValues = {
  line: 'l.line',
  type: `'sale'`,
  orderId: 'l.order_id',
  externalId: 'l.external_id',
  paymentReference: 'l.payment_reference',
  operatorCode: 't.operator_code',
  tariffCode: 't.code',
  tariffName: 'l.tariff_name',
  confirmedAt: shownInstant('l.confirmed_at'),
  currency: 'l.currency',
  amount: 'l.amount::text',
  commission: 'c.commission::text',
  net: '(l.amount - c.commission)::text',
  late: 'l.confirmed_at < s.from_at',
  creditOf: 'null::uuid',
} as const

/** SQL for the tables that `lineValues` reads. @param statement a query with `from_at` and `commission_percentage` */
export const lineSource = (statement: string): string => `
  ${statement} as s
  cross join statement_lines l
  cross join lateral (
    select t.code, m.code as operator_code from tariffs t join mobile_operators m using (mobile_operator_id)
    where t.tariff_id = l.tariff_id offset 0
  ) as t
  cross join lateral (select ${commissionOf('l.amount', 's.commission_percentage')} as commission) as c`

/**
 * Like `lineSource`, but for `lineRecord`. PostgreSQL builds the cells with the codes of a tariff only once for
 * consecutive lines of the same tariff.
 */
export const recordSource = (statement: string, lines: string): string => `
  ${statement} as s
  cross join ${lines} l
  cross join lateral (
    select ${sqlCell('m.code')} || ',' || ${sqlCell('t.code')} as codes from tariffs t join mobile_operators m using (mobile_operator_id)
    where t.tariff_id = l.tariff_id offset 0
  ) as t
  cross join lateral (select ${commissionOf('l.amount', 's.commission_percentage')} as commission offset 0) as c`

const texts = ['externalId', 'paymentReference', 'tariffName'] as const

/**
 * SQL for the record of a line, over `recordSource`. No cell may be null, because `concat_ws` would leave out a null
 * cell.
 */
export const lineRecord: string = `concat_ws(',', 'D', ${Object.entries(lineValues)
  .flatMap(([name, value]) => {
    if (texts.some(text => text === name)) return sqlCell(value)
    if (name === 'operatorCode') return 't.codes'
    if (name === 'tariffCode') return []
    if (name === 'late') return `(${value})::int`
    return name === 'creditOf' ? `''` : value
  })
  .join(', ')}) || E'\\r\\n'`
