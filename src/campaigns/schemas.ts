/** Schemas that several campaign operations share. Validation, types, answers and the OpenAPI document come from them. */
import Type from 'typebox'
import { cashbackErrors, instant, uuid } from '../http/schemas.ts'
import { campaignStatuses } from './lifecycle/transitions.ts'

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

/** How a repeated step of a campaign is answered (contract/http.md, "Versions of a campaign"). */
export const repeatedStep =
  'A repeated call is answered with success again. Nothing changes; `status` and `updatedAt` are those of now.'

/**
 * The error answers of an operation on one campaign that merchants may call.
 * @param causes for each status code, the cause in words
 */
export const campaignErrors = (causes: Record<number, string>) =>
  cashbackErrors({
    403: 'The caller is of the wrong kind, its role does not allow this, or the campaign belongs to another merchant',
    ...causes,
  })

/** The path of a campaign whose id must be a UUID. */
export const CampaignPath = Type.Object({ cashbackId: uuid('The campaign') })
