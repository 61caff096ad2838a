import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { CampaignForm } from '../../campaigns/form/campaign-form.tsx'
import { formTexts } from '../../campaigns/form/form-texts.ts'
import { bankBodyOf, type CampaignValues, emptyValues } from '../../campaigns/form/values.ts'
import { directoryQuery } from '../../campaigns/queries.ts'
import type { Directory } from '../../campaigns/types.ts'
import { usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useDraft } from '../../session/draft.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { DraftNotice } from '../../ui/draft-notice.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import { retailersQuery, useCampaignChanged } from '../queries.ts'
import { bankTexts } from '../texts.ts'

/** A campaign of the bank's own for a merchant; what is entered is kept in this browser until it is created. */
export function NewCampaignPage() {
  const { newCampaign: texts } = useTexts(bankTexts)
  const { back } = useTexts(bankCampaignTexts)
  const directory = useQuery(directoryQuery)
  return (
    <>
      <PageHeader back={<BackLink to="/bank/campaigns">{back}</BackLink>} title={texts.title} lead={texts.lead} />
      <Loaded query={directory}>{data => <NewCampaignForm directory={data} />}</Loaded>
    </>
  )
}

function NewCampaignForm({ directory }: { directory: Directory }) {
  const { newCampaign: texts } = useTexts(bankTexts)
  const { byBank } = useTexts(formTexts)
  const { timeZone } = usePreferences()
  const router = useRouter()
  const notify = useNotify()
  const changed = useCampaignChanged()
  const retailers = useQuery(retailersQuery)
  const draft = useDraft<CampaignValues>('campaign/new')
  const [beginning, begin] = useState(0)
  const [only] = directory.countries.length === 1 ? directory.countries : []
  const empty = { ...emptyValues(timeZone), countryCode: only?.code ?? '' }

  const save = async (values: CampaignValues) => {
    const { id } = await answer(api.POST('/portal/cashbacks', { body: bankBodyOf(values) as never }))
    draft.discard()
    notify.done(texts.created)
    void changed(id)
    await router.navigate({ to: '/bank/campaigns/$cashbackId', params: { cashbackId: id } })
  }
  return (
    <Loaded query={retailers}>
      {data => (
        <CampaignForm
          key={beginning}
          initial={empty}
          restored={draft.restored?.values ?? {}}
          directory={directory}
          retailer={null}
          retailers={data}
          banks={null}
          editable={null}
          submit={byBank.create}
          save={save}
          onValues={draft.keep}
          cancel={
            <LinkButton to="/bank/campaigns" variant="default">
              {texts.cancel}
            </LinkButton>
          }
          notice={<DraftNotice draft={draft} onDiscard={() => begin(beginning + 1)} />}
        />
      )}
    </Loaded>
  )
}
