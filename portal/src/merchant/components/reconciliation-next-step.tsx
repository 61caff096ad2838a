import { Button, Card, Group, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { isClosed } from '../../campaigns/list/campaign-groups.ts'
import type { CampaignDetails, ReconciledBank } from '../../campaigns/types.ts'
import type { Format } from '../../i18n/format.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { type Draft, useDraft } from '../../session/draft.ts'
import { useMayChange } from '../../session/use-session.ts'
import { campaignPageTexts } from '../campaign-texts.ts'
import { useAccept, useSettle } from '../mutations.ts'
import { type AnswerDraft, AnswerForm } from './answer-form.tsx'
import { PayButton } from './pay-button.tsx'

type Props = { campaign: CampaignDetails; bank: ReconciledBank }

/** Shows who must act next in the reconciliation with a bank. If the merchant must act, also shows its actions. */
export function NextStep({ campaign, bank }: Props) {
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const format = useFormat()
  const mayChange = useMayChange()
  return (
    <Card component="section" aria-label={texts.next}>
      <Title order={2} mb={4}>
        {texts.next}
      </Title>
      <Text maw="75ch">{stepText({ campaign, bank }, texts, format)}</Text>
      {mayChange && <StepActions campaign={campaign} bank={bank} />}
    </Card>
  )
}

type Texts = SameTexts<(typeof campaignPageTexts)['en']['reconciliationPage']>

function stepText({ campaign, bank }: Props, texts: Texts, format: Format): string {
  const { status, dateTo, expectedCompensation, country } = campaign
  const invited = campaign.banks.find(({ id }) => id === bank.id)
  const stage = bank.bankReportingStatus
  const money = (amount: number | null) => format.money(amount ?? 0, country.currency.code)
  const amount = money(bank.expectedCompensation)
  if (stage === null && isClosed(status)) return texts.closed
  if (stage === null)
    return invited?.status === 'pending' || invited?.status === 'approved'
      ? texts.notYet(format.dateTime(dateTo))
      : texts.notPart
  if (!bank.settlementConfirmed) return texts[stage](stage === 'awaitingCompensationConfirmation' ? amount : bank.name)
  if (status === 'awaitingCompensationConfirmation') return texts.settledWaits(amount)
  if (status === 'awaitingCompensationPayment') return texts.settledPay(amount, money(expectedCompensation))
  return status === 'paymentConfirmed' ? texts.settledPaid(amount) : texts.settledOver
}

function StepActions({ campaign, bank }: Props) {
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const format = useFormat()
  const amount = format.money(bank.expectedCompensation ?? 0, campaign.country.currency.code)
  const { bankReportingStatus: stage, settlementConfirmed } = bank
  const isToSettle = stage === 'awaitingCompensationConfirmation' && !settlementConfirmed
  const settle = useSettle(partOf(campaign, bank), amount, isToSettle)
  if (stage === 'awaitingMerchantReconciliationConfirmation') return <Answer campaign={campaign} bank={bank} />
  if (isToSettle)
    return (
      <Group mt="md">
        <Button loading={settle.isPending} onClick={settle.ask}>
          {texts.settle}
        </Button>
      </Group>
    )
  if (settlementConfirmed && campaign.status === 'awaitingCompensationPayment')
    return (
      <Group mt="md">
        <PayButton campaign={campaign} />
      </Group>
    )
  return null
}

/** The confirmation shows figures of the reconciliation, so the request sends the reconciliation's version. */
const partOf = (campaign: CampaignDetails, bank: ReconciledBank) => ({
  ...campaign,
  etag: bank.etag,
  bankId: bank.id,
  bankName: bank.name,
})

/** Accepts the bank's report, or answers it with the merchant's own report. Unsent input survives a reload. */
function Answer({ campaign, bank }: Props) {
  const draft = useDraft<AnswerDraft>(`own-report/${campaign.cashbackId}/${bank.id}`)
  return draft.isRead && <AnswerButtons campaign={campaign} bank={bank} draft={draft} />
}

function AnswerButtons({ campaign, bank, draft }: Props & { draft: Draft<AnswerDraft> }) {
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const format = useFormat()
  const amount = format.money(bank.expectedCompensation ?? 0, campaign.country.currency.code)
  const accept = useAccept(partOf(campaign, bank), bank.differences.total, amount)
  const [isAnswering, setAnswering] = useState(draft.restored !== null)
  return (
    <>
      <Group mt="md" gap="sm">
        <Button loading={accept.isPending} onClick={accept.ask}>
          {texts.accept}
        </Button>
        <Button variant="default" aria-expanded={isAnswering} onClick={() => setAnswering(!isAnswering)}>
          {texts.answer}
        </Button>
      </Group>
      {isAnswering && <AnswerForm campaign={campaign} bank={bank} draft={draft} />}
    </>
  )
}
