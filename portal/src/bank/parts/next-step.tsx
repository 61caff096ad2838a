import { Button, Card, Stack, Text, Title } from '@mantine/core'
import { maxReportBytes, useReportGuide } from '../../campaigns/report-guide.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { useMayChange } from '../../session/use-session.ts'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { blockingText } from '../blocking.ts'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { useCampaignChanged } from '../queries.ts'
import type { BankCampaign } from '../types.ts'
import { useAcknowledge } from '../use-moves.ts'

/** Whose turn it is in the reconciliation, and what the bank does when it is the bank's. */
export function NextStep({ campaign }: { campaign: BankCampaign }) {
  const { room: texts, blocks } = useTexts(bankCampaignTexts)
  const format = useFormat()
  const now = useNow()
  const mayChange = useMayChange()
  const { bankStatus, bankReportingStatus, dateTo, permissions } = campaign
  const isWaiting = bankReportingStatus === null && (bankStatus === 'pending' || bankStatus === 'approved')
  const text = isWaiting
    ? texts.notYet(format.dateTime(dateTo))
    : bankReportingStatus === null
      ? texts.notPart
      : blockingText(campaign, { now, texts: blocks, format })
  return (
    <Card component="section" aria-label={texts.next}>
      <Title order={2} mb={4}>
        {texts.next}
      </Title>
      <Text maw="75ch">{text}</Text>
      {mayChange && permissions.uploadReportAbility && <ReportUpload cashbackId={campaign.cashbackId} />}
      {mayChange && permissions.acknowledgeAbility && <Acknowledge campaign={campaign} />}
    </Card>
  )
}

type Taken = { lines: number; differences: { total: number } }

function ReportUpload({ cashbackId }: { cashbackId: string }) {
  const { room: texts } = useTexts(bankCampaignTexts)
  const notify = useNotify()
  const changed = useCampaignChanged()
  const guide = useReportGuide('bank')
  const upload = useUpload<Taken>(`/portal/cashbacks/${cashbackId}/bank-report`, {
    onDone({ lines, differences }) {
      notify.done(texts.uploaded(lines, differences.total))
      void changed(cashbackId)
    },
  })
  return (
    <Stack gap="xs" mt="lg">
      <Title order={3}>{texts.upload}</Title>
      <FileUpload upload={upload} hint={texts.uploadHint} guide={guide} mostBytes={maxReportBytes} />
    </Stack>
  )
}

function Acknowledge({ campaign }: { campaign: BankCampaign }) {
  const { room: texts } = useTexts(bankCampaignTexts)
  const acknowledge = useAcknowledge(campaign)
  return (
    <Button mt="md" loading={acknowledge.isPending} onClick={acknowledge.ask}>
      {texts.acknowledge}
    </Button>
  )
}
