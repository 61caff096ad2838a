/**
 * Computes the stages of a campaign's life cycle and its progress, for the pages of merchants, banks and the operator.
 */
import type { StatusOf } from '../../ui/status-texts.ts'

export type CampaignStatus = StatusOf<'campaign'>
export type CampaignInLife = { status: CampaignStatus; dateFrom: string; dateTo: string; createdAt: string }

/** The states that a campaign passes through when nothing stops it. */
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

/** Whether the campaign ended early, so that no further state follows. */
const isStopped = (status: CampaignStatus): boolean => !wayOfLife.some(each => each === status)

export type Stage = { status: CampaignStatus; state: 'done' | 'current' | 'next' | 'bad' }

/** The stages to draw. A stopped campaign has only its first and its last stage here; the history shows the rest. */
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
 * The progress from 0 to 1 towards the next state, if the campaign reaches that state at a fixed time.
 *
 * @returns null when the next step depends on people and not on time
 */
export function todayOf({ status, dateFrom, dateTo, createdAt }: CampaignInLife, now: Date): number | null {
  const share = (from: string, to: string) =>
    Math.min(1, Math.max(0, (now.getTime() - Date.parse(from)) / Math.max(1, Date.parse(to) - Date.parse(from))))
  if (status === 'approved') return share(createdAt, dateFrom)
  return status === 'active' ? share(dateFrom, dateTo) : null
}
