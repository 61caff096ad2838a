import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isApiError } from '../api/errors.ts'
import { PageHeader } from './page-header.tsx'
import { Failure, Loading } from './states.tsx'

/**
 * Shows the page of one object, such as a campaign or an order, once it is loaded. After an error it shows the reason
 * instead.
 *
 * @param props.back the link to the parent page
 * @param props.notShown the title of the page after an error
 * @param props.notFound the title of the page when the object does not exist
 * @param props.notFoundText a sentence below this title
 */
export function PageLoaded<Data>(props: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  back: ReactNode
  notShown: string
  notFound: string
  notFoundText?: string
  children: (data: Data) => ReactNode
}) {
  const { query, back, notShown, notFound, notFoundText, children } = props
  if (query.data !== undefined) return children(query.data)
  if (!query.error) return <Loading />
  // A malformed id means "not found" as well.
  if (isApiError(query.error, 400, 404)) return <PageHeader back={back} title={notFound} lead={notFoundText} />
  return (
    <>
      <PageHeader back={back} title={notShown} />
      <Failure error={query.error} onRetry={isApiError(query.error, 403) ? undefined : () => void query.refetch()} />
    </>
  )
}
