import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api, ifMatch } from '../../api/client.ts'
import { useShowStale } from '../../campaigns/detail/stale.tsx'
import { useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { useCountedText } from '../../ui/counted-text.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { isTooLong } from '../../ui/text-length.ts'
import { uiTexts } from '../../ui/texts.ts'
import { useOnce } from '../../ui/use-once.ts'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { useSeen } from '../mutations.ts'
import { useCampaignChanged } from '../queries.ts'
import type { BankCampaign } from '../types.ts'

const maxReasonLength = 1000

/** The texts say "withdraw" for a campaign that the bank has created, and "decline" for any other campaign. */
function useRejectTexts({ createdByType }: BankCampaign) {
  const { reason, reasonHint, reject, withdraw } = useTexts(bankCampaignTexts)
  return { reason, reasonHint, ...(createdByType === 'bank' ? withdraw : reject) }
}

/** Declines a campaign after asking for a reason; the reason is kept in the browser until it is sent. */
export function RejectButton({ campaign }: { campaign: BankCampaign }) {
  const texts = useRejectTexts(campaign)
  const { close: closeText } = useTexts(uiTexts)
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="subtle" color="red" onClick={open}>
        {texts.action}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={texts.title(campaign.name)}
        centered
        closeButtonProps={{ 'aria-label': closeText }}
      >
        <RejectForm campaign={campaign} onClose={close} />
      </Modal>
    </>
  )
}

function RejectForm({ campaign, onClose }: { campaign: BankCampaign; onClose: () => void }) {
  const texts = useRejectTexts(campaign)
  const { cashbackId } = campaign
  const countedText = useCountedText()
  const notify = useNotify()
  const showStale = useShowStale()
  // The version of the campaign that the person saw when the form was opened.
  const [seen] = useState(useSeen(campaign))
  const changed = useCampaignChanged()
  const draft = useDraft<string>(`reject/${cashbackId}`)
  const [typed, setTyped] = useState<string | null>(null)
  const reason = typed ?? draft.restored?.values ?? ''
  const rejecting = useMutation({
    mutationFn: () => {
      const body = { comment: reason.trim() || null }
      const params = { path: { cashbackId }, header: ifMatch(seen.etag) }
      return answer(api.POST('/cashbacks/{cashbackId}/reject', { params, body }))
    },
    onSuccess() {
      draft.discard()
      notify.done(texts.done)
      onClose()
    },
    async onError(error) {
      if (await showStale(error, seen)) onClose()
      else notify.failed(error)
    },
    onSettled: () => changed(cashbackId),
  })
  const reject = useOnce(rejecting)
  return (
    <Stack gap="md">
      <Text>{texts.text}</Text>
      <Textarea
        label={texts.reason}
        {...countedText(reason, maxReasonLength, { hint: texts.reasonHint })}
        autosize
        minRows={2}
        maxRows={8}
        data-autofocus
        value={reason}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          draft.keep(currentTarget.value)
        }}
      />
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          {texts.back}
        </Button>
        <Button
          color="red"
          disabled={isTooLong(reason, maxReasonLength)}
          loading={rejecting.isPending}
          onClick={reject}
        >
          {texts.action}
        </Button>
      </Group>
    </Stack>
  )
}
