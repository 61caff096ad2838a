/** What a partner's people see first. */
import Type from 'typebox'
import { count, origin, standing, text } from '../campaigns/campaign-schemas.ts'
import { bankStatuses, campaignStatuses } from '../campaigns/lifecycle.ts'
import { instant, uuid } from '../campaigns/schemas.ts'
import { nullable } from '../http/openapi.ts'
import { outcomes, taskKinds } from './home.ts'

const Task = Type.Object({
  kind: Type.Enum([...taskKinds], {
    description:
      'decide-invitation: a bank confirms or rejects; launch-possible: the merchant may launch; upload-report: a bank uploads its ' +
      'report; answer-report: the merchant accepts it or answers with its own; confirm-settlement and mark-paid: the merchant; ' +
      'acknowledge-compensation: a bank',
  }),
  cashbackId: uuid('The campaign'),
  campaignName: text('Its name', 'Осінь: 5 % на все'),
  campaignStatus: standing.status,
  retailerId: origin.retailerId,
  retailerName: text('Name of the merchant', 'Гросер'),
  bankId: nullable(uuid('The bank that it is about; null for the whole campaign')),
  bankName: nullable(text('Its name', 'Alpha Bank')),
  dateFrom: instant('Start of the period'),
  dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
  waitsFor: Type.Enum(['me', 'other'], { description: 'me: the caller can do it now; other: the other side' }),
  by: nullable(instant('Until when it is possible; null: without end', '2027-01-01T00:00:00.000Z')),
  otherwise: Type.Enum([...outcomes], {
    description:
      'What happens when nobody acts. participation-expires: the campaign goes on or ends without this bank; campaign-expires: it ' +
      'ends without having started; stays: everything waits',
  }),
})

const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map(name => [name, count(name)])), { description })

export const Home = Type.Object(
  {
    tasks: Type.Array(Task, { description: 'What waits for the caller first, and in it what ends first' }),
    isComplete: Type.Boolean({ description: 'false: there are more open campaigns than are looked through at once' }),
    counts: Type.Object({
      byStatus: counts(campaignStatuses, 'The caller’s campaigns'),
      byBankStatus: nullable(counts(bankStatuses, 'Of a bank, by its own status; null for a merchant')),
    }),
  },
  { description: 'What waits, and how many campaigns there are' },
)
