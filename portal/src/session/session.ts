/** Who is logged in. The token itself is in a cookie that scripts cannot read; this is what the platform tells of it. */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { isApiError } from '../api/errors.ts'
import { removeDraftsOf } from './draft-store.ts'

export const accountTypes = ['retailer', 'bank', 'platform'] as const
export type AccountType = (typeof accountTypes)[number]

export type Role = 'admin_user' | 'editor' | 'viewer' | 'gateway' | 'ADMIN' | 'EDITOR' | 'VIEWER' | 'admin'

export type Session = {
  typeAccount: AccountType
  login: string
  role: Role
  /** The bank or the merchant; null for the platform. */
  id: string | null
  name: string
  /** In English; null where there is no other. */
  nameEn: string | null
  /** ISO 8601 */
  expiresAt: string
  /** The time that campaigns go by, when this was read; in sandbox mode it can be moved. */
  now: string
  /** How far that is ahead of this browser's clock. */
  aheadMs: number
}

export type Credentials = { typeAccount: AccountType; login: string; password: string }

/** The first part of each account type's addresses. */
export const areaOf = { retailer: '/merchant', bank: '/bank', platform: '/operator' } as const

/**
 * Whose session this browser last heard of, so that its tabs notice each other's logins, and so that nobody is asked about when
 * nobody has logged in.
 */
export const heardOfKey = 'perkline.session'

/** The role that this browser last heard of, so that the first page can be read before the platform has told who this is. */
const roleKey = 'perkline.role'

/** Whose pages this browser showed last, as far as it has kept it: a guess, which the platform may refuse. */
export function lastHeardOf(): Pick<Session, 'typeAccount' | 'role'> | null {
  const typeAccount = accountTypes.find(each => localStorage.getItem(heardOfKey)?.startsWith(`${each}:`))
  const role = localStorage.getItem(roleKey) as Role | null
  return typeAccount && role ? { typeAccount, role } : null
}

/** Names a person, for what is kept in the browser. */
export const personOf = ({ typeAccount, login }: { typeAccount: AccountType; login: string }): string =>
  `${typeAccount}:${login}`

const path = '/portal/session'

const withAhead = (session: Omit<Session, 'aheadMs'>): Session => ({
  ...session,
  aheadMs: Date.parse(session.now) - Date.now(),
})

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  gcTime: Number.POSITIVE_INFINITY,
  async queryFn({ signal }): Promise<Session | null> {
    if (localStorage.getItem(heardOfKey) === null) return null
    try {
      const session = withAhead(await answer(api.GET(path, { signal })))
      localStorage.setItem(roleKey, session.role)
      return session
    } catch (error) {
      if (isApiError(error, 401)) return null
      throw error
    }
  },
})

/** The password was right, and a second factor is asked for. */
export type Challenge = { challenge: string; methods: FactorMethod[]; expiresAt: string }
export type FactorMethod = 'totp' | 'recovery-code'

/** @throws ApiError 401 when login and password do not fit, 429 after too many attempts */
export async function logIn(queryClient: QueryClient, credentials: Credentials): Promise<Session | Challenge> {
  const result = await answer(api.POST(path, { body: credentials }))
  return 'challenge' in result ? result : begin(queryClient, withAhead(result))
}

/** The second step of a login. @throws ApiError 401 for a wrong code and a challenge that is over, 429 after too many tries */
export async function answerChallenge(
  queryClient: QueryClient,
  body: { challenge: string; method: FactorMethod; code: string },
): Promise<Session> {
  return begin(queryClient, withAhead(await answer(api.POST('/portal/session/verify', { body }))))
}

function begin(queryClient: QueryClient, session: Session): Session {
  // Whatever was read before was another person's, or of another time.
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, session)
  localStorage.setItem(roleKey, session.role)
  localStorage.setItem(heardOfKey, personOf(session))
  return session
}

/** Ends the session and removes the person's drafts from this browser. */
export async function logOut(queryClient: QueryClient, session: Session): Promise<void> {
  await api.DELETE(path)
  // The session has ended all the same when the browser does not let us at its store.
  await removeDraftsOf(personOf(session)).catch(() => {})
  forgetSession(queryClient)
}

/** Takes everything of the person out of the page. @returns whether somebody was logged in */
export function forgetSession(queryClient: QueryClient): boolean {
  const was = queryClient.getQueryData(sessionQuery.queryKey)
  localStorage.removeItem(heardOfKey)
  localStorage.removeItem(roleKey)
  queryClient.setQueryData(sessionQuery.queryKey, null)
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
  return was !== null && was !== undefined
}

/** Mails speak the language of the portal. Where the platform is not told now, it is with the next login. */
export function tellLanguage(language: 'uk' | 'en'): void {
  if (localStorage.getItem(heardOfKey) !== null)
    void api.PUT('/portal/language', { body: { language } }).catch(() => {})
}
