import type { CampaignDetails } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'

/** A link to the first bank whose reconciliation waits for the merchant. Shows nothing if there is none. */
export function ReconciliationStep({ campaign: { cashbackId, status, banks } }: { campaign: CampaignDetails }) {
  const texts = useTexts(campaignPageTexts)
  if (status !== 'awaitingCompensationConfirmation') return null
  const at = (stage: (typeof banks)[number]['bankReportingStatus']) =>
    banks.find(bank => bank.bankReportingStatus === stage && !bank.settlementConfirmed)
  const toAnswer = at('awaitingMerchantReconciliationConfirmation')
  const bank = toAnswer ?? at('awaitingCompensationConfirmation')
  if (!bank) return null
  return (
    <LinkButton to="/merchant/campaigns/$cashbackId/banks/$bankId" params={{ cashbackId, bankId: bank.id }} state>
      {toAnswer ? texts.toAnswer(bank.name) : texts.toSettle(bank.name)}
    </LinkButton>
  )
}
