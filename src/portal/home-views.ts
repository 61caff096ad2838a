/** What a partner's people see first. */
import { bankStatuses, campaignStatuses } from '../campaigns/lifecycle.ts'
import { seenByBank, type Task, tasksOf } from './home.ts'
import type { countByStatus, OpenCampaign, Party } from './home-store.ts'

/** Everything that waits in these campaigns, what waits for this partner first, and in it what ends first. */
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
    bankId: task.bankId,
    bankName: campaign.banks.find(({ bankId }) => bankId === task.bankId)?.name ?? null,
    dateFrom: campaign.dateFrom.toISOString(),
    dateTo: campaign.dateTo.toISOString(),
    waitsFor: isOwnTurn ? 'me' : 'other',
    by: task.by?.toISOString() ?? null,
    otherwise: task.otherwise,
  } as const
}

type Counts = Awaited<ReturnType<typeof countByStatus>>

/** Counts of all campaigns, 0 where there are none. */
export function countsView(counts: Counts, party: Party) {
  const sum = (fits: (row: Counts[number]) => boolean) =>
    counts.filter(fits).reduce((total, { count }) => total + count, 0)
  return {
    byStatus: Object.fromEntries(campaignStatuses.map(status => [status, sum(row => row.status === status)])),
    byBankStatus:
      party.type === 'bank'
        ? Object.fromEntries(bankStatuses.map(status => [status, sum(row => row.bankStatus === status)]))
        : null,
  }
}
