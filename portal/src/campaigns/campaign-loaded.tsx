import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isApiError } from '../api/errors.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Failure, Loading } from '../ui/states.tsx'

/**
 * A page of one campaign, once it is read; a campaign that cannot be read has a page that says so.
 *
 * @param props.back the link to the page above
 * @param props.notShown the title of the page that says so
 */
export function CampaignLoaded<Campaign>(props: {
  query: Pick<UseQueryResult<Campaign>, 'data' | 'error' | 'refetch'>
  back: ReactNode
  notShown: string
  children: (campaign: Campaign) => ReactNode
}) {
  const { query, back, notShown, children } = props
  if (query.data !== undefined) return children(query.data)
  if (!query.error) return <Loading />
  return (
    <>
      <PageHeader back={back} title={notShown} />
      <Failure
        error={query.error}
        onRetry={isApiError(query.error, 400, 403, 404) ? undefined : () => void query.refetch()}
      />
    </>
  )
}
