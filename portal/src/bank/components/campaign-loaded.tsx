import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { unavailableTexts } from '../../campaigns/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { campaignQuery } from '../queries.ts'
import type { BankCampaign } from '../types.ts'
import { BackToList } from './back-to-list.tsx'

/** Loads a page of one of the bank's campaigns, and checks for changes at once and then every half minute. */
export function CampaignLoaded({
  cashbackId,
  children,
}: {
  cashbackId: string
  children: (campaign: BankCampaign) => ReactNode
}) {
  const texts = useTexts(unavailableTexts)
  const query = useQuery({ ...campaignQuery(cashbackId), refetchInterval: 30_000, refetchOnMount: 'always' })
  return (
    <PageLoaded query={query} back={<BackToList />} {...texts}>
      {children}
    </PageLoaded>
  )
}
