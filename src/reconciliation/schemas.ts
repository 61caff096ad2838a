/**
 * The schemas of reconciliation (contract/portal.md, "Reads"). Validation, types, answers and the OpenAPI document all
 * use them.
 */
import Type from 'typebox'
import { participation } from '../campaigns/campaign-schemas.ts'
import { CampaignStatus } from '../campaigns/schemas.ts'
import { named, nullable } from '../http/openapi/operations.ts'
import { pageOf, pagingParameters } from '../http/paging.ts'
import { closed, count, instant, money, text, uuid } from '../http/schemas.ts'
import { plainLines } from '../text/text-rules.ts'
import { type DifferenceKind, differenceKinds, sides } from './differences.ts'
import { maxReportLines } from './report-lines.ts'

export const maxCommentCharacters = 1_000

const reportExample = 'c0ffee00-3f2b-4c55-9a70-2f4d6f0b1a01'
export const PartPath = Type.Object({
  cashbackId: uuid('The campaign'),
  bankId: uuid('The bank, which is invited to it'),
})
export const ReportPath = Type.Object({ reportId: uuid('The report', reportExample) })
const file = Type.Unsafe<string>({
  type: 'string',
  format: 'binary',
  contentMediaType: 'text/csv',
  description:
    'The report: CSV with a header, at most 256 MiB and ' +
    `${maxReportLines.toLocaleString('en')} lines. ` +
    'Columns, in any order: `transactionId` and `terminalId` ' +
    '(one line of 1 to 128 characters each), `transactionAt` (ISO 8601 with a time zone), `amount` and `cashbackAmount` ' +
    '(decimal numbers of 0 or more with at most 2 decimals and a point). A file in which at least half of the lines ' +
    'have a card number as ' +
    '`transactionId` is refused.',
})
export const BankReportForm = Type.Object({ file }, closed)
export const MerchantReportForm = Type.Object(
  {
    file,
    comment: Type.Optional(
      Type.String({
        maxLength: maxCommentCharacters,
        pattern: plainLines,
        description: 'A comment for the bank',
        examples: ['Two receipts of 3 December are not ours'],
      }),
    ),
  },
  closed,
)

const meanings: Record<DifferenceKind, string> = {
  'outside-period': 'the transaction is not within the campaign’s period',
  'unknown-terminal': 'the campaign does not apply at the terminal',
  'amount-out-of-range': 'the amount is below `minAmount` or above `maxAmount`',
  'wrong-cashback': 'the cashback is not `amount × percentage / 100`, rounded half up to 2 decimals',
  'repeated-transaction': 'an earlier line of the report names the same transaction; the earlier line counts',
  'budget-exceeded':
    'with this line the cashback of the bank’s lines that break nothing else comes to more than `maxBudget`',
  'amount-differs': 'both reports name the transaction, with different amounts',
  'only-in-bank-report': 'the merchant’s report does not name the transaction',
  'only-in-merchant-report': 'the bank’s report does not name the transaction',
}

/** The number of differences, in total and by kind. */
export const differenceCounts = {
  total: count('How many there are', 2),
  byKind: Type.Object(
    Object.fromEntries(differenceKinds.map(kind => [kind, count(meanings[kind])])) as Record<
      DifferenceKind,
      ReturnType<typeof count>
    >,
    { title: 'DifferenceCounts', description: 'Count of each kind; every kind is listed' },
  ),
}

const line = (whose: string) =>
  nullable(
    Type.Integer({ minimum: 2, description: `Line of the ${whose} report, its header being line 1`, examples: [7] }),
  )

const Item = named(
  'Difference',
  Type.Object({
    kind: Type.Enum([...differenceKinds], {
      title: 'DifferenceKind',
      description: Object.entries(meanings)
        .map(([kind, meaning]) => `${kind}: ${meaning}`)
        .join('; '),
    }),
    transactionId: text('The transaction', 'TX-20261203-0007'),
    bankLine: line('bank’s'),
    merchantLine: line('merchant’s'),
    expected: nullable(text('The value that the terms or the merchant’s report give; null: none', '12.35')),
    found: nullable(text('The value in the line; null: the bank’s report has none', '12.34')),
  }),
)

