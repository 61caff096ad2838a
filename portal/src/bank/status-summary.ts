/** One sentence about the next step of a campaign, from the bank's point of view. Pure. */
import type { Format } from '../i18n/format.ts'
import type { SameTexts } from '../i18n/texts.ts'
import type { bankCampaignTexts } from './campaign-texts.ts'
import type { BankCampaign } from './types.ts'

type Texts = SameTexts<(typeof bankCampaignTexts)['en']['blocks']>
type Campaign = Pick<
  BankCampaign,
  | 'status'
  | 'bankStatus'
  | 'bankReportingStatus'
  | 'settlementConfirmed'
  | 'compensationAcknowledged'
  | 'createdByType'
  | 'dateFrom'
  | 'dateTo'
>
type Input = { now: Date; texts: Texts; format: Format }

export function blockingText(campaign: Campaign, { now, texts, format }: Input): string {
  const { status, bankStatus, createdByType, dateFrom, dateTo } = campaign
  const when = (at: string) => [format.dateTime(at), format.relative(at, now)] as const
  if (status === 'deleted') return texts.deleted
  if (bankStatus === 'declined') return createdByType === 'bank' ? texts.withdrawn : texts.declined
  if (status === 'expired') return createdByType === 'bank' ? texts.notStarted : texts.expired
  if (bankStatus === 'expired') return texts.leftOut
  switch (status) {
    case 'awaitingBankApproval':
    case 'awaitingMerchantApproval':
      if (bankStatus === 'approved') {
        const text = status === 'awaitingBankApproval' ? texts.othersOrLaunch : texts.launch
        return text(format.dateTime(dateTo))
      }
      return createdByType === 'bank' ? texts.start(...when(dateTo)) : texts.decide(...when(dateTo))
    case 'approved':
      return Date.parse(dateFrom) <= now.getTime() ? texts.startsNow : texts.starts(...when(dateFrom))
    case 'active':
      return texts.runs(...when(dateTo))
    case 'awaitingCompensationConfirmation':
      return reportingText(campaign, texts)
    case 'awaitingCompensationPayment':
      return texts.pay
    case 'paymentConfirmed':
      return campaign.compensationAcknowledged ? texts.otherBanks : texts.acknowledge
    case 'compensationReceived':
      return texts.rest
    default:
      return texts[status]
  }
}

/** Who must act next between this bank and the merchant. */
function reportingText(campaign: Campaign, texts: Texts): string {
  const { bankReportingStatus, settlementConfirmed } = campaign
  if (settlementConfirmed) return texts.settled
  return bankReportingStatus === null ? texts.notYet : texts[bankReportingStatus]
}
