/** The cookie that carries the token of a person in the portal, out of the reach of scripts; systems send `Authorization` instead. */
import type { FastifyRequest } from 'fastify'

const isSecure = (publicUrl: string): boolean => new URL(publicUrl).protocol === 'https:'

/** With https, browsers take a cookie of such a name only from this very host, and send it over https alone. */
const sessionCookieName = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-perkline_session' : 'perkline_session'

/** Whether a request comes with the cookie of a session, which may have ended, and without a token of its own. */
export const hasSessionCookie = ({ headers }: FastifyRequest): boolean =>
  headers.authorization === undefined && /(?:^|;\s*)(?:__Host-)?perkline_session=/.test(headers.cookie ?? '')

/** @returns the token of the request's cookie; null without one, and with two, of which one may be foreign */
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
 * @param given.maxAge seconds
 * @param given.publicUrl the address of the portal: with https the cookie never travels in the clear
 */
export const sessionCookie = (token: string, given: { maxAge: number; publicUrl: string }): string =>
  setCookie(token, given.maxAge, given.publicUrl)

/** `Set-Cookie` that takes the session out of the browser. */
export const endedSessionCookie = (publicUrl: string): string => setCookie('', 0, publicUrl)

function setCookie(value: string, maxAge: number, publicUrl: string): string {
  const secure = isSecure(publicUrl) ? '; Secure' : ''
  return `${sessionCookieName(publicUrl)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}
