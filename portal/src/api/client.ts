/**
 * Calls the platform's operations; all requests go through this client. The session is a cookie that scripts cannot
 * read and the browser adds by itself.
 *
 *     const campaigns = await answer(api.GET('/cashbacks/for-merchant', { params: { query }, signal }))
 */
import createClient, { createQuerySerializer, type Middleware } from 'openapi-fetch'
import { ApiError, apiError, noAnswer } from './errors.ts'
import { fetchOnce } from './once.ts'
import type { paths as EsimPaths } from './schema/esim-sales.ts'
import type { paths as OperatorPaths } from './schema/operator.ts'
import type { paths as PartnerPaths } from './schema/partner.ts'
import type { paths as PerklinePaths } from './schema/perkline.ts'
import { endSession, needFactor } from './session-end.ts'

/**
 * Throws an error answer as an ApiError. A 401 also ends the session, unless a second factor is needed or its code was
 * wrong.
 *
 * @param isRead whether the request only reads. If a read needs a second factor, the page that sets it up is opened
 */
export async function refuse(response: Response, isRead = false): Promise<never> {
  const body: unknown = await response.json().catch(() => null)
  const error = apiError(response.status, body, response.headers)
  const isAboutCode = error.code === 'mfa-needed' || response.url.endsWith('/portal/session/verify')
  if (response.status === 401 && !isAboutCode) endSession()
  if (error.code === 'mfa-needed' && isRead) needFactor()
  throw error
}

const throwErrors: Middleware = {
  async onResponse({ request, response }) {
    if (!response.ok) await refuse(response, request.method === 'GET')
  },
  onError({ error }) {
    if (error instanceof ApiError || (error instanceof DOMException && error.name === 'AbortError')) return
    return new ApiError(noAnswer, [], null)
  },
}

/** Arrays of a query are repeated (`status=a&status=b`), as the platform reads them. */
export const api = createClient<PerklinePaths & EsimPaths & OperatorPaths & PartnerPaths>({
  baseUrl: '',
  credentials: 'same-origin',
  fetch: fetchOnce,
})
api.use(throwErrors)

/** The address to which `api` sends a request with these parameters. */
export function addressOf(path: string, query: Record<string, string>): string {
  const search = createQuerySerializer()(query)
  return search === '' ? path : `${path}?${search}`
}

/**
 * The body of a successful answer, with its version.
 * @throws ApiError for any other answer
 */
export async function versioned<Data extends object>(
  call: Promise<{ data?: Data; response: Response }>,
): Promise<Data & { etag: string | null }> {
  const { data, response } = await call
  if (data === undefined) throw new ApiError(noAnswer, [], null)
  return { ...data, etag: response.headers.get('etag') }
}

/**
 * The body of a successful answer, and where the next page begins (`before` in the `Link` header). `next` is null on the last
 * page.
 * @throws ApiError for any other answer
 */
export async function linked<Data>(
  call: Promise<{ data?: Data; response: Response }>,
): Promise<{ data: Data; next: string | null }> {
  const { data, response } = await call
  if (data === undefined) throw new ApiError(noAnswer, [], null)
  const next = response.headers.get('link')?.match(/[?&]before=([\w-]+)>; rel="next"/)?.[1]
  return { data, next: next ?? null }
}

/** The header of a change. With it, the platform refuses the change if the person has not seen the newest version. */
export const ifMatch = (etag: string | null): { 'if-match'?: string } => (etag === null ? {} : { 'if-match': etag })

/**
 * The body of a successful answer.
 * @throws ApiError for any other answer
 */
export async function answer<Data>(call: Promise<{ data?: Data }>): Promise<NonNullable<Data>> {
  const { data } = await call
  if (data === undefined || data === null) throw new ApiError(noAnswer, [], null)
  return data
}
