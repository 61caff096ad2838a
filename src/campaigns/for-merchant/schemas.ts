/** Schemas of the responses about campaigns and banks for merchants (contract/campaigns.md). */
import Type, { type TSchema } from 'typebox'
import { named, nullable } from '../../http/openapi/operations.ts'
import { Pagination } from '../../http/paging.ts'
import { count, flag, instant, money, text, uuid } from '../../http/schemas.ts'
import { offer, origin, participation, standing } from '../campaign-schemas.ts'
import { editableFields } from '../lifecycle/editable-fields.ts'

export const ConnectedBank = Type.Object(
  {
    id: uuid('The bank'),
    name: text('Its name', 'Alpha Bank'),
    logoUrl: text('Address of its logo, or a data URI', 'https://alpha.example/logo.svg'),
    apiVersion: text('Version of the API that the bank speaks', '1.0'),
  },
  { $id: 'ConnectedBank', description: 'A bank that the merchant may invite' },
)

const InvitedBank = named(
  'InvitedBank',
  Type.Object({
    id: uuid('The bank'),
    name: text('Its name', 'Alpha Bank'),
    logoUrl: text('Its logo', 'https://alpha.example/logo.svg'),
    ...participation,
  }),
)

export const CampaignDetails = Type.Object(
  {
    ...origin,
    ...offer,
    expectedCompensation: nullable(
      money(
        'What the merchant owes all banks together: the sum of the banks’ amounts, each rounded half up to 2 decimals; null before the first report',
        1250.5,
      ),
    ),
    ...standing,
    banks: Type.Array(InvitedBank, { description: 'Every invited bank' }),
    permissions: Type.Object(
      {
        editAbility: flag('Some field may be changed'),
        editableFields: Type.Array(Type.Enum([...editableFields], { title: 'EditableField' }), {
          description: 'The fields that may be changed',
        }),
        deleteAbility: flag('It may be deleted'),
        confirmAbility: flag('It may be launched'),
      },
      { description: 'What the caller may do now: its state and the caller’s role decide' },
    ),
    statistics: Type.Object(
      {
        banksInvited: count('Invited banks', 3),
        banksPending: count('Banks that have not decided', 1),
        banksApproved: count('Banks that take part', 1),
        banksDeclined: count('Banks that declined', 1),
        banksExpired: count('Banks that did not decide in time'),
        terminals: count('Terminals where it applies', 120),
        segmentCustomers: count(
          'Customers in the segments of all banks; for each bank rounded down to tens, 0 below 20',
          5000,
        ),
        uploadedReports: count('Reports that banks and the merchant have uploaded'),
      },
      { description: 'Counts' },
    ),
  },
  { $id: 'CampaignDetails', description: 'A campaign with its banks, as its merchant sees it' },
)

const ListedCampaign = Type.Object({
  cashbackId: origin.cashbackId,
  retailerId: origin.retailerId,
  banks: Type.Array(
    Type.Object({
      id: uuid('The bank'),
      status: participation.status,
      settlementConfirmed: participation.settlementConfirmed,
    }),
    { description: 'Every invited bank' },
  ),
  name: text('Name', 'Осінь: 5 % на все'),
  description: nullable(text('Text for customers', '5 % back on every purchase')),
  status: standing.status,
  dateFrom: instant('Start of the period'),
  dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
  percentage: money('Cashback in percent', 5),
  createdAt: standing.createdAt,
  updatedAt: standing.updatedAt,
})

export const CampaignPage = Type.Object(
  {
    data: Type.Array(ListedCampaign, { description: 'The campaigns of the page' }),
    pagination: Pagination,
  },
  { $id: 'CampaignPage', description: 'One page of a merchant’s campaigns' },
)

export const merchantComponents: TSchema[] = [ConnectedBank, CampaignDetails, CampaignPage]
