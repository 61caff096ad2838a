import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { changeSeen } from '../../api/change-seen.ts'
import { answer, api, ifMatch } from '../../api/client.ts'
import { CampaignForm } from '../../campaigns/form/campaign-form.tsx'
import { formTexts } from '../../campaigns/form/form-texts.ts'
import type { BankNames } from '../../campaigns/form/lost-banks.ts'
import { areSame, type CampaignValues, changedBody, changedValues, valuesOf } from '../../campaigns/form/values.ts'
import type { CampaignChange, Directory } from '../../campaigns/types.ts'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { DraftNotice } from '../../session/draft-notice.tsx'
import { useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Loading } from '../../ui/states.tsx'
import { editTexts } from '../edit-texts.ts'
import { campaignQuery, type ReadCampaign, useCampaignChanged } from '../queries.ts'
import { openChanges } from './open-changes.ts'
import { StaleNotice } from './stale-notice.tsx'

type Props = {
  /** The version that the edit started from. */
  base: ReadCampaign
  /** The changes that the person has made so far; null: the changes in the stored draft are used. */
  changes: Partial<CampaignValues> | null
  /** Switches to a newer version and applies the changes to it. */
  onBase: (base: ReadCampaign, changes: Partial<CampaignValues> | null) => void
  directory: Directory
  invitable: readonly { id: string; name: string }[]
}

/** The form of an edit. Only the changed fields are kept as a draft and sent. */
export function EditForm(props: Props) {
  const { base, changes, onBase, directory, invitable } = props
  const texts = useTexts(formTexts)
  const session = useSession()
  const { original, draft, mine, bankNames, seen, newer, keep, save, goOn, discard, beginning } = useEdit(base, changes)
  const toCampaign = campaignLink(base)
  if (!draft.isRead) return <Loading />
  return (
    <CampaignForm
      key={beginning}
      initial={original}
      restored={mine}
      bankNames={bankNames}
      directory={directory}
      retailer={session}
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
            base={seen}
            newer={newer}
            mine={mine}
            onGoOn={() => onBase(newer, goOn(newer))}
            onDiscard={() => {
              discard()
              onBase(newer, {})
            }}
          />
        ) : (
          <DraftNotice draft={draft} onDiscard={discard} />
        )
      }
    />
  )
}

const campaignLink = ({ cashbackId }: ReadCampaign) =>
  ({ to: '/merchant/campaigns/$cashbackId', params: { cashbackId } }) as const

/** The stored draft of an edit: the version that the person saw when making the changes, and the changed fields. */
type Edit = { seen: ReadCampaign; changes: Partial<CampaignValues>; bankNames?: BankNames }

/** Whether these changes are already saved, because a request succeeded but its answer got lost. */
function isSavedIn(campaign: ReadCampaign, changes: Partial<CampaignValues>, timeZone: string): boolean {
  const values = valuesOf(campaign, timeZone)
  return campaign.status !== 'deleted' && areSame(values, { ...values, ...changes })
}

/**
 * Keeps the changes in the browser until they are saved. `seen` is the version that the person has changed. `newer` is
 * set if somebody else has saved first. Each save sends the version `seen`, so the platform refuses it until the person
 * has chosen to continue with `newer` or to stop.
 */
function useEdit(base: ReadCampaign, changes: Partial<CampaignValues> | null) {
  const { saved, unchanged } = useTexts(editTexts)
  const { timeZone } = usePreferences()
  const { cashbackId } = base
  const router = useRouter()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const changed = useCampaignChanged()
  const draft = useDraft<Edit>(`campaign-edit/${cashbackId}`)
  const [read, setNewer] = useState<ReadCampaign | null>(null)
  const [beginning, begin] = useState(0)
  const [edited, setMine] = useState(changes)
  const [editedNames, setNames] = useState<BankNames>()
  const kept = changes === null ? (draft.restored?.values ?? null) : null
  const isSaved = kept !== null && kept.seen.etag !== base.etag && isSavedIn(base, kept.changes, timeZone)
  const restored = isSaved ? null : kept
  const mine = edited ?? restored?.changes ?? {}
  const bankNames = editedNames ?? restored?.bankNames
  const seen = restored?.seen ?? base
  const newer = read ?? (seen.etag === base.etag ? null : base)
  const original = valuesOf(base, timeZone)

  const { discard: removeDraft } = draft
  useEffect(() => {
    if (isSaved) removeDraft()
  }, [isSaved, removeDraft])

  const keep = (values: CampaignValues, bankNames: BankNames) => {
    const changes = changedValues(original, values)
    setMine(changes)
    setNames(bankNames)
    draft.keep({ seen, changes, bankNames })
  }
  const save = async (values: CampaignValues) => {
    const body = changedBody(original, values)
    const isChanged = Object.keys(body).length > 0
    if (isChanged) {
      const { isSaved, stored } = await changeSeen({
        send: () => send(seen, body),
        read: () => queryClient.fetchQuery({ ...campaignQuery(cashbackId), staleTime: 0 }),
        isSavedIn: newer => isSavedIn(newer, changedValues(original, values), timeZone),
      })
      if (!isSaved) return setNewer(stored)
    }
    draft.discard()
    notify.done(isChanged ? saved : unchanged)
    void changed(cashbackId)
    await router.navigate(campaignLink(base))
  }
  /** Builds the form again, with these changes. */
  const restart = (changes: Partial<CampaignValues>) => {
    setMine(changes)
    setNewer(null)
    begin(beginning + 1)
  }
  const goOn = (newer: ReadCampaign) => {
    const { open: changes } = openChanges(newer, mine)
    draft.keep({ seen: newer, changes, ...(bankNames && { bankNames }) })
    restart(changes)
    return changes
  }
  const discard = () => {
    draft.discard()
    restart({})
  }
  return { original, draft, mine, bankNames, seen, newer, keep, save, goOn, discard, beginning }
}

const send = ({ cashbackId, etag }: ReadCampaign, body: CampaignChange) => {
  const params = { path: { cashbackId }, header: ifMatch(etag) }
  return answer(api.PATCH('/cashbacks/for-merchant/{cashbackId}', { params, body }))
}

/** The banks to choose from. Banks that are already invited stay visible, even if they could no longer be invited. */
function choices(base: ReadCampaign, invitable: Props['invitable']): { id: string; name: string }[] {
  const others = invitable.filter(({ id }) => base.banks.every(bank => bank.id !== id))
  return [...base.banks, ...others].toSorted((one, other) => one.name.localeCompare(other.name))
}
