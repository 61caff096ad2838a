/** Schemas of campaigns as the platform's operator sees them. */
import Type from 'typebox'
import { offer, origin, participation, standing } from '../campaigns/campaign-schemas.ts'
import { HistoryEntry } from '../campaigns/history/schemas.ts'
import { campaignStatuses, type ReportingStage, reportingStages } from '../campaigns/lifecycle/transitions.ts'
import { nullable } from '../http/openapi/operations.ts'
import { listingOf, listingParameters } from '../http/paging.ts'
import { count, flag, instant, money, text, uuid } from '../http/schemas.ts'
import { closed } from './request/documents.ts'

const code = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }))

export const CampaignsQuery = Type.Object(
  {
    ...listingParameters,
    search: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'A campaign’s id, or part of its name in any case',
        examples: ['осінь'],
      }),
    ),
    status: Type.Optional(
      Type.Array(Type.Enum([...campaignStatuses], { title: 'CampaignStatus' }), {
        maxItems: campaignStatuses.length,
        description: 'Campaigns in one of these statuses; repeated for several',
      }),
    ),
    merchant: code('Code of the merchant'),
    bank: code('Code of a bank that is invited'),
  },
  closed,
)

const retailer = Type.Object(
  {
    retailerId: origin.retailerId,
    code: text('Code of the merchant', 'grocer'),
    name: text('Its name', 'Гросер'),
    nameEn: text('Its name in English', 'Grocer'),
  },
  { title: 'MerchantReference', description: 'The merchant that owns the campaign' },
)

export const CampaignPage = listingOf(
  Type.Object({
    cashbackId: origin.cashbackId,
    name: text('Name', 'Осінь: 5 % на все'),
    status: standing.status,
    retailer,
    createdByType: origin.createdByType,
    dateFrom: instant('Start of the period'),
    dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
    createdAt: standing.createdAt,
    updatedAt: standing.updatedAt,
    banksInvited: count('Invited banks', 3),
    banksApproved: count('Banks that take part', 2),
  }),
  'One page of the campaigns, the most recently changed first, or a bank’s newest first',
)

const { terminals: _terminals, ...terms } = offer

/**
 * This schema is only for the documentation. It does not serialize the answer, because a campaign's terms are sent as
 * stored text.
 */
export const CampaignWithHistory = Type.Object(
  {
    ...origin,
    ...terms,
    ...standing,
    retailer,
    terminalsCount: count('Terminals where it applies', 120),
    compensationReceivedAt: nullable(instant('When the merchant’s money was received by all banks')),
    banks: Type.Array(
      Type.Object({
        id: uuid('The bank'),
        code: text('Its code', 'alpha'),
        name: text('Its name', 'Alpha Bank'),
        status: participation.status,
        stage: Type.Unsafe<ReportingStage | null>({
          type: ['string', 'null'],
          enum: [...reportingStages, null],
          description: 'Stage of reconciliation and settlement; null until the period has ended',
        }),
        bankReportUploads: count('Reports that the bank has uploaded'),
        merchantReportUploads: count('Reports that the merchant has uploaded'),
        expectedCompensation: nullable(money('What the merchant owes it, rounded half up to 2 decimals', 1250.5)),
        segmentCustomers: count('Its customers in the segment', 5000),
        hasSegment: flag('The newest segment has a part for it. false: the campaign is for all of its customers'),
      }),
      { description: 'Every invited bank' },
    ),
    history: Type.Array(HistoryEntry, { description: 'The newest entries, at most 100, oldest first' }),
  },
  { description: 'The campaign' },
)
