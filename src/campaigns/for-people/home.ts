/** Finds the open tasks in a partner's campaigns by asking the lifecycle, so that its rules are not repeated here. */
import * as lifecycle from '../lifecycle/lifecycle.ts'
import { type Subject, type Trigger, transitions } from '../lifecycle/transitions.ts'

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

/** What happens when nobody acts. */
export const outcomes = ['participation-expires', 'campaign-expires', 'stays'] as const
type Outcome = (typeof outcomes)[number]

/** A step that a bank or the merchant can make now and that others wait for. */
export type Task = {
  kind: TaskKind
  /** The bank that the task is about; null: the whole campaign. */
  bankId: string | null
  /** Who has to act. */
  turn: 'bank' | 'merchant'
  /** The deadline; null: none. */
  by: Date | null
  otherwise: Outcome
}

type Step = { subject: Subject; trigger: Trigger; from: string | null }
const stepKey = ({ subject, trigger, from }: Step): string => `${subject} ${trigger} ${from}`
/**
 * The steps for which the lifecycle has a transition. `tasksOf` tries many steps that have none. Looking them up here
 * is faster than asking the lifecycle, which would refuse them.
 */
const knownSteps: ReadonlySet<string> = new Set(transitions.map(stepKey))

/**
 * All tasks that bring a campaign forward and can be done now.
 *
 * @param campaign with all its banks
 */
export function tasksOf(campaign: lifecycle.CampaignState, now: Date): Task[] {
  const tasks: Task[] = []
  const add = (step: Step, possible: () => lifecycle.Decision, task: Omit<Task, 'by'>) => {
    const by = task.otherwise === 'stays' ? null : campaign.dateTo
    if (knownSteps.has(stepKey(step)) && lifecycle.isPossible(possible)) tasks.push({ ...task, by })
  }
  const stepOf = (trigger: Trigger): Step => ({ subject: 'campaign', trigger, from: campaign.status })
  const ofCampaign = { bankId: null, turn: 'merchant' } as const
  add(stepOf('launch'), () => lifecycle.launch(campaign, now), {
    ...ofCampaign,
    kind: 'launch-possible',
    otherwise: 'campaign-expires',
  })
  add(stepOf('pay'), () => lifecycle.pay(campaign), { ...ofCampaign, kind: 'mark-paid', otherwise: 'stays' })
  for (const bank of campaign.banks) addOfBank(campaign, bank, now, add)
  return tasks
}

function addOfBank(
  campaign: lifecycle.CampaignState,
  bank: lifecycle.BankState,
  now: Date,
  add: (step: Step, possible: () => lifecycle.Decision, task: Omit<Task, 'by'>) => void,
): void {
  const { bankId } = bank
  const [ofBank, ofMerchant] = [{ bankId, turn: 'bank' } as const, { bankId, turn: 'merchant' } as const]
  const report = (trigger: Trigger): Step => ({ subject: 'reporting', trigger, from: bank.stage })
  add({ subject: 'bank', trigger: 'confirm', from: bank.status }, () => lifecycle.confirm(campaign, bank, now), {
    ...ofBank,
    kind: 'decide-invitation',
    otherwise: campaign.createdByBankId === null ? 'participation-expires' : 'campaign-expires',
  })
  add(report('upload-bank-report'), () => lifecycle.uploadBankReport(bank), {
    ...ofBank,
    kind: 'upload-report',
    otherwise: 'stays',
  })
  add(report('accept-report'), () => lifecycle.acceptReport(bank), {
    ...ofMerchant,
    kind: 'answer-report',
    otherwise: 'stays',
  })
  add(report('settle'), () => lifecycle.settle(campaign, bank), {
    ...ofMerchant,
    kind: 'confirm-settlement',
    otherwise: 'stays',
  })
  add(report('acknowledge'), () => lifecycle.acknowledge(campaign, bank), {
    ...ofBank,
    kind: 'acknowledge-compensation',
    otherwise: 'stays',
  })
}

/**
 * The tasks that a bank may see: its own tasks, the merchant's tasks about this bank, and, if the bank takes part, the
 * tasks about the whole campaign.
 */
export function seenByBank(tasks: readonly Task[], campaign: lifecycle.CampaignState, bankId: string): Task[] {
  const takesPart = campaign.banks.some(bank => bank.bankId === bankId && bank.status === 'approved')
  return tasks.filter(task => task.bankId === bankId || (task.bankId === null && takesPart))
}
