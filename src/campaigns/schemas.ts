/** Shapes that several operations of campaigns share; from them come validation, types, answers and the OpenAPI document. */
import Type from 'typebox'
import { CashbackError } from '../http/errors.ts'
import { errorAnswers } from '../http/openapi.ts'
import { campaignStatuses } from './lifecycle.ts'

export const closed = { additionalProperties: false }
export const secured = [{ bearerToken: [] }]

const exampleId = '7d0f1c0a-54a5-4a0e-9d0c-1f6f5a2f9a11'
export const instant = (description: string, example = '2026-12-01T00:00:00.000Z') =>
  Type.String({ format: 'date-time', description, examples: [example] })
export const uuid = (description: string, example = exampleId) =>
  Type.String({ format: 'uuid', description, examples: [example] })

export const CampaignStatus = Type.Enum([...campaignStatuses], {
  description: 'Where the campaign is in its life',
})

export const OperationResult = Type.Object(
  {
    id: uuid('The campaign'),
    status: CampaignStatus,
    message: Type.String({ description: 'What was done, in words', examples: ['The bank takes part in the campaign'] }),
    createdAt: instant('When the campaign was created', '2026-11-21T08:00:00.000Z'),
    updatedAt: instant('When it last changed', '2026-11-21T08:05:00.000Z'),
  },
  { $id: 'OperationResult', description: 'What a change has led to' },
)

export const NoQuery = Type.Object({}, closed)

/** The campaign of a path whose id must be a UUID. */
export const CampaignPath = Type.Object({ cashbackId: uuid('The campaign') })

const common = {
  401: 'The token is missing, expired or not valid',
  403: 'The caller is of the wrong kind, its role does not allow this, or the campaign belongs to another merchant',
  429: 'Too many requests: try again after `Retry-After` seconds',
  500: 'A fault of ours; tell us the request id',
  503: 'The platform is away for a moment; try again after `Retry-After` seconds',
}

/** Error answers of an operation: those that all share, and its own with the cause in words. */
export const cashbackErrors = (causes: Record<number, string>) => errorAnswers(CashbackError, { ...common, ...causes })
