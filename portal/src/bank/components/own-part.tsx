import { Card, Stack, Title } from '@mantine/core'
import { isClosed } from '../../campaigns/list/campaign-groups.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { type KeyFact, KeyFacts } from '../../ui/key-facts.tsx'
import { SaveFile } from '../../ui/save-file.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Count, Money, none, Percent } from '../../ui/values.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import type { BankCampaign } from '../types.ts'

/** The bank's part in the campaign: its decision, the stage of the reconciliation, its costs and the compensation. */
export function OwnPart({ campaign }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const { bankStatus, merchantCompensationPercentage: share, expectedCompensation, country } = campaign
  const currency = country.currency.code
  const facts: KeyFact[] = [
    { label: texts.decision, value: <StatusBadge of="participation" status={bankStatus} /> },
    { label: texts.stage, value: <Stage campaign={campaign} /> },
    { label: texts.share, value: <Percent value={100 - share} /> },
    { label: texts.compensation, value: <Money amount={expectedCompensation} currency={currency} /> },
    { label: texts.terminals, value: <Count value={campaign.terminalsCount} /> },
    useSegmentFact(campaign),
  ]
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.part}
      </Title>
      <KeyFacts facts={facts} columns={3} />
    </Card>
  )
}

function Stage({ campaign }: { campaign: BankCampaign }) {
  const texts = useTexts(bankCampaignTexts)
  const { status, bankStatus, bankReportingStatus, settlementConfirmed, compensationAcknowledged } = campaign
  if (compensationAcknowledged) return <StatusBadge of="reporting" status="acknowledged" />
  if (settlementConfirmed) return <StatusBadge of="reporting" status="settled" />
  if (bankReportingStatus !== null) return <StatusBadge of="reporting" status={bankReportingStatus} />
  const isComing = !isClosed(status) && (bankStatus === 'pending' || bankStatus === 'approved')
  return isComing ? texts.afterPeriod : none
}

function useSegmentFact({ cashbackId, segment }: BankCampaign): KeyFact {
  const texts = useTexts(bankCampaignTexts)
  const format = useFormat()
  if (segment === null) return { label: texts.segment, value: texts.everyone, hint: texts.everyoneHint }
  const { customersCount, formedAt, sourceFileName } = segment
  return {
    label: texts.segment,
    value: <Count value={customersCount} />,
    hint: (
      <Stack gap="xs" align="flex-start">
        {texts.segmentOf(format.dateTime(formedAt), sourceFileName)}
        <SaveFile path={`/portal/cashbacks/${cashbackId}/segment.csv`} name="segment.csv" />
      </Stack>
    ),
  }
}
