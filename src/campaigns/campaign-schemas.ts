/** Schema parts of a campaign that banks and merchants both see (contract/campaigns.md, "Bank list"). */

import Type, { type TProperties } from 'typebox'
import { named, nullable } from '../http/openapi/operations.ts'
import { count, flag, instant, money, text, uuid } from '../http/schemas.ts'
import { type BankReportingStatus, bankReportingStatuses, bankStatuses } from './lifecycle/transitions.ts'
import { CampaignStatus } from './schemas.ts'

const BankStatus = Type.Enum([...bankStatuses], {
  title: 'BankStatus',
  description:
    'pending: has not decided; approved: takes part; declined: does not; expired: did not decide in time, or the ' +
    'campaign ended without a launch',
})

/** Schema fields: the id of a campaign, its merchant and its author. */
export const origin = {
  cashbackId: uuid('The campaign'),
  retailerId: uuid('The merchant'),
  createdByRetailerId: nullable(uuid('The author, when it is the merchant')),
  createdByBankId: nullable(uuid('The author, when it is a bank')),
  createdByType: Type.Enum(['bank', 'retailer'], { title: 'CreatorType', description: 'Who created it' }),
}

/** A bank's part in the campaign, without the bank's own data. */
export const participation = {
  status: BankStatus,
  settlementConfirmed: flag('The merchant has confirmed settlement with this bank'),
  bankReportingStatus: Type.Unsafe<BankReportingStatus | null>({
    title: 'ReportingStage',
    type: ['string', 'null'],
    enum: [...bankReportingStatuses, null],
    description: 'Stage of reconciliation; null until the period has ended and while the bank is not approved',
  }),
  hasBankReport: flag('The bank uploaded its report'),
  hasSecondBankReport: flag('The bank uploaded an updated report after the merchant’s report'),
  merchantReportUploadsCount: count('How many times the merchant uploaded its report'),
}

const Country = named(
  'Country',
  Type.Object({
    id: uuid('The country'),
    name: text('Its name', 'Ukraine'),
    code: text('ISO 3166-1 alpha-2', 'UA'),
    currency: Type.Object(
      {
        code: text('ISO 4217', 'UAH'),
        name: text('Name of the currency', 'Hryvnia'),
        symbol: text('Its sign', '₴'),
        icon: text('Address of an icon; may be empty', ''),
      },
      { title: 'Currency', description: 'The currency of the country' },
    ),
  }),
)

export const Terminal = named(
  'Terminal',
  Type.Object({
    terminal_id: text('Terminal identifier', 'T-0001'),
    terminal_name: nullable(text('Name; null when unknown', 'Shop 1')),
    terminal_location: nullable(text('Location; null when unknown', 'Kyiv, Main St 1')),
    merchant_id: nullable(text('Merchant id in the payment system', 'M-77')),
    merchant_name: nullable(text('Merchant name in the payment system', 'GROCER')),
  }),
)

/** The fields that the author fills in, as readers get them. */
export const offer: TProperties = {
  name: text('Name', 'Осінь: 5 % на все'),
  description: nullable(text('Text for customers', '5 % back on every purchase')),
  participationTerms: nullable(text('Terms of participation', 'One accrual a day and card')),
  bannerSmall: nullable(text('URL or data URI of the small banner', 'https://cdn.grocer.example/small.png')),
  bannerBig: nullable(text('URL or data URI of the big banner', 'https://cdn.grocer.example/big.png')),
  sku: Type.Array(Type.String(), { description: 'SKUs that the cashback applies to; empty: not limited to SKUs' }),
  categoryId: Type.Array(Type.String(), { description: 'Product categories that the cashback applies to' }),
  allProducts: flag('The cashback applies to all products'),
  purchaseOnline: flag('Online purchases count'),
  purchaseOffline: flag('Purchases in shops count'),
  dateFrom: instant('Start of the period (inclusive)'),
  dateTo: instant('End of the period (exclusive)', '2027-01-01T00:00:00.000Z'),
  minAmount: money('Smallest receipt amount', 100),
  maxAmount: money('Largest receipt amount', 5000),
  maxBudget: nullable(money('Highest cost of a bank’s part; null: no limit', 100000)),
  percentage: money('Cashback in percent', 5),
  merchantCompensationPercentage: money('Share of the cashback that the merchant bears', 60),
  merchantCategoryCode: nullable(Type.Array(Type.String(), { description: 'MCC', examples: [['5411']] })),
  countryId: uuid('The country'),
  terminals: Type.Array(Terminal, { description: 'Terminals where the campaign applies now' }),
  terminalsPlatform: flag('The terminals are those of the merchant in the platform’s directory'),
  paymentSystemsId: Type.Array(uuid('A payment system'), { description: 'Payment systems that take part' }),
}

/** Schema fields: the status, the times, the merchant and the country of a campaign. */
export const standing = {
  status: CampaignStatus,
  createdAt: instant('When it was created', '2026-11-21T08:00:00.000Z'),
  updatedAt: instant('When it last changed', '2026-11-21T08:05:00.000Z'),
  retailer: Type.Object(
    { retailerId: uuid('The merchant'), name: text('Its name', 'Гросер') },
    { title: 'MerchantName', description: 'The merchant that owns the campaign' },
  ),
  country: Country,
}
