/** The second factors of the person who is logged in. */
import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

/** A change of the account invalidates everything below `account`. */
export const factorsQuery = queryOptions({
  queryKey: ['account', 'factors'],
  queryFn: ({ signal }) => answer(api.GET('/portal/mfa', { signal })),
})
