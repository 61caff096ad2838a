/** Queries and mutations of the account's pages, below `/portal`. */
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { answer, api, versioned } from '../api/client.ts'
import type { Named } from '../people/named.ts'

const root = 'account'

/**
 * The accounts among which the platform's people choose: all banks, or up to 100 merchants that match these words. `words`
 * is ignored for banks.
 */
export const partnersToChooseQuery = (kind: 'bank' | 'merchant', words: string) =>
  queryOptions({
    queryKey: [root, 'partners-to-choose', kind, kind === 'merchant' ? words : ''],
    async queryFn({ signal }) {
      const search = kind === 'merchant' && words !== '' ? { search: words } : {}
      const query = { page: 1, pageSize: 100, ...search }
      const { banks, merchants } = await answer(api.GET('/admin/partners', { params: { query }, signal }))
      return (kind === 'bank' ? banks : merchants.data).map(({ entry }) => entry)
    },
  })

export const merchantEntryQuery = (code: string) =>
  queryOptions({
    queryKey: [root, 'merchant-entry', code],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/admin/merchants/{code}', { params: { path: { code } }, signal }))).entry,
  })

export const peopleQuery = (query: Named = {}) =>
  queryOptions({
    queryKey: [root, 'people', query],
    queryFn: async ({ signal }) => (await answer(api.GET('/portal/users', { params: { query }, signal }))).data,
  })
export const invitationsQuery = (query: Named = {}) =>
  queryOptions({
    queryKey: [root, 'invitations', query],
    queryFn: async ({ signal }) => (await answer(api.GET('/portal/invitations', { params: { query }, signal }))).data,
  })
export const ownCredentialsQuery = (query: Named = {}) =>
  queryOptions({
    queryKey: [root, 'credentials', query],
    queryFn: ({ signal }) => answer(api.GET('/portal/credentials', { params: { query }, signal })),
  })
export const sessionsQuery = queryOptions({
  queryKey: [root, 'sessions'],
  queryFn: async ({ signal }) => (await answer(api.GET('/portal/sessions', { signal }))).data,
})
export const policyQuery = (query: Named = {}) =>
  queryOptions({
    queryKey: [root, 'policy', query],
    queryFn: ({ signal }) => versioned(api.GET('/portal/security-policy', { params: { query }, signal })),
  })

type Read<Query extends (...args: never[]) => { queryFn?: unknown }> = Awaited<
  ReturnType<Extract<ReturnType<Query>['queryFn'], (...args: never[]) => unknown>>
>
export type Person = Read<typeof peopleQuery>[number]
export type OwnCredential = Read<typeof ownCredentialsQuery>[number]
export type OwnSession = Awaited<ReturnType<NonNullable<typeof sessionsQuery.queryFn>>>[number]
export type Policy = Read<typeof policyQuery>

/** Reads all data of the account again, after a change. */
export function useAccountChanged(): () => Promise<void> {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: [root] })
}
