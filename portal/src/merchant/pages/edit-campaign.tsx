import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { CampaignValues } from '../../campaigns/form/values.ts'
import { directoryQuery } from '../../campaigns/queries.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { CampaignLoaded } from '../components/campaign-loaded.tsx'
import { EditForm } from '../components/edit-form.tsx'
import { editTexts } from '../edit-texts.ts'
import { banksQuery, type ReadCampaign } from '../queries.ts'

const route = getRouteApi('/signed-in/merchant/campaigns/$cashbackId/edit')

/**
 * Edits a campaign. Only the fields that its status allows can be changed; the request names the version that the edit
 * started from.
 */
export function EditCampaignPage() {
  const { cashbackId } = route.useParams()
  return <CampaignLoaded cashbackId={cashbackId}>{campaign => <EditPage campaign={campaign} />}</CampaignLoaded>
}

type Base = { base: ReadCampaign; changes: Partial<CampaignValues> | null }

function EditPage({ campaign }: { campaign: ReadCampaign }) {
  const texts = useTexts(editTexts)
  const { backToCampaign } = useTexts(campaignPageTexts)
  const mayChange = useMayChange()
  const { cashbackId, name } = campaign
  // Keeps the state that the edit started from, even if newer data is read. A newer state is announced, and adopted
  // only when the person agrees.
  const [{ base, changes }, setBase] = useState<Base>({ base: campaign, changes: null })
  const directory = useQuery(directoryQuery)
  const banks = useQuery(banksQuery)
  // If the campaign is deleted while the form is open, the form stays, so that the input does not disappear.
  const refusal = mayChange ? (base.permissions.editAbility ? null : texts.cannot) : texts.mayNot
  return (
    <>
      <PageHeader
        back={
          <BackLink to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} state>
            {backToCampaign(name)}
          </BackLink>
        }
        title={texts.editTitle(name)}
      />
      {refusal !== null ? (
        <Empty
          title={refusal}
          action={
            <LinkButton to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} variant="default" mt="sm">
              {texts.toCampaign}
            </LinkButton>
          }
        />
      ) : (
        <Loaded query={directory}>
          {data => (
            <Loaded query={banks}>
              {invitable => (
                <EditForm
                  key={base.etag}
                  base={base}
                  changes={changes}
                  onBase={(newer, mine) => setBase({ base: newer, changes: mine })}
                  directory={data}
                  invitable={invitable}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </>
  )
}
