/** Shapes that several operations of campaigns share; from them come validation, types, answers and the OpenAPI document. */
import Type from 'typebox'
import { CashbackError } from '../http/errors.ts'
import { errorAnswers } from '../http/openapi.ts'
import { campaignStatuses } from './lifecycle.ts'

export const closed = { additionalProperties: false }
export const secured = [{ bearerToken: [] }]

/** Ids of the sample directory, so that examples can be tried. */
const sampleIds: readonly [of: RegExp, id: string][] = [
  [/payment system/i, '5b0c3c1e-0d0a-4c5e-8f56-2f6b1a1d0001'],
  [/bank/i, '6f1d0c52-7a3e-4b8c-9d21-0a5be7c4f101'],
  [/merchant/i, '2c9b7e14-5d60-4f3a-8b17-93d0a6e5c201'],
]
const exampleFor = (description: string): string =>
  sampleIds.find(([of]) => of.test(description))?.[1] ?? '7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'

export const instant = (description: string, example = '2026-12-01T00:00:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })
export const uuid = (description: string, example = exampleFor(description)) =>
  Type.String({ format: 'uuid', description, examples: [example] })

export const CampaignStatus = Type.Enum([...campaignStatuses], {
  title: 'CampaignStatus',
  description: 'The state of the campaign',
})

export const OperationResult = Type.Object(
  {
    id: uuid('The campaign'),
    status: CampaignStatus,
    message: Type.String({ description: 'What was done, in words', examples: ['The bank takes part in the campaign'] }),
    createdAt: instant('When the campaign was created', '2026-11-21T08:00:00.000Z'),
    updatedAt: instant('When it last changed', '2026-11-21T08:05:00.000Z'),
  },
  { $id: 'OperationResult', description: 'The result of a change' },
)

export const NoQuery = Type.Object({}, closed)

/** The campaign of a path whose id must be a UUID. */
export const CampaignPath = Type.Object({ cashbackId: uuid('The campaign') })

const common = {
  401: 'The token is missing, expired or invalid',
  403: 'The caller is of the wrong kind, its role does not allow this, or the campaign belongs to another merchant',
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'Internal error. Quote the request id when you contact support',
  503: 'The platform is away for a moment; try again after `Retry-After` seconds',
}

/** Error answers of an operation: those that all share, and its own with the cause in words. */
export const cashbackErrors = (causes: Record<number, string>) => errorAnswers(CashbackError, { ...common, ...causes })
