/**
 * The cookie with which a person's browser sends the token of the portal's session. Scripts cannot read the cookie.
 * Systems send the header `Authorization` instead.
 */
import type { FastifyRequest } from 'fastify'

const isSecure = (publicUrl: string): boolean => new URL(publicUrl).protocol === 'https:'

/**
 * The name of the cookie. With https it has a prefix: browsers then accept the cookie only from exactly this host,
 * and send it only over https.
 */
const sessionCookieName = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-perkline_session' : 'perkline_session'

/** Whether a request has the cookie of a session, which may have ended, and no `Authorization` header. */
export const hasSessionCookie = ({ headers }: FastifyRequest): boolean =>
  headers.authorization === undefined && /(?:^|;\s*)(?:__Host-)?perkline_session=/.test(headers.cookie ?? '')

/**
 * @returns the token in the request's cookie; null when the cookie is missing, or present twice, because one of the two
 *   may be forged
 */
export function cookieToken(request: FastifyRequest, publicUrl: string): string | null {
  if (request.headers.cookie === undefined) return null
  const name = sessionCookieName(publicUrl)
  const values = request.headers.cookie
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${name}=`))
  const [value, ...others] = values
  return value === undefined || others.length > 0 ? null : value.slice(name.length + 1)
}

/**
 * `Set-Cookie` for a new session.
 *
 * @param input.maxAge seconds
 * @param input.publicUrl the address of the portal. If it begins with https, browsers never send the cookie unencrypted
 */
export const sessionCookie = (token: string, input: { maxAge: number; publicUrl: string }): string =>
  setCookie(token, input.maxAge, input.publicUrl)

/** `Set-Cookie` that removes the session from the browser. */
export const endedSessionCookie = (publicUrl: string): string => setCookie('', 0, publicUrl)

function setCookie(value: string, maxAge: number, publicUrl: string): string {
  const secure = isSecure(publicUrl) ? '; Secure' : ''
  return `${sessionCookieName(publicUrl)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}
