/** The groups of statuses, as in the platform's list of campaigns. */
import type { CampaignStatus } from '../detail/life.ts'

export const groups = {
  awaitingApproval: ['awaitingBankApproval', 'awaitingMerchantApproval'],
  approved: ['approved'],
  active: ['active'],
  finished: [
    'awaitingCompensationConfirmation',
    'awaitingCompensationPayment',
    'paymentConfirmed',
    'compensationReceived',
    'completed',
  ],
  closed: ['declined', 'expired', 'deleted'],
} as const satisfies Record<string, readonly CampaignStatus[]>

export type Group = keyof typeof groups
export const groupNames = ['awaitingApproval', 'approved', 'active', 'finished', 'closed'] as const satisfies Group[]

/** Every status, in the order of its group. */
export const statusNames: readonly CampaignStatus[] = groupNames.flatMap(group => [...groups[group]])

/** The number of campaigns in a group. */
export const countOf = (group: Group, byStatus: Partial<Record<CampaignStatus, number>>): number =>
  groups[group].reduce((sum, status) => sum + (byStatus[status] ?? 0), 0)

/** Whether the campaign will not take place. Then there is no reconciliation. */
export const isClosed = (status: CampaignStatus): boolean =>
  (groups.closed as readonly CampaignStatus[]).includes(status)
