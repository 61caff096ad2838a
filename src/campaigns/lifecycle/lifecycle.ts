/**
 * The life of a campaign and of each bank's part in it (contract/campaigns.md, "Who decides when"). Only this file
 * decides which of the possible transitions (`transitions.ts`) happen. The caller locks the campaign, calls a function
 * of this file, and writes all changes in one transaction. The statement that writes them checks again that the starting
 * states are unchanged.
 */
import { DomainError, type ErrorCode } from '../../errors.ts'
import {
  type BankReportingStatus,
  type BankStatus,
  type CampaignStatus,
  type ReportingStage,
  type ReportingTrigger,
  reportingStages,
  type Subject,
  type Trigger,
  transitions,
} from './transitions.ts'

/** The part of a campaign that its lifecycle depends on. */
export type CampaignState = {
  cashbackId: string
  merchantId: string
  /** null: the merchant is the author. */
  createdByBankId: string | null
  status: CampaignStatus
  dateFrom: Date
  dateTo: Date
  /** Whether the merchant has to pay: false when `merchantCompensationPercentage` is 0. */
  merchantPays: boolean
  banks: readonly BankState[]
}

export type BankState = { bankId: string; status: BankStatus; stage: ReportingStage | null }

/**
 * One transition from `transitions`, made by a campaign or by one bank's part; `bankId` is null for the campaign
 * itself.
 */
export type Change = { trigger: Trigger } & (
  | { subject: 'campaign'; bankId: null; from: CampaignStatus | null; to: CampaignStatus }
  | { subject: 'bank'; bankId: string; from: BankStatus | null; to: BankStatus | null }
  | { subject: 'reporting'; trigger: ReportingTrigger; bankId: string; from: ReportingStage | null; to: ReportingStage }
)

/**
 * `changes` lists all effects of the trigger. It is empty when the same trigger was handled before, so a retry is safe.
 */
export type Decision = { changes: readonly Change[] }

const dayMs = 86_400_000
/** A campaign can be deleted until this long before its start (contract/campaigns.md, "Who decides when"). */
export const deleteBeforeStartMs = 2 * dayMs

const refuse = (text: string, code: ErrorCode = 'campaign-state', rule?: string): never => {
  const problem = rule === undefined ? undefined : { line: null, column: null, rule, params: {}, value: null }
  throw new DomainError(code, text, problem && { problems: [problem] })
}

const periodNotEnded = 'period-not-ended'
const periodOver = 'period-over'

/** @throws Error when `transitions` does not have this transition: a bug in this file */
function change(campaign: CampaignState, trigger: Trigger, to: CampaignStatus): Change {
  checkTransition('campaign', campaign.status, trigger, to)
  return { trigger, subject: 'campaign', bankId: null, from: campaign.status, to }
}

function bankChange({ bankId, status }: BankState, trigger: Trigger, to: BankStatus | null): Change {
  checkTransition('bank', status, trigger, to)
  return { trigger, subject: 'bank', bankId, from: status, to }
}

function reportingChange({ bankId, stage }: BankState, trigger: ReportingTrigger, to: ReportingStage): Change {
  checkTransition('reporting', stage, trigger, to)
  return { trigger, subject: 'reporting', bankId, from: stage, to }
}

function checkTransition(subject: Subject, from: string | null, trigger: Trigger, to: string | null): void {
  const known = transitions.some(
    transition =>
      transition.subject === subject &&
      transition.from === from &&
      transition.trigger === trigger &&
      transition.to === to,
  )
  if (!known) throw new Error(`The table has no transition of a ${subject} from ${from} to ${to} by ${trigger}`)
}

export const awaitsApproval = ({ status }: CampaignState): boolean =>
  status === 'awaitingBankApproval' || status === 'awaitingMerchantApproval'

/**
 * Whether the period is over. From `dateTo` on, nothing can be agreed any more. Decisions check the time as well,
 * because the job that ends campaigns may run late.
 */
export const isOver = ({ dateTo }: CampaignState, now: Date): boolean => dateTo <= now

const withStatus = (campaign: CampaignState, status: BankStatus): BankState[] =>
  campaign.banks.filter(bank => bank.status === status)

/** A new campaign with the banks that it invites. */
export function create(banks: readonly string[]): Decision {
  return {
    changes: [
      { trigger: 'create', subject: 'campaign', bankId: null, from: null, to: 'awaitingBankApproval' },
      ...banks.map(invited),
    ],
  }
}

const invited = (bankId: string): Change => ({ trigger: 'invite', subject: 'bank', bankId, from: null, to: 'pending' })

/**
 * The bank takes part.
 *
 * @throws DomainError 'campaign-state' when the campaign no longer awaits approval, its period is over, or the bank's part is
 *   declined or expired
 */
