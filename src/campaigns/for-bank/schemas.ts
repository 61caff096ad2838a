/** Schemas of banks' requests and responses, except the list of campaigns (contract/campaigns.md). */
import Type from 'typebox'
import { nullable } from '../../http/openapi/operations.ts'
import { closed, instant, uuid } from '../../http/schemas.ts'
import { plainLines } from '../../text/text-rules.ts'

/**
 * The path of a campaign. The id may be any text: an id that is not a UUID gets the same response as the id of an
 * unknown campaign.
 */
export const DecisionPath = Type.Object({
  cashbackId: Type.String({
    description: 'The campaign, a UUID',
    examples: ['7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'],
  }),
})

export const ConfirmBody = Type.Object({}, closed)

export const RejectBody = Type.Object(
  {
    comment: Type.Optional(
      nullable(
        Type.String({
          maxLength: 1000,
          pattern: plainLines,
          description:
            'Why the bank does not take part; shown in the campaign’s history. null is the same as leaving it out',
          examples: ['The budget of this quarter is spent'],
        }),
      ),
    ),
  },
  closed,
)

export const RetailerPath = Type.Object({ id: uuid('The merchant (`retailerId`)') })

const text = (description: string, example: string) => Type.String({ description, examples: [example] })
const ownAffair = (what: string) =>
  Type.Null({ description: `${what}: internal to the merchant, always null for banks` })

export const Retailer = Type.Object(
  {
    retailerId: uuid('The merchant'),
    name: text('Name', 'Гросер'),
    description: text('What the merchant says about itself', 'Food every day'),
    logoUrl: text('Address of the logo', 'https://grocer.example/logo.svg'),
    urlIdent: text('Name of the merchant in addresses', 'grocer'),
    nameEn: text('Name in English', 'Grocer'),
    cardPresentationId: nullable(uuid('How the merchant’s card is presented; null when nothing is set')),
    isReview: Type.Boolean({ description: 'The merchant is under review' }),
    isMask: Type.Boolean({ description: 'The merchant is masked' }),
    domain: Type.Array(Type.String(), { description: 'Domains of its shops', examples: [['grocer.example']] }),
    merchantCategoryCode: Type.Array(Type.String(), { description: 'Category codes (MCC)', examples: [['5411']] }),
    createdAt: instant('When the merchant was added', '2026-01-15T09:00:00.000Z'),
    updateAt: instant('When its record last changed', '2026-11-21T08:05:00.000Z'),
    webhookUrl: ownAffair('Webhook'),
    apiUrl: ownAffair('Interface'),
    iosAppUrl: nullable(text('Its app for iOS; null when there is none', 'https://apps.example/grocer')),
    androidAppUrl: nullable(text('Its app for Android; null when there is none', 'https://apps.example/grocer')),
    login: ownAffair('Login'),
    rro: ownAffair('Cash registers'),
    cardIssuing: ownAffair('Issuing of cards'),
    dataSaleToWebhook: ownAffair('Sales to the webhook'),
    excludedBank: ownAffair('Banks that it excludes'),
  },
  { $id: 'Retailer', description: 'A merchant as banks see it' },
)
