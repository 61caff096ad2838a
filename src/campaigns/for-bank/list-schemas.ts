/**
 * The schema of the bank's list (contract/campaigns.md, "Bank list"). It is documentation only, because the list is sent as text.
 */
import Type from 'typebox'
import { named, nullable } from '../../http/openapi/operations.ts'
import { count, instant, money, text, uuid } from '../../http/schemas.ts'
import { offer, origin, participation, standing } from '../campaign-schemas.ts'

const Segment = named(
  'Segment',
  Type.Object(
    {
      segmentId: uuid('The segment: a new one with each upload'),
      cashbackId: uuid('The campaign'),
      customersCount: count('Customers in the segment', 2),
      customerIds: Type.Array(Type.String(), {
        description: 'The platform’s identifiers of the customers',
        examples: [['100045', '100078']],
      }),
      formedAt: instant('When it was built', '2026-11-22T10:00:00.000Z'),
      sourceFileName: text('The file that the merchant built it from', 'loyal-customers.csv'),
    },
    { description: 'The bank’s customers who may use the campaign' },
  ),
)

export const Campaign = Type.Object(
  {
    ...origin,
    banks: Type.Array(Type.Object({ id: uuid('The bank of the token'), ...participation }), {
      minItems: 1,
      maxItems: 1,
      description: 'Always exactly one: the calling bank',
    }),
    ...offer,
    expectedCompensation: nullable(
      money('What the merchant owes this bank, rounded half up to 2 decimals; null before its first report', 1250.5),
    ),
    ...standing,
    segment: nullable(Segment),
  },
  { $id: 'Campaign', description: 'A campaign as an invited bank sees it' },
)
