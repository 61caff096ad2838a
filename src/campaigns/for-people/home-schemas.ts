/** The schemas of the home page of a partner's people. */
import Type from 'typebox'
import { named, nullable } from '../../http/openapi/operations.ts'
import { Pagination, pagingParameters } from '../../http/paging.ts'
import { closed, count, flag, instant, money, text, uuid } from '../../http/schemas.ts'
import { origin, standing } from '../campaign-schemas.ts'
import { bankStatuses, campaignStatuses } from '../lifecycle/transitions.ts'
import { outcomes, taskKinds } from './home.ts'

export const HomeQuery = Type.Object(
  {
    ...pagingParameters,
    waitsFor: Type.Optional(
      Type.Enum(['me', 'other'], { description: 'Only tasks that wait for the caller, or for others' }),
    ),
    kind: Type.Optional(Type.Enum([...taskKinds], { title: 'TaskKind', description: 'Only tasks of this kind' })),
  },
  closed,
)

const Task = Type.Object({
  kind: Type.Enum([...taskKinds], {
    title: 'TaskKind',
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
  retailerNameEn: text('Its name in English', 'Grocer'),
  bankId: nullable(uuid('The bank that the task is about; null: the whole campaign')),
  bankName: nullable(text('Its name', 'Alpha Bank')),
  dateFrom: instant('Start of the period'),
  dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
  waitsFor: Type.Enum(['me', 'other'], { description: 'me: the caller can do it now; other: the other side' }),
  by: nullable(instant('The deadline; null: none', '2027-01-01T00:00:00.000Z')),
  otherwise: Type.Enum([...outcomes], {
    description:
      'What happens when nobody acts. participation-expires: the campaign continues or ends without this bank; ' +
      'campaign-expires: it ' +
      'ends without having started; stays: nothing changes',
  }),
  amount: nullable(
    money(
      'What the merchant owes in this step, to all banks or to one; null where no money is due or known yet',
      1250.5,
    ),
  ),
  currency: text('ISO 4217, of `amount`', 'UAH'),
})

const totals = Type.Object(Object.fromEntries(taskKinds.map(kind => [kind, count(kind)])), {
  title: 'TaskCounts',
  description: 'How many tasks there are of each kind',
})

const ImposedCampaign = Type.Object({
  cashbackId: uuid('The campaign'),
  name: text('Its name', 'Кешбек від банку'),
  bankName: text('The bank that has created it', 'Alpha Bank'),
  status: standing.status,
  dateFrom: instant('Start of the period'),
  dateTo: instant('End of the period', '2027-01-01T00:00:00.000Z'),
  percentage: money('Cashback in percent', 5),
  merchantCompensationPercentage: money('Share of the cashback that the merchant bears', 60),
  maxBudget: nullable(money('Highest cost; null: no limit', 100000)),
  currency: text('ISO 4217', 'UAH'),
})

const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map(name => [name, count(name)])), { description })

export const Home = named(
  'Home',
  Type.Object(
    {
      tasks: Type.Array(Task, { description: 'One page: the caller’s own tasks first, the nearest deadline first' }),
      pagination: Pagination,
      totals: Type.Object(
        { me: totals, other: totals },
        { description: 'All tasks by kind, not only those that the query selects' },
      ),
      isComplete: flag('false: only some of the open campaigns were counted'),
      bankCampaigns: Type.Object(
        {
          data: Type.Array(ImposedCampaign, { description: 'The campaigns' }),
          hasMore: flag('There are more than these'),
        },
        {
          description: 'For a merchant: open campaigns that banks have created at its cost; for a bank empty',
        },
      ),
      counts: Type.Object(
        {
          byStatus: counts(campaignStatuses, 'The caller’s campaigns'),
          byBankStatus: nullable(
            counts(bankStatuses, 'Of a bank, by its own status, without deleted campaigns; null for a merchant'),
          ),
        },
        { description: 'How many campaigns there are' },
      ),
    },
    { description: 'The tasks, and how many campaigns there are' },
  ),
)
