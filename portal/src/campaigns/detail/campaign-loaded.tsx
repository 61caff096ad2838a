import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { listTexts } from '../list/texts.ts'

/**
 * Shows a page of one campaign once it is loaded, or a page that says why it cannot be shown.
 *
 * @param props.back the link to the page above
 * @param props.notShown the title when the campaign cannot be shown
 * @param props.notFound the title when it does not exist; needed where the page shows something other than a campaign
 */
export function CampaignLoaded<Campaign>(props: {
  query: Pick<UseQueryResult<Campaign>, 'data' | 'error' | 'refetch'>
  back: ReactNode
  notShown: string
  notFound?: string
  children: (campaign: Campaign) => ReactNode
}) {
  const { query, back, notShown, notFound, children } = props
  const texts = useTexts(listTexts)
  if (query.data !== undefined) return children(query.data)
  if (!query.error) return <Loading />
  // A malformed id means "not found" as well.
  if (isApiError(query.error, 400, 404))
    return notFound ? (
      <PageHeader back={back} title={notFound} />
    ) : (
      <PageHeader back={back} title={texts.notFound} lead={texts.notFoundText} />
    )
  return (
    <>
      <PageHeader back={back} title={notShown} />
      <Failure error={query.error} onRetry={isApiError(query.error, 403) ? undefined : () => void query.refetch()} />
    </>
  )
}
