/**
 * Checks whether a request comes from the platform's own pages. A cookie alone does not prove this, because
 * browsers may add it to requests of other pages too. So every change that a cookie authorises needs this check.
 */
import type { FastifyRequest } from 'fastify'

/**
 * Whether a request comes from the platform's own pages.
 *
 * @param publicUrl the address at which people reach the platform. Behind a proxy, the request may show another address
 * @returns 'none' when the request names no origin: the client is not a browser, or an old browser
 */
export function originOf(request: FastifyRequest, publicUrl: string): 'same' | 'other' | 'none' {
  const { 'sec-fetch-site': site, origin } = request.headers
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (origin === undefined) return 'none'
  const own = [new URL(publicUrl).origin, `${request.protocol}://${request.host}`]
  return own.includes(origin) ? 'same' : 'other'
}