export function confirm(campaign: CampaignState, bank: BankState, now: Date): Decision {
  const trigger = 'confirm'
  if (bank.status === 'approved') return { changes: [] }
  requireUndecided(campaign, bank, now)
  const approved = bankChange(bank, trigger, 'approved')
  if (campaign.createdByBankId !== null) return { changes: [approved, change(campaign, trigger, 'approved')] }
  return { changes: [approved, ...afterLastDecision(campaign, bank, trigger, true)] }
}

/**
 * The bank does not take part.
 *
 * @throws DomainError 'campaign-state' when the campaign no longer awaits approval, its period is over, or the bank's part is
 *   approved or expired
 */
export function reject(campaign: CampaignState, bank: BankState, now: Date): Decision {
  const trigger = 'reject'
  if (bank.status === 'declined') return { changes: [] }
  requireUndecided(campaign, bank, now)
  const declined = bankChange(bank, trigger, 'declined')
  if (campaign.createdByBankId !== null) return { changes: [declined, change(campaign, trigger, 'declined')] }
  return { changes: [declined, ...afterLastDecision(campaign, bank, trigger, false)] }
}

function requireUndecided(campaign: CampaignState, bank: BankState, now: Date): void {
  if (!awaitsApproval(campaign)) refuse(`The campaign is ${campaign.status}: banks decide before it is launched`)
  if (isOver(campaign, now)) refuse('The campaign is over: its dateTo has passed', 'campaign-state', periodOver)
  if (bank.status !== 'pending') refuse(`The bank has decided already: its participation is ${bank.status}`)
}

/** When the last bank has decided and at least one has approved, the campaign goes on to `awaitingMerchantApproval`. */
function afterLastDecision(campaign: CampaignState, decided: BankState, trigger: Trigger, approves: boolean): Change[] {
  const others = campaign.banks.filter(({ bankId }) => bankId !== decided.bankId)
  const approved = approves || others.some(({ status }) => status === 'approved')
  const isLast = others.every(({ status }) => status !== 'pending')
  if (!isLast || !approved || campaign.status !== 'awaitingBankApproval') return []
  return [change(campaign, trigger, 'awaitingMerchantApproval')]
}

/**
 * The merchant launches its campaign; undecided banks are left out.
 *
 * @throws DomainError 'campaign-state' when a bank created the campaign, it no longer awaits approval, or its period is over;
 *   'no-bank-approved' when no bank has approved yet
 */
export function launch(campaign: CampaignState, now: Date): Decision {
  const trigger = 'launch'
  if (campaign.createdByBankId !== null) refuse('A campaign that a bank created starts by that bank’s confirmation')
  if (!awaitsApproval(campaign)) refuse(`The campaign is ${campaign.status}: it cannot be launched`)
  if (isOver(campaign, now)) refuse('The campaign is over: its dateTo has passed', 'campaign-state', periodOver)
  if (withStatus(campaign, 'approved').length === 0)
    refuse('At least one bank must approve participation first', 'no-bank-approved')
  const expired = withStatus(campaign, 'pending').map(bank => bankChange(bank, trigger, 'expired'))
  return { changes: [...expired, change(campaign, trigger, 'approved')] }
}

/**
 * The author deletes the campaign.
 *
 * @throws DomainError 'campaign-state' when the campaign has started or is closed, or starts in less than 2 days
 */
export function remove(campaign: CampaignState, now: Date): Decision {
  const trigger = 'delete'
  const { status, dateFrom } = campaign
  if (status === 'deleted') return { changes: [] }
  if (!awaitsApproval(campaign) && status !== 'approved')
    refuse(`The campaign is ${status}: it cannot be deleted any more`)
  if (dateFrom.getTime() - now.getTime() < deleteBeforeStartMs)
    refuse('A campaign can be deleted until 2 days before its start')
  return { changes: [change(campaign, trigger, 'deleted')] }
}

/**
 * Decides about an edit that changes which banks are invited.
 *
 * @param bankIds all banks that are to be invited from now on
 * @throws DomainError 'campaign-state' when the banks can no longer change, or when the edit removes a bank although a
 *   bank has already approved
 */
export function changeBanks(campaign: CampaignState, bankIds: readonly string[]): Decision {
  const added = bankIds.filter(id => !campaign.banks.some(({ bankId }) => bankId === id))
  const removed = campaign.banks.filter(({ bankId }) => !bankIds.includes(bankId))
  if (added.length === 0 && removed.length === 0) return { changes: [] }
  if (!awaitsApproval(campaign) || campaign.createdByBankId !== null)
    refuse(`The campaign is ${campaign.status}: its banks cannot change any more`)
  if (removed.length > 0 && isAgreed(campaign)) refuse('A bank has approved: banks can only be added')
  const isBack = added.length > 0 && campaign.status === 'awaitingMerchantApproval'
  return {
    changes: [
      ...removed.map(bank => bankChange(bank, 'uninvite', null)),
      ...added.map(invited),
      ...(isBack ? [change(campaign, 'invite', 'awaitingBankApproval')] : []),
    ],
  }
}