export const DifferencesQuery = Type.Object(
  {
    kind: Type.Optional(
      Type.Enum([...differenceKinds], {
        title: 'DifferenceKind',
        description: 'Of this kind',
        examples: ['wrong-cashback'],
      }),
    ),
    search: Type.Optional(
      Type.String({ maxLength: 128, description: 'Part of the transaction’s id, in any case', examples: ['tx-2026'] }),
    ),
    ...pagingParameters,
  },
  closed,
)
export const DifferencePage = pageOf(Item, 'One page of the differences')

export const Uploaded = named(
  'UploadedReport',
  Type.Object(
    {
      reportId: uuid('The report', reportExample),
      bankReportingStatus: participation.bankReportingStatus,
      lines: count('Lines below the header', 1250),
      totalAmount: money('Sum of `amount`', 561_230.5),
      totalCashback: money('Sum of `cashbackAmount`', 28_061.53),
      differences: Type.Object(differenceCounts, {
        title: 'DifferenceTotals',
        description: 'The result of this report together with the other side’s latest report',
      }),
    },
    { description: 'The report is kept, and it is the other side’s turn' },
  ),
)

export const UploadQuery = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Boolean({
        description: 'true: the report is read and compared, the answer is 200, and nothing is kept',
        examples: [true],
      }),
    ),
  },
  closed,
)

const nothing = (description: string) => Type.Unsafe<null>({ type: 'null', description })
export const Tried = named(
  'TriedReport',
  Type.Object(
    {
      ...Uploaded.properties,
      reportId: nothing('A dry run has no id'),
      bankReportingStatus: nothing('A dry run does not change the stage'),
    },
    { description: 'The result of a dry run. Nothing is stored' },
  ),
)

const Report = Type.Object({
  reportId: uuid('The report', reportExample),
  side: Type.Enum([...sides], { title: 'ReportSide', description: 'Whose report it is' }),
  version: Type.Integer({ minimum: 1, description: 'Number of the report, counted for each side', examples: [1] }),
  fileName: text('Name of the uploaded file', 'december.csv'),
  sizeBytes: count('Its size', 81_250),
  lines: count('Lines below the header', 1250),
  totalAmount: money('Sum of `amount`', 561_230.5),
  totalCashback: money('Sum of `cashbackAmount`', 28_061.53),
  uploadedAt: instant('When it was uploaded', '2027-01-04T09:12:44.000Z'),
  uploadedBy: text('Who uploaded it: a login or clientId of the caller’s own side, or the other side’s name', 'olena'),
  comment: nullable(text('The merchant’s comment', 'Two receipts of 3 December are not ours')),
})

const Bank = Type.Object({
  id: uuid('The bank'),
  name: text('Its name', 'Alpha Bank'),
  bankReportingStatus: participation.bankReportingStatus,
  settlementConfirmed: participation.settlementConfirmed,
  expectedCompensation: nullable(
    money(
      'Sum of the cashback of the lines of the bank’s latest report that break no term, times ' +
        '`merchantCompensationPercentage` / 100, rounded half up to 2 decimals; null before the first report',
      16_836.92,
    ),
  ),
  reports: Type.Array(Report, { description: 'Every report of both sides, oldest first' }),
  matched: nullable(
    count(
      'Transactions that both latest reports name with the same amount; null before the merchant’s first report',
      1248,
    ),
  ),
  differences: Type.Object(
    {
      ...differenceCounts,
      items: Type.Array(Item, {
        description:
          'The first 1,000, by the line of the bank’s report, then of the merchant’s; with more than 5 banks in the answer, ' +
          'the first 5,000 divided by their number, at least 20. `differences.csv` has all of them',
      }),
    },
    { description: 'Of the latest reports' },
  ),
})

export const Reconciliation = named(
  'Reconciliation',
  Type.Object(
    {
      cashbackId: uuid('The campaign'),
      status: CampaignStatus,
      banks: Type.Array(Bank, { description: 'Every invited bank, by name; for a bank itself alone' }),
    },
    { description: 'The state of the reconciliation' },
  ),
)
