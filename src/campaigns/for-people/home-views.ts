/** Builds the answers for the home page of a partner's people. */
import { bankStatuses, campaignStatuses } from '../lifecycle/transitions.ts'
import { seenByBank, type Task, taskKinds, tasksOf } from './home.ts'
import type { FoundHome, ImposedCampaign, OpenCampaign, Party } from './home-store.ts'

/**
 * All tasks in these campaigns: first this partner's tasks, then the other side's. In each group, the nearest deadline
 * comes first.
 */
export function taskViews(campaigns: readonly OpenCampaign[], party: Party, now: Date) {
  const views = campaigns.flatMap(campaign => {
    const tasks = tasksOf(campaign, now)
    const seen = party.type === 'bank' ? seenByBank(tasks, campaign, party.bankId) : tasks
    return seen.map(task => taskView(campaign, task, party))
  })
  const rank = ({ waitsFor, by }: (typeof views)[number]) => `${waitsFor === 'me' ? 0 : 1}${by ?? '9999'}`
  return views.sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
}

function taskView(campaign: OpenCampaign, task: Task, party: Party) {
  const isOwnTurn = (task.turn === 'bank') === (party.type === 'bank')
  return {
    kind: task.kind,
    cashbackId: campaign.cashbackId,
    campaignName: campaign.name,
    campaignStatus: campaign.status,
    retailerId: campaign.merchantId,
    retailerName: campaign.merchantName,
    retailerNameEn: campaign.merchantNameEn,
    bankId: task.bankId,
    bankName: campaign.banks.find(({ bankId }) => bankId === task.bankId)?.name ?? null,
    dateFrom: campaign.dateFrom.toISOString(),
    dateTo: campaign.dateTo.toISOString(),
    waitsFor: isOwnTurn ? 'me' : 'other',
    by: task.by?.toISOString() ?? null,
    otherwise: task.otherwise,
    amount: amountOf(campaign, task, party),
    currency: campaign.currency,
  } as const
}

const kindsOfMoney: readonly Task['kind'][] = [
  'answer-report',
  'confirm-settlement',
  'mark-paid',
  'acknowledge-compensation',
]

/**
 * The amount that the merchant owes; null for a task that is not about money. A bank sees only its own part of the
 * amount.
 */
function amountOf(campaign: OpenCampaign, task: Task, party: Party): number | null {
  if (!kindsOfMoney.includes(task.kind)) return null
  const bankId = party.type === 'bank' ? party.bankId : task.bankId
  const text = bankId === null ? campaign.expected : campaign.banks.find(bank => bank.bankId === bankId)?.expected
  return text === null || text === undefined ? null : Number(text)
}

type View = ReturnType<typeof taskView>

/** The number of tasks of each kind, by who has to act. */
export function totalsView(tasks: readonly View[]) {
  const of = (whom: View['waitsFor']) =>
    Object.fromEntries(
      taskKinds.map(kind => [kind, tasks.filter(task => task.waitsFor === whom && task.kind === kind).length]),
    )
  return { me: of('me'), other: of('other') }
}

export function imposedView({ percentage, merchantCompensationPercentage, maxBudget, ...campaign }: ImposedCampaign) {
  return {
    ...campaign,
    dateFrom: campaign.dateFrom.toISOString(),
    dateTo: campaign.dateTo.toISOString(),
    percentage: Number(percentage),
    merchantCompensationPercentage: Number(merchantCompensationPercentage),
    maxBudget: maxBudget === null ? null : Number(maxBudget),
  }
}

type Counts = FoundHome['counts']

/** Counts of campaigns, with 0 for missing ones. */
export function countsView(counts: Counts, party: Party) {
  const sum = (fits: (row: Counts[number]) => boolean) =>
    counts.filter(fits).reduce((total, { count }) => total + count, 0)
  // The page that this count links to does not list deleted campaigns, so they are not counted.
  const hasStatus = (status: string) => (row: Counts[number]) => row.bankStatus === status && row.status !== 'deleted'
  return {
    byStatus: Object.fromEntries(campaignStatuses.map(status => [status, sum(row => row.status === status)])),
    byBankStatus:
      party.type === 'bank' ? Object.fromEntries(bankStatuses.map(status => [status, sum(hasStatus(status))])) : null,
  }
}
