/** The interface through which a request came, for the audit log. */
import type { FastifyRequest } from 'fastify'
import type { Trace } from '../caller.ts'
import { hasSessionCookie } from './session-cookie.ts'

/** The user agent of the commands. */
export const cliAgent = 'perkline-cli'

/**
 * The interface of a request. The portal's requests are recognised by the session cookie. Requests without that cookie,
 * such as a login, are recognised by their path.
 */
export function traceOf(request: FastifyRequest): Trace {
  const { authorization, 'user-agent': agent = '' } = request.headers
  const isPortal = hasSessionCookie(request) || (authorization === undefined && request.url.startsWith('/portal/'))
  const via = isPortal ? 'portal' : authorization !== undefined && agent.startsWith(cliAgent) ? 'cli' : 'api'
  return { via, requestId: request.id, address: request.ip }
}
