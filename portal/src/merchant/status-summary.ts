/** One sentence about the next step of a campaign, from the merchant's point of view. Pure. */
import type { CampaignDetails, InvitedBank } from '../campaigns/types.ts'
import type { Format } from '../i18n/format.ts'
import type { SameTexts } from '../i18n/texts.ts'
import type { campaignPageTexts } from './campaign-texts.ts'

type Texts = SameTexts<(typeof campaignPageTexts)['en']['blocks']>
type Campaign = Pick<CampaignDetails, 'status' | 'banks' | 'dateFrom' | 'dateTo' | 'createdByType' | 'country'> & {
  expectedCompensation: number | null
}

export function blockingText(campaign: Campaign, input: { now: Date; texts: Texts; format: Format }): string {
  const { texts, format, now } = input
  const { status, dateFrom, dateTo } = campaign
  const when = (at: string) => [format.dateTime(at), format.relative(at, now)] as const
  switch (status) {
    case 'awaitingBankApproval':
      return banksDecide(campaign, input)
    case 'awaitingMerchantApproval':
      return texts.launch(format.dateTime(dateTo))
    case 'approved':
      return Date.parse(dateFrom) <= now.getTime() ? texts.startsNow : texts.starts(...when(dateFrom))
    case 'active':
      return texts.runs(...when(dateTo))
    case 'awaitingCompensationConfirmation':
      return reconciliation(campaign, input)
    case 'awaitingCompensationPayment':
      return texts.pay(format.money(campaign.expectedCompensation ?? 0, campaign.country.currency.code))
    case 'paymentConfirmed':
      return texts.receive
    case 'compensationReceived':
      return texts.rest
    default:
      return texts[status]
  }
}

type Input = { now: Date; texts: Texts; format: Format }

function banksDecide({ banks, createdByType, dateTo }: Campaign, { texts, format }: Input): string {
  const pending = namesOf(banks.filter(({ status }) => status === 'pending'))
  if (createdByType === 'bank') return texts.author(format.list(pending), format.dateTime(dateTo))
  if (pending.length === 0) return texts.allDeclined
  const isLaunchPossible = banks.some(({ status }) => status === 'approved')
  return isLaunchPossible ? texts.banksOrYou(format.list(pending)) : texts.banks(format.list(pending))
}

/**
 * Names the first open step of the reconciliation. The merchant's own steps come before those of banks.
 */
function reconciliation({ banks }: Campaign, { texts, format }: Input): string {
  const at = (stage: InvitedBank['bankReportingStatus']) =>
    namesOf(banks.filter(bank => bank.bankReportingStatus === stage && !bank.settlementConfirmed))
  const answers = at('awaitingMerchantReconciliationConfirmation')
  const settlements = at('awaitingCompensationConfirmation')
  const reports = [...at('awaitingBankReconciliation'), ...at('awaitingUpdatedBankReconciliation')]
  const sentences = [
    answers.length > 0 && texts.answer(format.list(answers)),
    settlements.length > 0 && texts.settle(format.list(settlements)),
    reports.length > 0 && texts.reports(format.list(reports)),
  ]
  return sentences.filter(Boolean).slice(0, 1).join('')
}

const namesOf = (banks: readonly { name: string }[]): string[] => banks.map(({ name }) => name)
