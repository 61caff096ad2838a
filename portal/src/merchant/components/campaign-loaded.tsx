import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { unavailableTexts } from '../../campaigns/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
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
  const texts = useTexts(unavailableTexts)
  const query = useQuery({ ...campaignQuery(cashbackId), ...(everyMs && { refetchInterval: everyMs }) })
  return (
    <PageLoaded query={query} back={<BackToList />} {...texts}>
      {children}
    </PageLoaded>
  )
}
