import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { CampaignForm } from '../../campaigns/form/campaign-form.tsx'
import { formTexts } from '../../campaigns/form/form-texts.ts'
import { type CampaignValues, changedBody, changedValues, valuesOf } from '../../campaigns/form/values.ts'
import type { Directory } from '../../campaigns/types.ts'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { editTexts } from '../edit-texts.ts'
import { campaignQuery, type ReadCampaign, useCampaignChanged } from '../queries.ts'
import { StaleNotice } from './stale-notice.tsx'

type Given = {
  /** What the edit is made from. */
  base: ReadCampaign
  /** Another one is taken over; the changes of the draft are put on it. */
  onBase: (base: ReadCampaign) => void
  directory: Directory
  invitable: readonly { id: string; name: string }[]
}

/** The form of an edit: only what was changed is kept as a draft and sent. */
export function EditForm({ base, onBase, directory, invitable }: Given) {
  const texts = useTexts(formTexts)
  const { saved, unchanged } = useTexts(editTexts)
  const { timeZone } = usePreferences()
  const { cashbackId } = base
  const router = useRouter()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const changed = useCampaignChanged()
  const draft = useDraft<Partial<CampaignValues>>(`campaign/${cashbackId}`)
  const [newer, setNewer] = useState<ReadCampaign | null>(null)
  const [beginning, begin] = useState(0)
  const [mine, setMine] = useState<Partial<CampaignValues>>(draft.restored?.values ?? {})
  const original = valuesOf(base, timeZone)
  const toCampaign = { to: '/merchant/campaigns/$cashbackId', params: { cashbackId } } as const

  const keep = (values: CampaignValues) => {
    const changes = changedValues(original, values)
    setMine(changes)
    draft.keep(changes)
  }
  const save = async (values: CampaignValues) => {
    const body = changedBody(original, values)
    if (Object.keys(body).length > 0) await send(base, body, () => readNewer())
    else notify.done(unchanged)
    draft.discard()
    if (Object.keys(body).length > 0) notify.done(saved)
    void changed(cashbackId)
    await router.navigate(toCampaign)
  }
  const readNewer = async () => setNewer(await queryClient.fetchQuery({ ...campaignQuery(cashbackId), staleTime: 0 }))
  const discard = () => {
    draft.discard()
    setMine({})
    begin(beginning + 1)
  }

  return (
    <CampaignForm
      key={beginning}
      initial={original}
      restored={mine}
      directory={directory}
      retailer={base.retailer}
      banks={choices(base, invitable)}
      editable={base.permissions.editableFields}
      submit={texts.save}
      save={save}
      onValues={keep}
      cancel={
        <LinkButton {...toCampaign} variant="default">
          {texts.cancel}
        </LinkButton>
      }
      notice={
        newer ? (
          <StaleNotice
            base={base}
            newer={newer}
            mine={mine}
            onGoOn={() => onBase(newer)}
            onDiscard={() => {
              draft.discard()
              onBase(newer)
            }}
          />
        ) : (
          <DraftNotice draft={draft} onDiscard={discard} />
        )
      }
    />
  )
}

/** @param onStale what to do when the campaign has changed since it was read; the answer is still an error to the form */
async function send({ cashbackId, etag }: ReadCampaign, body: object, onStale: () => Promise<void>): Promise<void> {
  const headers = etag === null ? {} : { 'if-match': etag }
  const params = { path: { cashbackId }, header: headers }
  try {
    await answer(api.PATCH('/cashbacks/for-merchant/{cashbackId}', { params, body: body as never }))
  } catch (error) {
    if (isApiError(error, 412)) await onStale()
    throw error
  }
}

/** Who is invited already stays to be seen, even where it could not be invited any more. */
function choices(base: ReadCampaign, invitable: Given['invitable']): { id: string; name: string }[] {
  const others = invitable.filter(({ id }) => base.banks.every(bank => bank.id !== id))
  return [...base.banks, ...others].toSorted((one, other) => one.name.localeCompare(other.name))
}
