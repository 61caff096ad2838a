/** Campaigns as a bank's people see them. */
import Type from 'typebox'
import { named, nullable } from '../../http/openapi/operations.ts'
import { listingOf } from '../../http/paging.ts'
import { count, flag, instant, money, text, uuid } from '../../http/schemas.ts'
import { offer, origin, participation, standing } from '../campaign-schemas.ts'

const { status: bankStatus, ...reporting } = participation
const { terminals: _terminals, ...terms } = offer

/** The merchant of a campaign. It includes the English name, which the API for systems leaves out. */
const retailer = Type.Object(
  {
    retailerId: uuid('The merchant'),
    name: text('Its name', 'Гросер'),
    nameEn: text('Its name in English', 'Grocer'),
  },
  { title: 'MerchantNames', description: 'The merchant that owns the campaign' },
)

const part = {
  bankStatus,
  ...reporting,
  compensationAcknowledged: flag('The bank has acknowledged that it received the compensation'),
  expectedCompensation: nullable(
    money('What the merchant owes this bank, rounded half up to 2 decimals; null before its first report', 1250.5),
  ),
}

const terminalsCount = count('Terminals where it applies', 120)

const ListedCampaign = Type.Object({
  cashbackId: origin.cashbackId,
  retailer,
  createdByType: origin.createdByType,
  name: text('Name', 'Осінь: 5 % на все'),
  status: standing.status,
  ...part,
  dateFrom: instant('Start of the period'),
  dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
  percentage: money('Cashback in percent', 5),
  merchantCompensationPercentage: money('Share of the cashback that the merchant bears', 60),
  maxBudget: nullable(money('Highest cost of the bank’s part; null: no limit', 100000)),
  currency: text('ISO 4217', 'UAH'),
  terminalsCount,
  createdAt: standing.createdAt,
  updatedAt: standing.updatedAt,
})

export const BankCampaignPage = listingOf(ListedCampaign, 'One page of the bank’s campaigns')

const SegmentSummary = Type.Object({
  customersCount: count('Customers in it', 5000),
  formedAt: instant('When it was built', '2026-11-22T10:00:00.000Z'),
  sourceFileName: text('The file that the merchant built it from', 'loyal-customers.csv'),
})

/** The schema of one campaign. It is documentation only, because the answer is sent as text. */
export const BankCampaignDetails = named(
  'BankCampaignDetails',
  Type.Object(
    {
      ...origin,
      ...terms,
      ...standing,
      retailer,
      ...part,
      terminalsCount,
      segment: nullable({
        ...SegmentSummary,
        description: 'The segment of the bank’s customers; null when there is none',
      }),
      permissions: Type.Object(
        {
          confirmAbility: flag('The bank may confirm'),
          rejectAbility: flag('The bank may reject'),
          uploadReportAbility: flag('The bank may upload a report'),
          acknowledgeAbility: flag('The bank may acknowledge the compensation'),
        },
        { description: 'What the bank may do now' },
      ),
    },
    { description: 'A campaign as one of its banks sees it, without the lists of terminals and customers' },
  ),
)
