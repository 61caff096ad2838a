import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CampaignLoaded as Shown } from '../../campaigns/detail/campaign-loaded.tsx'
import { useTexts } from '../../i18n/preferences.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { campaignQuery, type ReadCampaign } from '../queries.ts'
import { BackToList } from './back-to-list.tsx'

/**
 * Loads one of the merchant's campaigns, then shows its page.
 *
 * @param props.everyMs how often the page checks for changes
 */
export function CampaignLoaded(props: {
  cashbackId: string
  everyMs?: number
  children: (campaign: ReadCampaign) => ReactNode
}) {
  const { cashbackId, everyMs, children } = props
  const texts = useTexts(campaignPageTexts)
  const query = useQuery({ ...campaignQuery(cashbackId), ...(everyMs && { refetchInterval: everyMs }) })
  return (
    <Shown query={query} back={<BackToList />} notShown={texts.notShown}>
      {children}
    </Shown>
  )
}