/** Whether a bank has approved the merchant's offer. */
export const isAgreed = (campaign: CampaignState): boolean =>
  campaign.status === 'awaitingMerchantApproval' || withStatus(campaign, 'approved').length > 0

/**
 * The next change that is due by `now`. Apply it and call this again until the result is null, because a campaign may
 * have started and ended in the meantime.
 *
 * @param completeAfterMs the wait between `compensationReceived` and `completed`
 */
export function passTime(
  campaign: CampaignState & { compensationReceivedAt: Date | null },
  now: Date,
  completeAfterMs: number,
): Decision | null {
  const { status, dateFrom, compensationReceivedAt } = campaign
  if (status === 'approved' && dateFrom <= now) return { changes: [change(campaign, 'start', 'active')] }
  if ((status === 'active' || awaitsApproval(campaign)) && isOver(campaign, now)) return end(campaign)
  const isWaitOver =
    compensationReceivedAt !== null && compensationReceivedAt.getTime() + completeAfterMs <= now.getTime()
  if (status === 'compensationReceived' && isWaitOver) return complete(campaign)
  return null
}

function end(campaign: CampaignState): Decision {
  const trigger = 'end'
  const pending = withStatus(campaign, 'pending').map(bank => bankChange(bank, trigger, 'expired'))
  const approved = withStatus(campaign, 'approved')
  const changes =
    campaign.status === 'active'
      ? [
          ...approved.map(bank => reportingChange(bank, trigger, 'awaitingBankReconciliation')),
          change(campaign, trigger, 'awaitingCompensationConfirmation'),
        ]
      : [...approved.map(bank => bankChange(bank, trigger, 'expired')), change(campaign, trigger, 'expired')]
  return { changes: [...pending, ...changes] }
}

/**
 * Completes the campaign after the compensation was received: when the wait is over, or earlier when the operator asks.
 *
 * @throws DomainError 'campaign-state' when the campaign is neither `compensationReceived` nor already `completed`
 */
export function complete(campaign: CampaignState): Decision {
  const trigger = 'complete'
  if (campaign.status === 'completed') return { changes: [] }
  if (campaign.status !== 'compensationReceived')
    refuse(`The campaign is ${campaign.status}: it can be completed once the compensation was received`)
  return { changes: [change(campaign, trigger, 'completed')] }
}

/**
 * The bank uploads its report, the first or an updated one.
 *
 * @throws DomainError 'campaign-state' when no report of the bank is awaited
 */
export function uploadBankReport(bank: BankState): Decision {
  const trigger = 'upload-bank-report'
  if (bank.stage !== 'awaitingBankReconciliation' && bank.stage !== 'awaitingUpdatedBankReconciliation')
    refuse(`No report of the bank is awaited: ${stageInWords(bank)}`, 'campaign-state', stageRule(bank))
  return { changes: [reportingChange(bank, trigger, 'awaitingMerchantReconciliationConfirmation')] }
}

/**
 * The merchant answers the bank's report with its own.
 *
 * @throws DomainError 'campaign-state' when no answer of the merchant is awaited
 */
export function uploadMerchantReport(bank: BankState): Decision {
  const trigger = 'upload-merchant-report'
  if (bank.stage !== 'awaitingMerchantReconciliationConfirmation')
    refuse(`No report of the merchant is awaited: ${stageInWords(bank)}`, 'campaign-state', stageRule(bank))
  return { changes: [reportingChange(bank, trigger, 'awaitingUpdatedBankReconciliation')] }
}

/**
 * The merchant agrees with the bank's report.
 *
 * @throws DomainError 'campaign-state' when the bank has no report that awaits the merchant's answer
 */
export function acceptReport(bank: BankState): Decision {
  const trigger = 'accept-report'
  if (isAfter(bank, 'awaitingUpdatedBankReconciliation')) return { changes: [] }
  if (bank.stage !== 'awaitingMerchantReconciliationConfirmation')
    refuse(`There is no report to accept: ${stageInWords(bank)}`, 'campaign-state', stageRule(bank))
  return { changes: [reportingChange(bank, trigger, 'awaitingCompensationConfirmation')] }
}

/**
 * The merchant confirms settlement with the bank.
 *
 * @throws DomainError 'campaign-state' when the reconciliation with the bank is not complete
 */
