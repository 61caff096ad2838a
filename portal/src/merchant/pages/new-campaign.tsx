import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { CampaignForm } from '../../campaigns/form/campaign-form.tsx'
import { formTexts } from '../../campaigns/form/form-texts.ts'
import type { BankNames } from '../../campaigns/form/lost-banks.ts'
import { bodyOf, type CampaignValues, copyOf, firstValues, valuesOf } from '../../campaigns/form/values.ts'
import { directoryQuery } from '../../campaigns/queries.ts'
import type { CampaignDetails, Directory } from '../../campaigns/types.ts'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { DraftNotice } from '../../session/draft-notice.tsx'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded, Loading } from '../../ui/states.tsx'
import { useCreation } from '../../ui/use-creation.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { editTexts } from '../edit-texts.ts'
import { banksQuery, campaignQuery, useCampaignChanged } from '../queries.ts'

/** Where the campaign is created. */
const path = '/cashbacks/for-merchant'
const route = getRouteApi('/signed-in/merchant/campaigns/new')

/** Creates a campaign, from scratch or as a copy. The input is kept in this browser until the campaign is created. */
export function NewCampaignPage() {
  const { from } = route.useSearch()
  const texts = useTexts(editTexts)
  const { back } = useTexts(campaignPageTexts)
  const mayChange = useMayChange()
  const directory = useQuery(directoryQuery)
  return (
    <>
      <PageHeader
        back={<BackLink to="/merchant/campaigns">{back}</BackLink>}
        title={from ? texts.copyTitle : texts.newTitle}
        lead={from ? texts.copyLead : texts.newLead}
      />
      {mayChange ? (
        <Loaded query={directory}>
          {data =>
            from ? <CopyForm directory={data} cashbackId={from} /> : <NewCampaignForm directory={data} source={null} />
          }
        </Loaded>
      ) : (
        <Empty title={texts.mayNot} />
      )}
    </>
  )
}

function CopyForm({ directory, cashbackId }: { directory: Directory; cashbackId: string }) {
  const source = useQuery({ ...campaignQuery(cashbackId), staleTime: Number.POSITIVE_INFINITY })
  return <Loaded query={source}>{campaign => <NewCampaignForm directory={directory} source={campaign} />}</Loaded>
}

type Props = { directory: Directory; source: CampaignDetails | null }

function NewCampaignForm({ directory, source }: Props) {
  const texts = useTexts(formTexts)
  const { created } = useTexts(editTexts)
  const { timeZone } = usePreferences()
  const session = useSession()
  const router = useRouter()
  const notify = useNotify()
  const changed = useCampaignChanged()
  const banks = useQuery(banksQuery)
  const draft = useDraft<CampaignValues & { bankNames?: BankNames }>(
    source ? `campaign/copy-of/${source.cashbackId}` : 'campaign/new',
  )
  const [beginning, begin] = useState(0)
  const creation = useCreation({
    path,
    isRestored: draft.restored !== null,
    texts: texts.lostAnswer,
    list: <LinkAnchor to="/merchant/campaigns">{texts.lostAnswer.list}</LinkAnchor>,
  })

  const save = async (values: CampaignValues) => {
    const body = bodyOf(values)
    const { id } = await creation.create(body, () => answer(api.POST(path, { body })))
    draft.discard()
    notify.done(created)
    void changed(id)
    await router.navigate({ to: '/merchant/campaigns/$cashbackId', params: { cashbackId: id } })
  }
  const startOver = () => {
    creation.startOver()
    begin(beginning + 1)
  }
  if (!draft.isRead) return <Loading />
  const { bankNames, ...restored } = draft.restored?.values ?? {}
  return (
    <Loaded query={banks}>
      {invitable => (
        <CampaignForm
          key={beginning}
          initial={source ? copyOf(valuesOf(source, timeZone), invitable, timeZone) : firstValues(timeZone, directory)}
          restored={restored}
          bankNames={bankNames}
          directory={directory}
          retailer={session}
          banks={invitable}
          editable={null}
          submit={texts.create}
          save={save}
          onValues={(values, names) => draft.keep({ ...values, bankNames: names })}
          cancel={
            <LinkButton to="/merchant/campaigns" variant="default">
              {texts.cancel}
            </LinkButton>
          }
          notice={<DraftNotice draft={draft} onDiscard={startOver} />}
          lost={creation.notice}
        />
      )}
    </Loaded>
  )
}
