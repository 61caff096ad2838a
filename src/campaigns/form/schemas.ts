/** The schema of a campaign's form as partners send it. `form.ts` has the rules that a schema cannot express. */

import Type, { type TProperties } from 'typebox'
import { mustBe } from '../../error-rules.ts'
import { named, nullable } from '../../http/openapi/operations.ts'
import { closed, uuid } from '../../http/schemas.ts'
import { instantPattern, instantRule } from '../../text/instant.ts'
import { filledLinePattern, plainLinePattern, plainLines, visibleLinePattern } from '../../text/text-rules.ts'
import { controls } from '../../text/visible.ts'
import { maxIds } from './form.ts'

/** Maximum size of a form. A form with 50,000 terminals and two banners must fit. */
export const formLimitBytes = 16 * 1024 * 1024
/**
 * How many JSON values and containers (objects and lists) a form may have. This is twice what the largest valid form
 * has.
 */
const formBounds = { values: 1_000_000, containers: 60_000 }
/** The module that another process uses to read the terminals of a large form (`readAside`). */
const asideReader = new URL('./terminal-list.ts', import.meta.url)
/** Maximum time for receiving a form. It suits a slow connection; only authenticated senders get so much time. */
const formTimeoutMs = 60_000
/** For the `config` of a route that takes a form. */
export const formConfig = { bodyTimeoutMs: formTimeoutMs, jsonBounds: formBounds, asideReader }
/** The largest amount in a form; orders and lines of reports have the same limit. A JSON number holds it exactly. */
const maxMoney = 9_999_999_999.99
const maxTerminals = 50_000
const maxListed = 10_000

const notControl = `[^${controls}]`
/**
 * Spaces that are not control characters. No character is in both `space` and `visible`, so matching a pattern of both
 * takes linear time.
 */
const space = `[^\\S${controls}]`
const visible = `[^\\s${controls}]`

const money = (description: string, bounds: object, example: number) =>
  Type.Number({
    maximum: maxMoney,
    ...bounds,
    description: `${description}; at most 2 decimals`,
    examples: [example],
  })

const percentage = (description: string, example: number) =>
  Type.Number({ minimum: 0, maximum: 100, description, examples: [example] })

const instant = (description: string, example: string) =>
  Type.String({
    maxLength: 40,
    ...mustBe(instantRule.rule, instantRule.params),
    'x-documented': { pattern: instantPattern },
    description: `${description}: ISO 8601. A time needs \`Z\` or an offset such as \`+02:00\`; a date alone means midnight UTC`,
    examples: [example],
  })

const banner = (size: string) =>
  nullable(
    Type.String({
      'x-documented': { minLength: 1, format: 'uri' },
      description: `The ${size} banner: an http or https URL (RFC 3986: other characters are written as %…, in the host as xn--…) of at most 2048 characters, or a \`data:image/...;base64,\` URI whose image has at most 256 KiB; SVG is refused`,
      examples: [`https://cdn.grocer.example/${size}.png`],
    }),
  )

const listed = (description: string, examples: string[]) =>
  nullable(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 128,
        ...mustBe('text', { max: 128 }),
        'x-documented': { pattern: plainLinePattern },
      }),
      { maxItems: maxListed, description, examples: [examples] },
    ),
  )

const optionalText = (maxLength: number, description: string, example: string) =>
  Type.Optional(
    nullable(
      Type.String({ maxLength, 'x-documented': { pattern: plainLinePattern }, description, examples: [example] }),
    ),
  )

const Terminal = named(
  'NewTerminal',
  Type.Object(
    {
      terminal_id: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: `^${space}*${visible}${notControl}*$`,
        'x-documented': { pattern: filledLinePattern },
        ...mustBe('one-line', { max: 128 }),
        description: 'Terminal identifier, once in the list',
        examples: ['T-0001'],
      }),
      terminal_name: optionalText(200, 'Name', 'Shop 1'),
      terminal_location: optionalText(500, 'Location', 'Kyiv, Main St 1'),
      merchant_id: optionalText(128, 'Merchant id in the payment system', 'M-77'),
      merchant_name: optionalText(200, 'Merchant name in the payment system', 'GROCER'),
    },
    closed,
  ),
)

const participantsIds = Type.Array(uuid('A bank'), {
  minItems: 1,
  maxItems: maxIds,
  'x-documented': { uniqueItems: true },
  description: 'The banks to invite, each once, from `GET /cashbacks/for-merchant/banks`',
})