export function settle(campaign: CampaignState, bank: BankState): Decision {
  const trigger = 'settle'
  if (isAfter(bank, 'awaitingCompensationConfirmation')) return { changes: [] }
  if (bank.stage !== 'awaitingCompensationConfirmation')
    refuse(
      `Settlement can be confirmed once reconciliation is complete: ${stageInWords(bank)}`,
      'campaign-state',
      stageRule(bank),
    )
  if (campaign.status !== 'awaitingCompensationConfirmation')
    refuse(`The campaign is ${campaign.status}: no settlement is awaited`)
  const settled = reportingChange(bank, trigger, 'settled')
  const isLast = allOthers(campaign, bank, 'settled')
  const next = campaign.merchantPays ? 'awaitingCompensationPayment' : 'completed'
  return { changes: [settled, ...(isLast ? [change(campaign, trigger, next)] : [])] }
}

/**
 * The merchant has paid its share.
 *
 * @throws DomainError 'campaign-state' before all banks are settled, and when nothing has to be paid
 */
export function pay(campaign: CampaignState): Decision {
  const trigger = 'pay'
  const { status, merchantPays } = campaign
  if (status === 'paymentConfirmed' || status === 'compensationReceived' || (status === 'completed' && merchantPays))
    return { changes: [] }
  if (status !== 'awaitingCompensationPayment') refuse(`The campaign is ${status}: no payment is awaited`)
  return { changes: [change(campaign, trigger, 'paymentConfirmed')] }
}

/**
 * The bank has received the merchant's share.
 *
 * @throws DomainError 'campaign-state' before the merchant has paid, and for a bank that does not take part
 */
export function acknowledge(campaign: CampaignState, bank: BankState): Decision {
  const trigger = 'acknowledge'
  if (bank.stage === 'acknowledged') return { changes: [] }
  if (campaign.status !== 'paymentConfirmed' || bank.stage !== 'settled')
    refuse(`The campaign is ${campaign.status}: no compensation to the bank awaits its confirmation`)
  const acknowledged = reportingChange(bank, trigger, 'acknowledged')
  const isLast = allOthers(campaign, bank, 'acknowledged')
  return { changes: [acknowledged, ...(isLast ? [change(campaign, trigger, 'compensationReceived')] : [])] }
}

const allOthers = (campaign: CampaignState, bank: BankState, stage: ReportingStage): boolean =>
  withStatus(campaign, 'approved').every(other => other.bankId === bank.bankId || other.stage === stage)

const isAfter = ({ stage }: BankState, than: ReportingStage): boolean =>
  stage !== null && reportingStages.indexOf(stage) > reportingStages.indexOf(than)

/**
 * The rule code of a refusal because the period has not ended; undefined when a refusal has another reason. The portal
 * shows its own text for this code, because users can get this refusal even on a page that is up to date.
 */
const stageRule = ({ stage, status }: BankState): string | undefined =>
  stage === null && (status === 'approved' || status === 'pending') ? periodNotEnded : undefined

function stageInWords({ stage, status }: BankState): string {
  if (stage !== null) return `the reconciliation with the bank is at ${stage}`
  return status === 'approved' || status === 'pending'
    ? 'the campaign’s period has not ended yet, and reports are exchanged after its end'
    : 'the bank does not take part in the campaign'
}

/**
 * The banks whose customers a new segment contains: those that take part, and those that may still confirm.
 *
 * @throws DomainError 'campaign-state' once the period has ended or the campaign is closed
 */
export function segmentBanks(campaign: CampaignState, now: Date): string[] {
  const { status, banks } = campaign
  if (!awaitsApproval(campaign) && status !== 'approved' && status !== 'active')
    refuse(`The campaign is ${status}: segments are formed until its period ends`)
  if (isOver(campaign, now)) refuse('The campaign is over: its dateTo has passed', 'campaign-state', periodOver)
  return banks.filter(bank => bank.status === 'pending' || bank.status === 'approved').map(({ bankId }) => bankId)
}

/** The contract's value for a bank's reporting stage. */
export function bankReportingStatus(stage: ReportingStage | null): BankReportingStatus | null {
  return stage === 'settled' || stage === 'acknowledged' ? 'awaitingCompensationConfirmation' : stage
}

/** The contract's value `settlementConfirmed` for a bank's reporting stage. */
export const isSettled = (stage: ReportingStage | null): boolean => stage === 'settled' || stage === 'acknowledged'

/** Whether a decision would change something now. Tells users which actions they can take. */
export const isPossible = (decide: () => Decision): boolean => effectOf(decide) === 'changes'

/** Whether a decision would change something now, would repeat an earlier one, or would be refused. */
export function effectOf(decide: () => Decision): 'changes' | 'repeats' | 'is refused' {
  try {
    return decide().changes.length > 0 ? 'changes' : 'repeats'
  } catch (error) {
    if (error instanceof DomainError) return 'is refused'
    throw error
  }
}
