import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { isClosed } from '../../campaigns/list/campaign-groups.ts'
import { ReportUpload } from '../../campaigns/reconciliation/report-upload.tsx'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { useNow } from '../../session/use-now.ts'
import { useMayChange } from '../../session/use-session.ts'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { useAcknowledge } from '../mutations.ts'
import { useCampaignChanged } from '../queries.ts'
import { blockingText } from '../status-summary.ts'
import type { BankCampaign } from '../types.ts'

/** Shows who must act next in the reconciliation. If the bank must act, also shows its actions. */
export function NextStep({ campaign }: { campaign: BankCampaign }) {
  const { reconciliationPage: texts, blocks } = useTexts(bankCampaignTexts)
  const format = useFormat()
  const now = useNow()
  const mayChange = useMayChange()
  const { status, bankStatus, bankReportingStatus, dateTo, permissions } = campaign
  const isOut = bankStatus === 'declined' || bankStatus === 'expired'
  const text =
    bankReportingStatus === null && isOut
      ? texts.notPart
      : bankReportingStatus === null && !isClosed(status)
        ? texts.notYet(format.dateTime(dateTo))
        : blockingText(campaign, { now, texts: blocks, format })
  return (
    <Card component="section" aria-label={texts.next}>
      <Title order={2} mb={4}>
        {texts.next}
      </Title>
      <Text maw="75ch">{text}</Text>
      {mayChange && permissions.uploadReportAbility && <Upload campaign={campaign} />}
      {mayChange && permissions.acknowledgeAbility && <Acknowledge campaign={campaign} />}
    </Card>
  )
}

function Upload({ campaign }: { campaign: BankCampaign }) {
  const { reconciliationPage: texts } = useTexts(bankCampaignTexts)
  const names = useNames()
  const changed = useCampaignChanged()
  const { cashbackId, retailer, country } = campaign
  const draft = useDraft<File>(`own-report/${cashbackId}`)
  if (!draft.isRead) return null
  return (
    <Stack gap="xs" mt="lg">
      <Title order={3}>{texts.upload}</Title>
      <ReportUpload
        side="bank"
        path={`/portal/cashbacks/${cashbackId}/bank-report`}
        currency={country.currency.code}
        recipient={names.of(retailer)}
        hint={texts.uploadHint}
        restored={draft.restored?.values ?? null}
        onChosen={file => (file ? draft.keep(file) : draft.discard())}
        onSettled={isSent => {
          if (isSent) draft.discard()
          void changed(cashbackId)
        }}
      />
    </Stack>
  )
}

function Acknowledge({ campaign }: { campaign: BankCampaign }) {
  const { reconciliationPage: texts } = useTexts(bankCampaignTexts)
  const acknowledge = useAcknowledge(campaign)
  return (
    <Group mt="md">
      <Button loading={acknowledge.isPending} onClick={acknowledge.ask}>
        {texts.acknowledge}
      </Button>
    </Group>
  )
}