const required = {
  name: Type.String({
    maxLength: 27,
    'x-documented': { minLength: 1, pattern: visibleLinePattern },
    description: 'Name in one line, with at least one visible character',
    examples: ['Осінь: 5 % на все'],
  }),
  dateFrom: instant('Start of the period; may lie in the past', '2026-12-01T00:00:00Z'),
  dateTo: instant('End of the period, in the future and after `dateFrom`', '2027-01-01T00:00:00Z'),
  minAmount: money('Smallest receipt amount', { minimum: 0 }, 100),
  maxAmount: money('Largest receipt amount, at least `minAmount`', { minimum: 0 }, 5000),
  percentage: percentage('Cashback in percent', 5),
  countryCode: Type.String({
    pattern: '^[A-Za-z]{2}$',
    ...mustBe('country'),
    description: 'ISO 3166-1 alpha-2 code in any case, of a country in the platform’s directory',
    examples: ['UA'],
  }),
  terminalsPlatform: Type.Boolean({
    description: 'true: the merchant’s terminals in the platform’s directory, as they are at any time',
  }),
  paymentSystemsId: Type.Array(uuid('A payment system of the platform’s directory'), {
    minItems: 1,
    maxItems: maxIds,
    'x-documented': { uniqueItems: true },
    description: 'Payment systems that take part, each once',
  }),
  merchantCompensationPercentage: percentage(
    'Share of the cashback that the merchant bears; the bank bears the rest',
    60,
  ),
}

const optional = {
  description: nullable(
    Type.String({
      maxLength: 666,
      pattern: plainLines,
      description: 'Text for customers',
      examples: ['5 % back on every purchase'],
    }),
  ),
  participationTerms: nullable(
    Type.String({
      maxLength: 1024,
      pattern: plainLines,
      description: 'Terms of participation',
      examples: ['One accrual a day and card'],
    }),
  ),
  bannerSmall: banner('small'),
  bannerBig: banner('big'),
  sku: listed('SKUs that the cashback applies to, kept as they are sent; each one line', ['4820000000017']),
  categoryId: listed('Product categories that the cashback applies to; each one line', ['dairy']),
  allProducts: nullable(
    Type.Boolean({
      description:
        'true: all products; not allowed together with `sku` or `categoryId`. When left out, it is true if neither of these is ' +
        'given. false without `sku` and `categoryId` is accepted: the campaign then applies to no product',
    }),
  ),
  purchaseOnline: nullable(Type.Boolean({ description: 'Online purchases count. Default: true' })),
  purchaseOffline: nullable(Type.Boolean({ description: 'Purchases in shops count. Default: true' })),
  maxBudget: nullable(money('Highest cost of a bank’s part', { exclusiveMinimum: 0 }, 100000)),
  merchantCategoryCode: nullable(
    Type.Array(Type.String({ pattern: '^\\d{4}$', ...mustBe('four-digits'), description: 'MCC', examples: ['5411'] }), {
      maxItems: maxListed,
      description: 'Merchant category codes',
    }),
  ),
  terminals: nullable(
    Type.Array(Terminal, {
      maxItems: maxTerminals,
      description: 'The campaign’s own terminals; needed and not empty when `terminalsPlatform` is false',
    }),
  ),
}

const allOptional = (properties: TProperties): TProperties => Type.Partial(Type.Object(properties)).properties

export const CreateBody = named(
  'NewCampaign',
  Type.Object(
    { participantsIds, ...required, ...allOptional(optional) },
    { ...closed, description: 'A new campaign. null in an optional field means the same as leaving it out' },
  ),
)

export const BankCreateBody = named(
  'NewBankCampaign',
  Type.Object(
    {
      retailerId: uuid('The merchant: an active one that does not exclude the bank (`GET /retailers`)'),
      ...required,
      ...allOptional(optional),
    },
    { ...closed, description: 'A new campaign of the bank; null in an optional field is the same as leaving it out' },
  ),
)

const ignored = Type.Unknown({ description: 'Ignored: the server sets it' })

export const EditBody = named(
  'CampaignChange',
  Type.Object(
    allOptional({
      participantsIds,
      ...required,
      ...optional,
      creatorId: ignored,
      createdByType: ignored,
      retailerId: ignored,
    }),
    {
      ...closed,
      description:
        'The fields to change. null clears an optional field. Send only these fields: others that the details have, such ' +
        'as `status` or `banks`, are refused',
    },
  ),
)
