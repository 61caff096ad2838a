/** Queries and mutations of the account's pages, below `/portal`. */
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

const root = 'account'

export const peopleQuery = queryOptions({
  queryKey: [root, 'people'],
  queryFn: async ({ signal }) => (await answer(api.GET('/portal/users', { signal }))).data,
})
export const invitationsQuery = queryOptions({
  queryKey: [root, 'invitations'],
  queryFn: async ({ signal }) => (await answer(api.GET('/portal/invitations', { signal }))).data,
})
export const ownCredentialsQuery = queryOptions({
  queryKey: [root, 'credentials'],
  queryFn: ({ signal }) => answer(api.GET('/portal/credentials', { signal })),
})
export const sessionsQuery = queryOptions({
  queryKey: [root, 'sessions'],
  queryFn: async ({ signal }) => (await answer(api.GET('/portal/sessions', { signal }))).data,
})
export const factorsQuery = queryOptions({
  queryKey: [root, 'factors'],
  queryFn: ({ signal }) => answer(api.GET('/portal/mfa', { signal })),
})
export const policyQuery = queryOptions({
  queryKey: [root, 'policy'],
  queryFn: ({ signal }) => answer(api.GET('/portal/security-policy', { signal })),
})

export type Person = Awaited<ReturnType<NonNullable<typeof peopleQuery.queryFn>>>[number]
export type OwnCredential = Awaited<ReturnType<NonNullable<typeof ownCredentialsQuery.queryFn>>>[number]
export type OwnSession = Awaited<ReturnType<NonNullable<typeof sessionsQuery.queryFn>>>[number]
export type Policy = Awaited<ReturnType<NonNullable<typeof policyQuery.queryFn>>>

/** Reads all data of the account again, after a change. */
export function useAccountChanged(): () => Promise<void> {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: [root] })
}
