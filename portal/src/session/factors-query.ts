/** The second factors of the person who is logged in. */
import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

/** The factors are read again after a change of the account, which invalidates all keys below `account`. */
export const factorsQuery = queryOptions({
  queryKey: ['account', 'factors'],
  queryFn: ({ signal }) => answer(api.GET('/portal/mfa', { signal })),
})
