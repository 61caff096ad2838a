import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { CampaignForm } from '../../campaigns/form/campaign-form.tsx'
import { formTexts } from '../../campaigns/form/form-texts.ts'
import { bankBodyOf, type CampaignValues, copyOf, firstValues, valuesOf } from '../../campaigns/form/values.ts'
import { directoryQuery, ownTerminalsQuery } from '../../campaigns/queries.ts'
import type { CampaignTerminal, Directory } from '../../campaigns/types.ts'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { DraftNotice } from '../../session/draft-notice.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded, Loading } from '../../ui/states.tsx'
import { useCreation } from '../../ui/use-creation.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { campaignQuery, retailersQuery, useCampaignChanged } from '../queries.ts'
import { bankTexts } from '../texts.ts'
import type { BankCampaign } from '../types.ts'

/** Where the campaign is created. */
const path = '/portal/cashbacks'
const route = getRouteApi('/signed-in/bank/campaigns/new')

/**
 * Creates a campaign for a merchant, from scratch or as a copy. The input is kept in this browser until the campaign is
 * created.
 */
export function NewCampaignPage() {
  const { from } = route.useSearch()
  const { newCampaign: texts } = useTexts(bankTexts)
  const { back } = useTexts(bankCampaignTexts)
  const directory = useQuery(directoryQuery)
  return (
    <>
      <PageHeader
        back={<BackLink to="/bank/campaigns">{back}</BackLink>}
        title={from ? texts.copyTitle : texts.title}
        lead={from ? texts.copyLead : texts.lead}
      />
      <Loaded query={directory}>
        {data =>
          from ? <CopyForm directory={data} cashbackId={from} /> : <NewCampaignForm directory={data} source={null} />
        }
      </Loaded>
    </>
  )
}

type Source = BankCampaign & { banks: []; terminals: CampaignTerminal[] }

function CopyForm({ directory, cashbackId }: { directory: Directory; cashbackId: string }) {
  const campaign = useQuery({ ...campaignQuery(cashbackId), staleTime: Number.POSITIVE_INFINITY })
  const terminals = useQuery(ownTerminalsQuery(cashbackId))
  return (
    <Loaded query={campaign}>
      {read => (
        <Loaded query={terminals}>
          {own => <NewCampaignForm directory={directory} source={{ ...read, banks: [], ...own }} />}
        </Loaded>
      )}
    </Loaded>
  )
}

function NewCampaignForm({ directory, source }: { directory: Directory; source: Source | null }) {
  const { newCampaign: texts } = useTexts(bankTexts)
  const formText = useTexts(formTexts)
  const { timeZone } = usePreferences()
  const router = useRouter()
  const notify = useNotify()
  const changed = useCampaignChanged()
  const retailers = useQuery(retailersQuery)
  const draft = useDraft<CampaignValues>(source ? `campaign/copy-of/${source.cashbackId}` : 'campaign/new')
  const [beginning, begin] = useState(0)
  const creation = useCreation({
    path,
    isRestored: draft.restored !== null,
    texts: formText.lostAnswer,
    list: <LinkAnchor to="/bank/campaigns">{formText.lostAnswer.list}</LinkAnchor>,
  })

  const save = async (values: CampaignValues) => {
    const body = bankBodyOf(values)
    const { id } = await creation.create(body, () => answer(api.POST(path, { body })))
    draft.discard()
    notify.done(texts.created)
    void changed(id)
    await router.navigate({ to: '/bank/campaigns/$cashbackId', params: { cashbackId: id } })
  }
  const startOver = () => {
    creation.startOver()
    begin(beginning + 1)
  }
  if (!draft.isRead) return <Loading />
  return (
    <Loaded query={retailers}>
      {data => (
        <CampaignForm
          key={beginning}
          initial={source ? copyOf(valuesOf(source, timeZone), [], timeZone) : firstValues(timeZone, directory)}
          restored={draft.restored?.values ?? {}}
          directory={directory}
          retailer={null}
          retailers={data}
          banks={null}
          editable={null}
          submit={formText.byBank.create}
          save={save}
          onValues={draft.keep}
          cancel={
            <LinkButton to="/bank/campaigns" variant="default">
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
