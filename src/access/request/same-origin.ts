/**
 * Whether a request comes from the platform's own pages. Browsers send a cookie along with whatever a page asks for, so a change
 * that is allowed by a cookie needs this proof, which no foreign page can forge.
 */
import type { FastifyRequest } from 'fastify'

/**
 * @param publicUrl the address under which people see the platform, which a proxy may hide from the request
 * @returns 'none' when the request shows no origin at all: no browser sent it, or an old one
 */
export function originOf(request: FastifyRequest, publicUrl: string): 'same' | 'other' | 'none' {
  const { 'sec-fetch-site': site, origin } = request.headers
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'other'
  if (origin === undefined) return 'none'
  const own = [new URL(publicUrl).origin, `${request.protocol}://${request.host}`]
  return own.includes(origin) ? 'same' : 'other'
}
