import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { campaignQuery, type ReadCampaign } from '../queries.ts'
import { BackLink } from './back-link.tsx'

/**
 * A page of one campaign, once it is read; a campaign that cannot be read has a page that says so.
 *
 * @param props.everyMs how often the page looks whether something has changed
 */
export function CampaignLoaded(props: {
  cashbackId: string
  everyMs?: number
  children: (campaign: ReadCampaign) => ReactNode
}) {
  const { cashbackId, everyMs, children } = props
  const texts = useTexts(campaignPageTexts)
  const query = useQuery({ ...campaignQuery(cashbackId), ...(everyMs && { refetchInterval: everyMs }) })
  if (query.data) return children(query.data)
  if (!query.error) return <Loading />
  return (
    <>
      <PageHeader back={<BackLink to="/merchant/campaigns">{texts.back}</BackLink>} title={texts.notShown} />
      <Failure
        error={query.error}
        onRetry={isApiError(query.error, 400, 403, 404) ? undefined : () => void query.refetch()}
      />
    </>
  )
}
