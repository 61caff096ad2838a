/** What merchants get of campaigns and banks (cashback document, "Merchant side"; behaviour.md, section 3). */
import Type, { type TProperties, type TSchema } from 'typebox'
import { nullable } from '../http/openapi.ts'
import { type BankReportingStatus, bankReportingStatuses, bankStatuses, editableFields } from './lifecycle.ts'
import { CampaignStatus, closed, instant, uuid } from './schemas.ts'

const text = (description: string, example: string) => Type.String({ description, examples: [example] })
const count = (description: string, example = 0) => Type.Integer({ minimum: 0, description, examples: [example] })
const flag = (description: string) => Type.Boolean({ description })

export const EditHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'The `ETag` of the details that the edit was made from: it is refused when they have changed since',
      examples: ['"7"'],
    }),
  ),
})

export const NoBody = Type.Object({}, closed)

export const ConnectedBank = Type.Object(
  {
    id: uuid('The bank'),
    name: text('Its name', 'Alpha Bank'),
    logoUrl: text('Address of its logo, or a data URI', 'https://alpha.example/logo.svg'),
    apiVersion: text('Version of the API that the bank speaks', '1.0'),
  },
  { $id: 'ConnectedBank', description: 'A bank that the merchant may invite' },
)

const BankStatus = Type.Enum([...bankStatuses], {
  description:
    'pending: has not decided; approved: takes part; declined: does not; expired: the campaign went on or ended without it',
})

const InvitedBank = Type.Object({
  id: uuid('The bank'),
  name: text('Its name', 'Alpha Bank'),
  logoUrl: text('Its logo', 'https://alpha.example/logo.svg'),
  status: BankStatus,
  settlementConfirmed: flag('The merchant has confirmed settlement with this bank'),
  bankReportingStatus: Type.Unsafe<BankReportingStatus | null>({
    type: ['string', 'null'],
    enum: [...bankReportingStatuses, null],
    description: 'Stage of reconciliation; null until the period has ended and while the bank is not approved',
  }),
  hasBankReport: flag('The bank has uploaded its report'),
  hasSecondBankReport: flag('It has uploaded another one after the merchant’s'),
  merchantReportUploadsCount: count('How often the merchant has uploaded its report'),
})

const Country = Type.Object({
  id: uuid('The country'),
  name: text('Its name', 'Ukraine'),
  code: text('ISO 3166-1 alpha-2', 'UA'),
  currency: Type.Object({
    code: text('ISO 4217', 'UAH'),
    name: text('Name of the currency', 'Hryvnia'),
    symbol: text('Its sign', '₴'),
    icon: text('Address of an icon; may be empty', ''),
  }),
})

const Terminal = Type.Object({
  terminal_id: text('Terminal identifier', 'T-0001'),
  terminal_name: nullable(text('Name; null when unknown', 'Shop 1')),
  terminal_location: nullable(text('Location; null when unknown', 'Kyiv, Main St 1')),
  merchant_id: nullable(text('Merchant id in the payment system', 'M-77')),
  merchant_name: nullable(text('Merchant name in the payment system', 'GROCER')),
})

const money = (description: string, example: number) => Type.Number({ description, examples: [example] })

/** What the author fills in, as readers get it. */
const offer: TProperties = {
  name: text('Name', 'Осінь: 5 % на все'),
  description: nullable(text('Text for customers', '5 % back on every purchase')),
  participationTerms: nullable(text('Terms of participation', 'One accrual a day and card')),
  bannerSmall: nullable(text('URL or data URI of the small banner', 'https://cdn.grocer.example/small.png')),
  bannerBig: nullable(text('URL or data URI of the big banner', 'https://cdn.grocer.example/big.png')),
  sku: Type.Array(Type.String(), { description: 'SKUs that the cashback is for; empty: not bound to any' }),
  categoryId: Type.Array(Type.String(), { description: 'Categories that the cashback is for' }),
  allProducts: flag('The whole assortment'),
  purchaseOnline: flag('Counts online purchases'),
  purchaseOffline: flag('Counts purchases in shops'),
  dateFrom: instant('Start of the period, inside it'),
  dateTo: instant('End of the period, outside it', '2027-01-01T00:00:00.000Z'),
  minAmount: money('Smallest amount of a receipt', 100),
  maxAmount: money('Largest amount of a receipt', 5000),
  maxBudget: nullable(money('Most that a bank’s part may cost; null: no limit', 100000)),
  percentage: money('Cashback in percent', 5),
  merchantCompensationPercentage: money('Share of the cashback that the merchant bears', 60),
  merchantCategoryCode: nullable(Type.Array(Type.String(), { description: 'MCC', examples: [['5411']] })),
  countryId: uuid('The country'),
  terminals: Type.Array(Terminal, { description: 'Where the campaign applies, as it is now' }),
  terminalsPlatform: flag('The terminals are those of the merchant in the platform’s directory'),
  paymentSystemsId: Type.Array(uuid('A payment system'), { description: 'Payment systems that take part' }),
}

export const CampaignDetails = Type.Object(
  {
    cashbackId: uuid('The campaign'),
    retailerId: uuid('The merchant'),
    createdByRetailerId: nullable(uuid('The author, when it is the merchant')),
    createdByBankId: nullable(uuid('The author, when it is a bank')),
    createdByType: Type.Enum(['bank', 'retailer'], { description: 'Who created it' }),
    ...offer,
    expectedCompensation: nullable(
      money('What the merchant is to compensate, over all banks; null before the first report', 1250.5),
    ),
    status: CampaignStatus,
    createdAt: instant('When it was created', '2026-11-21T08:00:00.000Z'),
    updatedAt: instant('When it last changed', '2026-11-21T08:05:00.000Z'),
    retailer: Type.Object({ retailerId: uuid('The merchant'), name: text('Its name', 'Гросер') }),
    country: Country,
    banks: Type.Array(InvitedBank, { description: 'Every invited bank' }),
    permissions: Type.Object(
      {
        editAbility: flag('Some field may be changed'),
        editableFields: Type.Array(Type.Enum([...editableFields]), { description: 'The fields that may be changed' }),
        deleteAbility: flag('It may be deleted'),
        confirmAbility: flag('It may be launched'),
      },
      { description: 'What its state permits at this moment, to those whose role permits changes' },
    ),
    statistics: Type.Object(
      {
        banksInvited: count('Invited banks', 3),
        banksPending: count('Banks that have not decided', 1),
        banksApproved: count('Banks that take part', 1),
        banksDeclined: count('Banks that declined', 1),
        banksExpired: count('Banks without which it went on or ended'),
        terminals: count('Terminals where it applies', 120),
        segmentCustomers: count('Customers in the segments of all banks', 5000),
        uploadedReports: count('Reports that banks and the merchant have uploaded'),
      },
      { description: 'Counts' },
    ),
  },
  { $id: 'CampaignDetails', description: 'A campaign with its banks, as its merchant sees it' },
)

export const merchantComponents: TSchema[] = [ConnectedBank, CampaignDetails]
