/** Schemas of statements. */
import Type from 'typebox'
import { nullable } from '../http/openapi/operations.ts'
import { closed, count, flag, instant, text, uuid } from '../http/schemas.ts'
import { listParameters, newestFirstOf } from '../partner/lists.ts'

const someId = '5d0f8c1e-2a74-4f0b-9a15-6c3e7d9b8f20'
const someHash = 'a13ce3e4d03a6ccc37089ca1d5a3669dbd291b9d0af3414438535c802df768a9'
const day = (description: string, example: string) => Type.String({ format: 'date', description, examples: [example] })
const amount = (description: string, example = '399.00') => text(`${description}: a decimal with 2 places`, example)

const days = {
  from: Type.Optional(day('First day; left out, 30 days before `to`', '2026-11-01')),
  to: Type.Optional(
    day('Last day, at most 400 days in all; left out, today, or `from` if that is later', '2026-11-30'),
  ),
}
export const DaysQuery = Type.Object(days, closed)
export const StatementsQuery = Type.Object({ ...days, ...listParameters }, closed)
export const LinesQuery = Type.Object(listParameters, closed)
export const StatementPath = Type.Object({ statementId: uuid('The statement', someId) })

const Totals = Type.Array(
  Type.Object(
    {
      currency: text('ISO 4217', 'UAH'),
      sales: count('Lines of type sale', 12),
      salesAmount: amount('Their sum', '4788.00'),
      credits: count('Lines of type credit', 0),
      creditsAmount: amount('Their sum', '0.00'),
      gross: amount('Sales and credits together', '4788.00'),
      commission: amount('What the bank keeps', '0.00'),
      net: amount('What the bank owes', '4788.00'),
    },
    { title: 'StatementTotal' },
  ),
  { description: 'By currency, in alphabetical order' },
)

const fields = {
  statementId: nullable(uuid('The statement; null: it is not closed yet', someId)),
  number: nullable(
    Type.Integer({
      minimum: 1,
      description: 'Number of the statement; a bank’s numbers have no gaps',
      examples: [417],
    }),
  ),
  closed: flag('A closed statement never changes'),
  day: day('The local date of its last instant', '2026-11-22'),
  timeZone: text('The time zone of the day', 'Europe/Kyiv'),
  from: instant('Its first instant', '2026-11-21T22:00:00.000Z'),
  to: instant('The first instant after it', '2026-11-22T22:00:00.000Z'),
  closedAt: nullable(instant('When it was closed', '2026-11-22T22:01:02.000Z')),
  previousStatementId: nullable(uuid('The one before it; null: it is the first', someId)),
  commissionPercentage: text('What the bank keeps of each sale, in per cent: a decimal with 4 places', '0.0000'),
  totals: Totals,
  byTariff: Type.Array(
    Type.Object(
      {
        operatorCode: text('Mobile operator', 'kyivstar'),
        tariffCode: text('Tariff', 'eu-10gb'),
        currency: text('ISO 4217', 'UAH'),
        count: count('Lines', 12),
        amount: amount('Their sum', '4788.00'),
      },
      { title: 'StatementTariff' },
    ),
    { description: 'Sales by tariff' },
  ),
  late: count('Lines of earlier days', 0),
  sha256: nullable(text('SHA-256 of the CSV file’s bytes, in hex', someHash)),
}

/** The records of the file (contract/statements.md, "The file"), for callers who have only the OpenAPI document. */
export const recordsDescription =
  'Each line is a record, and its first column is the type. `H`, the header: format version, bank code, day, time zone, from, to, ' +
  'number, SHA-256 of the file before (`-` for the first). `D`, one for each sale: line, type, orderId, externalId, ' +
  'paymentReference, operatorCode, tariffCode, tariffName, confirmedAt, currency, amount, commission, net, late (0 or 1), creditOf. ' +
  '`T`, one for each currency: currency, sales, salesAmount, credits, creditsAmount, gross, commission, net; without any sale one ' +
  'with the currency `-` and zeros. Quotes only where needed, CRLF, UTF-8'

export const Statement = Type.Object(fields, { title: 'Statement', description: 'The statement of a day' })
export const StatementsPage = newestFirstOf(Statement, 'Statements, newest first')

const Line = Type.Object(
  {
    line: Type.Integer({
      minimum: 1,
      description: 'Number of the line; lines are in the order of confirmedAt and orderId',
      examples: [1],
    }),
    type: Type.Enum(['sale', 'credit'], {
      title: 'LineType',
      description: 'credit: a refund, with negative amounts; reserved for later. New values may be added',
    }),
    orderId: uuid('The order', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'),
    externalId: text('The bank’s own identifier of the order', 'payment-42'),
    paymentReference: nullable(text('The bank’s own reference of the payment, as the confirm gave it', 'PR-9')),
    operatorCode: text('Mobile operator', 'kyivstar'),
    tariffCode: text('Tariff', 'eu-10gb'),
    tariffName: text('Name of the tariff when the line was made', 'Europe 10 GB'),
    confirmedAt: instant('When the order was confirmed', '2026-11-22T08:05:00.000Z'),
    currency: text('ISO 4217', 'UAH'),
    amount: amount('Price at the reservation'),
    commission: amount('What the bank keeps of the amount', '0.00'),
    net: amount('What the bank owes'),
    late: flag('It belongs to an earlier day, whose statement was closed before the line was made'),
    creditOf: nullable(uuid('For a credit: the order of its sale', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11')),
  },
  { title: 'StatementLine', description: 'A line of a statement' },
)

export const LinesPage = Type.Object(
  {
    data: Type.Array(Line, { description: 'The lines, in their order' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `cursor` to get the next page; null: this is the last page',
      examples: ['WzEwMF0.Vf8mRz1xq0kQy1aJ'],
    }),
  },
  { description: 'Lines of a closed statement' },
)
