import { useListSearch } from '../../campaigns/list/back-to-list.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { bankCampaignTexts } from '../campaign-texts.ts'
import type { CampaignsSearch } from '../search.ts'

/** The link from a campaign to the list of campaigns, with the filters and the page from which the person came. */
export function BackToList() {
  const texts = useTexts(bankCampaignTexts)
  return (
    <BackLink to="/bank/campaigns" search={useListSearch<CampaignsSearch>()}>
      {texts.back}
    </BackLink>
  )
}
