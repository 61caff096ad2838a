import { Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ReportUpload } from '../../campaigns/reconciliation/report-upload.tsx'
import type { CampaignDetails, ReconciledBank } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import type { Draft } from '../../session/draft.ts'
import { useCountedText } from '../../ui/counted-text.tsx'
import { isTooLong } from '../../ui/text-length.ts'
import { campaignPageTexts } from '../campaign-texts.ts'
import { useCampaignChanged } from '../queries.ts'

export type AnswerDraft = { comment: string; file: File | null }

type Props = {
  campaign: Pick<CampaignDetails, 'cashbackId' | 'country'>
  bank: Pick<ReconciledBank, 'id' | 'name'>
  draft: Draft<AnswerDraft>
}

const maxCommentLength = 1000
const nothing: AnswerDraft = { comment: '', file: null }

/** Sends the merchant's own report with a comment for the bank; both are kept in the browser until they are sent. */
export function AnswerForm({ campaign: { cashbackId, country }, bank, draft }: Props) {
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const countedText = useCountedText()
  const changed = useCampaignChanged()
  const [values, setValues] = useState(draft.restored?.values ?? nothing)
  const { comment } = values
  const change = (changed: Partial<AnswerDraft>) => {
    const next = { ...values, ...changed }
    setValues(next)
    draft.keep(next)
  }
  return (
    <Stack gap="md" mt="lg">
      <Textarea
        label={texts.comment}
        {...countedText(comment, maxCommentLength, { hint: texts.commentHint })}
        autosize
        minRows={2}
        value={comment}
        onChange={({ currentTarget }) => change({ comment: currentTarget.value })}
      />
      <ReportUpload
        side="merchant"
        path={`/portal/cashbacks/${cashbackId}/banks/${bank.id}/merchant-report`}
        currency={country.currency.code}
        recipient={bank.name}
        hint={texts.answerHint}
        fields={comment.trim() === '' ? {} : { comment: comment.trim() }}
        isDisabled={isTooLong(comment, maxCommentLength)}
        restored={draft.restored?.values.file ?? null}
        onChosen={file => change({ file })}
        onSettled={isSent => {
          if (isSent) draft.discard()
          void changed(cashbackId)
        }}
      />
    </Stack>
  )
}
