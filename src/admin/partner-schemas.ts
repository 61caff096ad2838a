/**
 * Schemas of the directory of partners for the operator. Its entries have the form of the directory file
 * (contract/operations.md, "The directory file").
 */
import Type from 'typebox'
import { nullable } from '../http/openapi/operations.ts'
import { pageOf, pagingParameters } from '../http/paging.ts'
import { count, flag, instant, text, uuid } from '../http/schemas.ts'
import { deliveryModes } from '../partners/delivery-modes.ts'
import { mobileOperatorStatuses, partnerStatuses } from '../partners/file/directory-schema.ts'
import { closed } from './request/documents.ts'

const address = (description: string) => Type.String({ description })
const status = Type.Enum([...partnerStatuses], {
  title: 'PartnerStatus',
  description: 'A suspended partner has no access',
})

const Country = Type.Object({
  id: uuid('The country'),
  code: text('ISO 3166-1 alpha-2', 'UA'),
  name: text('Name', 'Ukraine'),
  currency: Type.Object(
    {
      code: text('ISO 4217', 'UAH'),
      name: text('Name', 'Hryvnia'),
      symbol: text('Sign', '₴'),
      icon: address('Address of a picture; may be empty'),
    },
    { title: 'CurrencyEntry', description: 'The currency of the country' },
  ),
})

const PaymentSystem = Type.Object({
  id: uuid('The payment system'),
  code: text('Code', 'visa'),
  name: text('Name', 'Visa'),
})

const Bank = Type.Object({
  id: uuid('The bank'),
  code: text('Code, which never changes', 'alpha'),
  name: text('Name', 'Alpha Bank'),
  logoUrl: address('Logo; may be empty'),
  apiVersion: text('Version of the API that it speaks', '1.0'),
  status,
  esim: Type.Object(
    {
      deliveryMode: Type.Enum([...deliveryModes], {
        title: 'DeliveryMode',
        description: 'How activation data goes to customers',
      }),
      operators: Type.Unsafe<'all' | string[]>({
        anyOf: [{ const: 'all' }, { type: 'array', items: { type: 'string' } }],
        description: 'Mobile operators that it sells, by their codes; all: also those to come',
      }),
      reservationShare: nullable(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          description: 'Per cent of a tariff’s unsold stock that it may hold reserved; null: the platform’s setting',
          examples: [50],
        }),
      ),
      statement: Type.Object(
        {
          timeZone: text('Whose days its statements are for: an IANA time zone', 'Europe/Kyiv'),
          commissionPercentage: Type.Number({
            minimum: 0,
            maximum: 100,
            description: 'What it keeps of each sale, in per cent',
            examples: [12.5],
          }),
        },
        { description: 'Its daily statement' },
      ),
    },
    { description: 'How the bank sells eSIM profiles' },
  ),
  segments: flag('Merchants may build segments of its customers'),
})

const Merchant = Type.Object({
  id: uuid('The merchant'),
  code: text('Code, which never changes', 'grocer'),
  name: text('Name', 'Гросер'),
  nameEn: text('Name in English', 'Grocer'),
  description: Type.String({ description: 'What it says about itself' }),
  logoUrl: address('Logo; may be empty'),
  urlIdent: text('Its name in addresses', 'grocer'),
  domain: Type.Array(Type.String(), { description: 'Domains of its shops' }),
  merchantCategoryCode: Type.Array(Type.String(), { description: 'MCC' }),
  excludedBanks: Type.Array(Type.String(), { description: 'Codes of banks that it does not work with' }),
  status,
  cardPresentationId: nullable(uuid('How its card is presented')),
  isReview: flag('It is under review'),
  isMask: flag('It is masked'),
  iosAppUrl: nullable(address('Its app for iOS')),
  androidAppUrl: nullable(address('Its app for Android')),
})

const Tariff = Type.Object({
  id: uuid('The tariff'),
  code: text('Code, which never changes', 'eu-10gb'),
  name: text('Name', 'Europe 10 GB'),
  description: Type.String({ description: 'For customers' }),
  price: Type.Number({ description: 'Price of new orders', examples: [399] }),
  currency: text('ISO 4217', 'UAH'),
  dataVolumeMb: count('Megabytes', 10240),
  dataUnlimited: flag('Data without limit'),
  voiceMinutes: count('Minutes of voice'),
  voiceUnlimited: flag('Voice without limit'),
  smsCount: count('Text messages'),
  smsUnlimited: flag('Text messages without limit'),
  validityDays: count('Days of validity', 30),
  onSale: flag('It can be ordered'),
})

const MobileOperator = Type.Object({
  id: uuid('The mobile operator'),
  code: text('Code, which never changes', 'kyivstar'),
  nameUk: text('Name in Ukrainian', 'Київстар'),
  nameEn: text('Name in English', 'Kyivstar'),
  logoUrl: nullable(address('Logo')),
  country: text('ISO 3166-1 alpha-2, or `global`', 'UA'),
  status: Type.Enum([...mobileOperatorStatuses], {
    title: 'MobileOperatorStatus',
    description: 'Only an active one is listed and sold',
  }),
  tariffs: Type.Array(Tariff, { description: 'In the order in which they are shown' }),
})

const access = {
  users: count('Portal users who may log in', 2),
  credentials: count('Credentials that work', 1),
}

export const ShownMerchant = Type.Object(
  {
    entry: { ...Merchant, title: 'MerchantEntry', description: 'The merchant as the directory file has it' },
    ...access,
    terminals: count('Terminals in the platform’s directory', 120),
    createdAt: instant('When it was added'),
    updatedAt: instant('When its record last changed'),
  },
  { title: 'PartnerMerchant', description: 'The merchant' },
)

export const MerchantPath = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 64, description: 'Code of the merchant', examples: ['grocer'] }),
})

export const TerminalsQuery = Type.Object(
  {
    ...pagingParameters,
    search: Type.Optional(
      Type.String({ maxLength: 100, description: 'Part of the id, the name or the location, in any case' }),
    ),
  },
  closed,
)

const orNull = (description: string) => nullable(Type.String({ description }))
export const Terminals = pageOf(
  Type.Object({
    terminalId: text('The terminal, unique for the merchant', 'T-0001'),
    name: orNull('Name of the shop or terminal'),
    location: orNull('Where it is'),
    paymentSystemMerchantId: orNull('The merchant at the payment system'),
    paymentSystemMerchantName: orNull('Its name there'),
  }),
  'One page of the terminals, by their ids',
)

export const PartnersQuery = Type.Object(
  {
    ...pagingParameters,
    search: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Part of a merchant’s code or name, or its whole id, in any case',
        examples: ['гро'],
      }),
    ),
  },
  closed,
)

export const Partners = Type.Object(
  {
    countries: Type.Array(Country, { description: 'All countries' }),
    paymentSystems: Type.Array(PaymentSystem, { description: 'All payment systems' }),
    banks: Type.Array(
      Type.Object({ entry: { ...Bank, description: 'The bank as the directory file has it' }, ...access }),
      { description: 'All banks' },
    ),
    merchants: pageOf(ShownMerchant, 'One page of the merchants, by their codes'),
    mobileOperators: Type.Array(MobileOperator, { description: 'All mobile operators with their tariffs' }),
  },
  { description: 'The directory as it is now' },
)
