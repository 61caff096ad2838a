import { Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { maxReportBytes, useReportGuide } from '../../campaigns/report-guide.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { campaignPageTexts } from '../campaign-texts.ts'
import { useCampaignChanged } from '../queries.ts'

/** The merchant's own report with what it has to say to the bank; the comment stays in the browser until it is sent. */
export function AnswerForm({ cashbackId, bankId }: { cashbackId: string; bankId: string }) {
  const { room: texts } = useTexts(campaignPageTexts)
  const notify = useNotify()
  const changed = useCampaignChanged()
  const guide = useReportGuide('merchant')
  const draft = useDraft<string>(`answer/${cashbackId}/${bankId}`)
  const [comment, setComment] = useState(draft.restored?.values ?? '')
  const path = `/portal/cashbacks/${cashbackId}/banks/${bankId}/merchant-report`
  const upload = useUpload<{ differences: { total: number } }>(path, {
    onDone({ differences }) {
      draft.discard()
      notify.done(texts.answered(differences.total))
      void changed(cashbackId)
    },
  })
  const fields = comment.trim() === '' ? {} : { comment: comment.trim() }
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
          setComment(currentTarget.value)
          draft.keep(currentTarget.value)
        }}
      />
      <FileUpload
        upload={{ ...upload, send: file => upload.send(file, fields) }}
        hint={texts.answerHint}
        guide={guide}
        mostBytes={maxReportBytes}
      />
    </Stack>
  )
}
