import { Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ReportUpload } from '../../campaigns/reconciliation/report-upload.tsx'
import type { CampaignDetails, ReconciledBank } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { campaignPageTexts } from '../campaign-texts.ts'
import { useCampaignChanged } from '../queries.ts'

type Given = { campaign: Pick<CampaignDetails, 'cashbackId' | 'country'>; bank: Pick<ReconciledBank, 'id' | 'name'> }

/** The merchant's own report with a comment for the bank; the comment stays in the browser until it is sent. */
export function AnswerForm({ campaign: { cashbackId, country }, bank }: Given) {
  const { room: texts } = useTexts(campaignPageTexts)
  const changed = useCampaignChanged()
  const draft = useDraft<string>(`answer/${cashbackId}/${bank.id}`)
  const [typed, setTyped] = useState<string | null>(null)
  const comment = typed ?? draft.restored?.values ?? ''
  return (
    <Stack gap="md" mt="lg">
      <Textarea
        label={texts.comment}
        description={texts.commentHint}
        autosize
        minRows={2}
        maxLength={1000}
        value={comment}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          draft.keep(currentTarget.value)
        }}
      />
      <ReportUpload
        side="merchant"
        path={`/portal/cashbacks/${cashbackId}/banks/${bank.id}/merchant-report`}
        currency={country.currency.code}
        recipient={bank.name}
        hint={texts.answerHint}
        fields={comment.trim() === '' ? {} : { comment: comment.trim() }}
        onSettled={isSent => {
          if (isSent) draft.discard()
          void changed(cashbackId)
        }}
      />
    </Stack>
  )
}
