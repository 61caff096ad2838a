/** The shape of a settlement act. */
import Type from 'typebox'
import { CampaignStatus } from '../../campaigns/schemas.ts'
import { nullable } from '../../http/openapi/operations.ts'
import { closed, count, instant, money, text, uuid } from '../../http/schemas.ts'
import { differenceCounts } from '../schemas.ts'
import { actLanguages } from './texts.ts'

const bankId = Type.Optional(uuid('Only this bank’s part; a bank gets its own in any case'))

export const ActQuery = Type.Object({ bankId }, closed)
export const ActPdfQuery = Type.Object(
  {
    bankId,
    language: Type.Enum([...actLanguages], { default: 'uk', description: 'Language of the words, dates and amounts' }),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 64,
        deprecated: true,
        description: 'IANA time zone. It has no effect any more: all times of the act are in UTC',
        examples: ['Europe/Kyiv'],
      }),
    ),
  },
  closed,
)

const Report = Type.Object(
  {
    reportId: uuid('The report'),
    version: Type.Integer({ minimum: 1, description: 'Number of the report, counted for each side', examples: [1] }),
    fileName: text('Name of the uploaded file', 'december.csv'),
    sizeBytes: count('Its size', 81_250),
    lines: count('Lines below the header', 1250),
    totalAmount: money('Sum of `amount`', 561_230.5),
    totalCashback: money('Sum of `cashbackAmount`', 28_061.53),
    uploadedAt: instant('When it was uploaded'),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the uploaded file, hex',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { title: 'SettledReport', description: 'The latest report of one side; null before the first one' },
)

const orNull = (schema: typeof Report) => Type.Union([schema, Type.Null()])

const Bank = Type.Object({
  id: uuid('The bank'),
  code: text('Its code in the directory', 'alpha'),
  name: text('Its name', 'Alpha Bank'),
  bankReport: orNull(Report),
  merchantReport: orNull(Report),
  matched: nullable(
    count('Transactions that both reports name with the same amount; null without a merchant’s report', 1248),
  ),
  differences: Type.Object(differenceCounts, {
    title: 'DifferenceTotals',
    description: 'Between the latest reports and the terms',
  }),
  compensation: nullable(
    money('What the merchant owes this bank, rounded half up to 2 decimals; null before the bank’s report', 16_836.92),
  ),
  acceptedAt: nullable(instant('When the merchant accepted the report')),
  settledAt: nullable(instant('When the merchant confirmed settlement; null: the act is a draft')),
  receivedAt: nullable(instant('When the bank confirmed receipt')),
})

export const SettlementAct = Type.Object(
  {
    cashbackId: uuid('The campaign'),
    campaignName: text('Its name', 'Autumn'),
    status: CampaignStatus,
    dateFrom: instant('First instant of its period'),
    dateTo: instant('End of its period'),
    percentage: Type.Number({ description: 'Cashback, per cent of a purchase', examples: [5] }),
    merchantCompensationPercentage: Type.Number({ description: 'The merchant’s share, per cent', examples: [60] }),
    currency: text('ISO 4217', 'UAH'),
    merchant: Type.Object(
      {
        id: uuid('The merchant'),
        code: text('Its code in the directory', 'grocer'),
        name: text('Its name', 'Гросер'),
        nameEn: text('Its name in Latin letters', 'Grocer'),
        merchantCategoryCode: Type.Array(Type.String(), { description: 'MCC', examples: [['5411']] }),
        domain: Type.Array(Type.String(), { description: 'Websites', examples: [['grocer.example']] }),
      },
      { description: 'The merchant that pays' },
    ),
    paidAt: nullable(instant('When the merchant marked the compensation as paid')),
    totalCompensation: money(
      'What the merchant owes the banks of this act: the sum of their rounded `compensation`',
      16_836.92,
    ),
    generatedAt: instant('When the act was made'),
    banks: Type.Array(Bank, {
      description: 'Every bank whose reconciliation has begun, by name; for a bank itself alone',
    }),
  },
  { description: 'The settlement act' },
)
