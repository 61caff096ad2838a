/** Where a campaign stands in its life: for merchants, banks and the operator alike. */
import type { StatusOf } from '../../ui/status-texts.ts'

export type CampaignStatus = StatusOf<'campaign'>
export type CampaignInLife = { status: CampaignStatus; dateFrom: string; dateTo: string; createdAt: string }

/** The way that a campaign goes when nothing stops it. */
export const wayOfLife = [
  'awaitingBankApproval',
  'awaitingMerchantApproval',
  'approved',
  'active',
  'awaitingCompensationConfirmation',
  'awaitingCompensationPayment',
  'paymentConfirmed',
  'compensationReceived',
  'completed',
] as const satisfies readonly CampaignStatus[]

/** It ended before its time; the way stops here. */
const isStopped = (status: CampaignStatus): boolean => !wayOfLife.some(each => each === status)

export type Stage = { status: CampaignStatus; state: 'done' | 'current' | 'next' | 'bad' }

/** The stages to draw; of a campaign that was stopped only its beginning and its end, since the one between is history's affair. */
export function stagesOf(status: CampaignStatus): Stage[] {
  if (isStopped(status))
    return [
      { status: 'awaitingBankApproval', state: 'done' },
      { status, state: 'bad' },
    ]
  const at = (wayOfLife as readonly CampaignStatus[]).indexOf(status)
  const isOver = status === 'completed'
  return wayOfLife.map((each, index) => ({
    status: each,
    state: index < at || isOver ? 'done' : index === at ? 'current' : 'next',
  }))
}

/**
 * How far the campaign is on the way from where it stands to what time alone brings next, 0 to 1.
 *
 * @returns null where the next step waits for people and not for time
 */
export function todayOf({ status, dateFrom, dateTo, createdAt }: CampaignInLife, now: Date): number | null {
  const share = (from: string, to: string) =>
    Math.min(1, Math.max(0, (now.getTime() - Date.parse(from)) / Math.max(1, Date.parse(to) - Date.parse(from))))
  if (status === 'approved') return share(createdAt, dateFrom)
  return status === 'active' ? share(dateFrom, dateTo) : null
}
