/** The statuses of campaigns and of banks' parts, and all possible transitions between them. Pure data. */

/**
 * The statuses of a campaign, in the order in which it passes through them. Lists that are sorted by status use this
 * order.
 */
export const campaignStatuses = [
  'awaitingBankApproval',
  'awaitingMerchantApproval',
  'approved',
  'active',
  'awaitingCompensationConfirmation',
  'awaitingCompensationPayment',
  'paymentConfirmed',
  'compensationReceived',
  'completed',
  'declined',
  'expired',
  'deleted',
] as const
export type CampaignStatus = (typeof campaignStatuses)[number]

/** SQL for the statuses after which a campaign never changes again. */
export const endedStatusesSql = `('completed', 'declined', 'expired', 'deleted')`

export const bankStatuses = ['pending', 'approved', 'declined', 'expired'] as const
export type BankStatus = (typeof bankStatuses)[number]

/**
 * The contract's four values for a bank's reporting. Later stages are visible in `settlementConfirmed` and in the
 * campaign's status.
 */
export const bankReportingStatuses = [
  'awaitingBankReconciliation',
  'awaitingMerchantReconciliationConfirmation',
  'awaitingUpdatedBankReconciliation',
  'awaitingCompensationConfirmation',
] as const
export type BankReportingStatus = (typeof bankReportingStatuses)[number]

export const reportingStages = [...bankReportingStatuses, 'settled', 'acknowledged'] as const
export type ReportingStage = (typeof reportingStages)[number]

export const subjects = ['campaign', 'bank', 'reporting'] as const
export type Subject = (typeof subjects)[number]

/** The actions of partners, of the operator and of the clock that can cause transitions. */
export const triggers = [
  'create',
  'invite',
  'uninvite',
  'confirm',
  'reject',
  'launch',
  'start',
  'end',
  'delete',
  'upload-bank-report',
  'upload-merchant-report',
  'accept-report',
  'settle',
  'pay',
  'acknowledge',
  'complete',
] as const
export type Trigger = (typeof triggers)[number]

/** The triggers that change a bank's reporting. */
export type ReportingTrigger = Extract<
  Trigger,
  'end' | 'upload-bank-report' | 'upload-merchant-report' | 'accept-report' | 'settle' | 'acknowledge'
>

/**
 * The word that banks get, in place of these triggers, for a change of the campaign that another bank has caused. It does not tell
 * what that bank has decided.
 */
export const decided = 'decide'
export const decisions = ['confirm', 'reject'] as const satisfies Trigger[]

type State<Of extends Subject> = Of extends 'campaign'
  ? CampaignStatus
  : Of extends 'bank'
    ? BankStatus
    : Of extends 'reporting'
      ? ReportingStage
      : never
type NextState<Of extends Subject> = State<Of> | (Of extends 'bank' ? null : never)
type TriggerOf<Of extends Subject> = Of extends 'reporting' ? ReportingTrigger : Trigger
type TransitionOf<Of extends Subject> = Of extends Subject
  ? {
      subject: Of
      /**
       * The state before the transition; null when the transition creates the campaign, the bank's part or its
       * reporting.
       */
      from: State<Of> | null
      trigger: TriggerOf<Of>
      /** A further condition, in words; '' when there is none. */
      condition: string
      /** The state after the transition; null when the transition removes the bank's part. */
      to: NextState<Of>
    }
  : never
export type Transition = TransitionOf<Subject>

/** All possible transitions. */
export const transitions: readonly Transition[] = [
  ...campaignTransitions([
    [null, 'create', '', 'awaitingBankApproval'],
    ['awaitingBankApproval', 'confirm', 'as the author', 'approved'],
    ['awaitingBankApproval', 'confirm', 'as the last bank', 'awaitingMerchantApproval'],
    ['awaitingBankApproval', 'reject', 'as the last bank, another has approved', 'awaitingMerchantApproval'],
    ['awaitingBankApproval', 'reject', 'as the author', 'declined'],
    ['awaitingBankApproval', 'launch', 'a bank has approved', 'approved'],
    ['awaitingMerchantApproval', 'launch', 'a bank has approved', 'approved'],
    ['awaitingMerchantApproval', 'invite', '', 'awaitingBankApproval'],
    ['approved', 'start', 'dateFrom has come', 'active'],
    ['active', 'end', 'dateTo has come', 'awaitingCompensationConfirmation'],
    ['awaitingBankApproval', 'end', 'dateTo has come', 'expired'],
    ['awaitingMerchantApproval', 'end', 'dateTo has come', 'expired'],
    ['awaitingBankApproval', 'delete', 'at least 48 h before dateFrom', 'deleted'],
    ['awaitingMerchantApproval', 'delete', 'at least 48 h before dateFrom', 'deleted'],
    ['approved', 'delete', 'at least 48 h before dateFrom', 'deleted'],
    ['awaitingCompensationConfirmation', 'settle', 'it was the last bank', 'awaitingCompensationPayment'],
    ['awaitingCompensationConfirmation', 'settle', 'it was the last bank, and the merchant bears 0 %', 'completed'],
    ['awaitingCompensationPayment', 'pay', '', 'paymentConfirmed'],
    ['paymentConfirmed', 'acknowledge', 'it was the last bank', 'compensationReceived'],
    ['compensationReceived', 'complete', 'after COMPLETE_AFTER_DAYS (30), or by the operator', 'completed'],
  ]),
  ...bankTransitions([
    [null, 'invite', '', 'pending'],
    ['pending', 'confirm', '', 'approved'],
    ['pending', 'reject', '', 'declined'],
    ['pending', 'launch', '', 'expired'],
    ['pending', 'end', '', 'expired'],
    ['approved', 'end', 'the campaign was never launched', 'expired'],
    ['pending', 'uninvite', '', null],
    ['declined', 'uninvite', '', null],
  ]),
  ...reportingTransitions([
    [null, 'end', 'the bank has approved', 'awaitingBankReconciliation'],
    ['awaitingBankReconciliation', 'upload-bank-report', '', 'awaitingMerchantReconciliationConfirmation'],
    ['awaitingUpdatedBankReconciliation', 'upload-bank-report', '', 'awaitingMerchantReconciliationConfirmation'],
    ['awaitingMerchantReconciliationConfirmation', 'upload-merchant-report', '', 'awaitingUpdatedBankReconciliation'],
    ['awaitingMerchantReconciliationConfirmation', 'accept-report', '', 'awaitingCompensationConfirmation'],
    ['awaitingCompensationConfirmation', 'settle', '', 'settled'],
    ['settled', 'acknowledge', 'the merchant has paid', 'acknowledged'],
  ]),
]

type Row<Of extends Subject> = readonly [State<Of> | null, TriggerOf<Of>, string, NextState<Of>]

function campaignTransitions(rows: readonly Row<'campaign'>[]): Transition[] {
  return rows.map(([from, trigger, condition, to]) => ({ subject: 'campaign', from, trigger, condition, to }))
}

function bankTransitions(rows: readonly Row<'bank'>[]): Transition[] {
  return rows.map(([from, trigger, condition, to]) => ({ subject: 'bank', from, trigger, condition, to }))
}

function reportingTransitions(rows: readonly Row<'reporting'>[]): Transition[] {
  return rows.map(([from, trigger, condition, to]) => ({ subject: 'reporting', from, trigger, condition, to }))
}
