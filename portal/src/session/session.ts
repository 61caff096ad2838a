/**
 * The session of the logged-in person. The token itself is in a cookie that scripts cannot read; this module has what
 * the platform says about the session.
 */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { isApiError } from '../api/errors.ts'
import { forgetKeys } from '../api/once.ts'
import type { components } from '../api/schema/perkline.ts'
import { draftsRemovedAt, removeDraftsOf } from './draft-store.ts'

export const accountTypes = ['retailer', 'bank', 'platform'] as const
export type AccountType = (typeof accountTypes)[number]

/** All roles, also `gateway`, which only systems have. */
export type Role = components['schemas']['Session']['role']

export type Session = {
  typeAccount: AccountType
  login: string
  role: Role
  /** The bank or the merchant; null for the platform. */
  id: string | null
  name: string
  /** The English name; null if there is none. */
  nameEn: string | null
  /** When the session ends (ISO 8601). */
  expiresAt: string
  /** The platform's time when the session was read. Campaigns follow this time, and in sandbox mode it can be moved. */
  now: string
  /**
   * The failed attempts between the person's last two logins. `since` is the time of the earlier login, or the time at
   * which the person was created if there was only one login. Null for a system's token.
   */
  failedLogins: { count: number; since: string } | null
  /** How far `now` is ahead of this browser's clock, in milliseconds. */
  aheadMs: number
}

export type Credentials = { typeAccount: AccountType; login: string; password: string }

/** The first part of each account type's addresses. */
export const areaOf = { retailer: '/merchant', bank: '/bank', platform: '/operator' } as const

/**
 * The key in localStorage for the person whose session this browser saw last. When the value changes, other tabs know
 * that somebody has logged in or out. When it is missing, nobody is logged in, so we do not ask the platform for the
 * session.
 */
export const heardOfKey = 'perkline.session'

/** The role that this browser saw last, so that the first page's data can be requested before the session is loaded. */
const roleKey = 'perkline.role'

/**
 * Returns the kind of account and the role of the person that this browser saw last; null if they are not stored. They
 * may be outdated, and then the platform refuses the reads that are based on them.
 */
export function lastHeardOf(): Pick<Session, 'typeAccount' | 'role'> | null {
  const typeAccount = accountTypes.find(each => localStorage.getItem(heardOfKey)?.startsWith(`${each}:`))
  const role = localStorage.getItem(roleKey) as Role | null
  return typeAccount && role ? { typeAccount, role } : null
}

/** Identifies a person in the browser's stored data. */
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

/** The password was correct, and a second factor is needed. */
export type Challenge = { challenge: string; methods: FactorMethod[]; expiresAt: string }
export type FactorMethod = 'totp' | 'recovery-code'

/** @throws ApiError 401 for a wrong login or password, 429 after too many attempts */
export async function logIn(queryClient: QueryClient, credentials: Credentials): Promise<Session | Challenge> {
  const result = await answer(api.POST(path, { body: credentials }))
  return 'challenge' in result ? result : begin(queryClient, withAhead(result))
}

/**
 * The second step of a login.
 * @throws ApiError 401 for a wrong code or an expired challenge, 429 after too many attempts
 */
export async function answerChallenge(
  queryClient: QueryClient,
  body: { challenge: string; method: FactorMethod; code: string },
): Promise<Session> {
  return begin(queryClient, withAhead(await answer(api.POST('/portal/session/verify', { body }))))
}

/** The time (ms) at which this page was loaded, or of the last login on this page if that was later. */
let begunAt = Date.now()

/**
 * Whether somebody has logged out in another tab since `begunAt`. That logout also removed the unsaved input of this
 * page.
 */
export const wasLeftElsewhere = (): boolean => draftsRemovedAt() > begunAt

function begin(queryClient: QueryClient, session: Session): Session {
  // All data that was read before belongs to another person or an earlier session.
  queryClient.clear()
  begunAt = Date.now()
  if (localStorage.getItem(heardOfKey) !== personOf(session)) forgetKeys()
  queryClient.setQueryData(sessionQuery.queryKey, session)
  localStorage.setItem(roleKey, session.role)
  localStorage.setItem(heardOfKey, personOf(session))
  return session
}

/** Ends the session on the platform. It may have ended already. */
export async function endOnPlatform(signal?: AbortSignal): Promise<void> {
  await api.DELETE(path, signal ? { signal } : {}).catch(error => {
    if (!isApiError(error, 401)) throw error
  })
}

/** How long a logout waits for the platform's answer. */
const logOutPatienceMs = 5_000

/**
 * Ends the session and removes the person's data from this browser, also if the platform does not answer.
 * @returns whether the session has ended on the platform
 */
export async function logOut(queryClient: QueryClient, session: Session): Promise<boolean> {
  const ending = endOnPlatform(AbortSignal.timeout(logOutPatienceMs)).then(
    () => true,
    () => false,
  )
  // The person wants to leave in any case, so an error of the browser's storage is ignored.
  await removeDraftsOf(personOf(session)).catch(() => {})
  const isEnded = await ending
  forgetKeys()
  forgetSession(queryClient)
  return isEnded
}

/**
 * Removes the person's data from the page.
 * @returns whether somebody was logged in
 */
export function forgetSession(queryClient: QueryClient): boolean {
  const was = queryClient.getQueryData(sessionQuery.queryKey)
  localStorage.removeItem(heardOfKey)
  localStorage.removeItem(roleKey)
  queryClient.setQueryData(sessionQuery.queryKey, null)
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
  return was !== null && was !== undefined
}

/** Sets the language of mails to the language of the portal. If this request fails, the next login sends it again. */
export function sendLanguage(language: 'uk' | 'en'): void {
  if (localStorage.getItem(heardOfKey) !== null)
    void api.PUT('/portal/language', { body: { language } }).catch(() => {})
}
