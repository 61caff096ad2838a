/** By which way a request came, for the audit log. */
import type { FastifyRequest } from 'fastify'
import type { Trace } from '../caller.ts'
import { hasSessionCookie } from './session-cookie.ts'

/** How the commands call themselves. */
export const cliAgent = 'perkline-cli'

/** The portal comes with its cookie; before there is one, as for a login, by its own paths. */
export function traceOf(request: FastifyRequest): Trace {
  const { authorization, 'user-agent': agent = '' } = request.headers
  const isPortal = hasSessionCookie(request) || (authorization === undefined && request.url.startsWith('/portal/'))
  const via = isPortal ? 'portal' : authorization !== undefined && agent.startsWith(cliAgent) ? 'cli' : 'api'
  return { via, requestId: request.id, address: request.ip }
}
