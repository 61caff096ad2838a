/** What waits for somebody in the campaigns of a partner: asked of the campaigns' own rules, never told twice. */
import * as lifecycle from '../campaigns/lifecycle.ts'

export const taskKinds = [
  'decide-invitation',
  'launch-possible',
  'upload-report',
  'answer-report',
  'confirm-settlement',
  'mark-paid',
  'acknowledge-compensation',
] as const
type TaskKind = (typeof taskKinds)[number]

/** What becomes of it when nobody acts. */
export const outcomes = ['participation-expires', 'campaign-expires', 'stays'] as const
type Outcome = (typeof outcomes)[number]

/** Something that a bank or the merchant can do now, and that others wait for. */
export type Task = {
  kind: TaskKind
  /** The bank that it is about; null: the whole campaign. */
  bankId: string | null
  /** Whose turn it is. */
  turn: 'bank' | 'merchant'
  /** Until when it is possible; null: without end. */
  by: Date | null
  otherwise: Outcome
}

/**
 * All that can be done now with a campaign to bring it on.
 *
 * @param campaign with all its banks
 */
export function tasksOf(campaign: lifecycle.CampaignState, now: Date): Task[] {
  const tasks: Task[] = []
  const add = (possible: () => lifecycle.Decision, task: Omit<Task, 'by'>) => {
    const by = task.otherwise === 'stays' ? null : campaign.dateTo
    if (lifecycle.isPossible(possible)) tasks.push({ ...task, by })
  }
  const ofCampaign = { bankId: null, turn: 'merchant' } as const
  add(() => lifecycle.launch(campaign, now), { ...ofCampaign, kind: 'launch-possible', otherwise: 'campaign-expires' })
  add(() => lifecycle.pay(campaign), { ...ofCampaign, kind: 'mark-paid', otherwise: 'stays' })
  const isByBank = campaign.createdByBankId !== null
  for (const bank of campaign.banks) {
    const { bankId } = bank
    const [ofBank, ofMerchant] = [{ bankId, turn: 'bank' } as const, { bankId, turn: 'merchant' } as const]
    if (bank.status === 'pending')
      add(() => lifecycle.confirm(campaign, bank, now), {
        ...ofBank,
        kind: 'decide-invitation',
        otherwise: isByBank ? 'campaign-expires' : 'participation-expires',
      })
    add(() => lifecycle.uploadBankReport(bank), { ...ofBank, kind: 'upload-report', otherwise: 'stays' })
    add(() => lifecycle.acceptReport(bank), { ...ofMerchant, kind: 'answer-report', otherwise: 'stays' })
    add(() => lifecycle.settle(campaign, bank), { ...ofMerchant, kind: 'confirm-settlement', otherwise: 'stays' })
    add(() => lifecycle.acknowledge(campaign, bank), {
      ...ofBank,
      kind: 'acknowledge-compensation',
      otherwise: 'stays',
    })
  }
  return tasks
}

/**
 * The tasks that a bank gets to see: its own, and those of the merchant for which it waits.
 *
 * @param bankId of the bank
 */
export function seenByBank(tasks: readonly Task[], campaign: lifecycle.CampaignState, bankId: string): Task[] {
  const takesPart = campaign.banks.some(bank => bank.bankId === bankId && bank.status === 'approved')
  return tasks.filter(task => task.bankId === bankId || (task.bankId === null && takesPart))
}
