/** Finds out what the audit log records about a request: the interface, the request's id and the client's address. */
import type { FastifyRequest } from 'fastify'
import type { Caller, Trace } from '../../caller.ts'
import { plainAddress } from '../../text/addresses.ts'
import { hasSessionCookie } from './session-cookie.ts'

/** The user agent that `bin/perkline` sends. */
export const cliAgent = 'perkline-cli'

/**
 * Returns the trace of a request. Requests of the portal have the session cookie. Portal requests before the login have
 * no cookie yet, so they are recognised by their path below `/portal/`.
 *
 * @param by who calls: `operator` has the operator's key; null: nobody has proven who calls. Only the platform's own
 *   callers can use the commands, and anybody can send their user agent
 */
export function traceOf(request: FastifyRequest, by: Pick<Caller, 'type'> | 'operator' | null): Trace {
  const { authorization, 'user-agent': agent = '' } = request.headers
  const isPortal = hasSessionCookie(request) || (authorization === undefined && request.url.startsWith('/portal/'))
  const isStaff = by === 'operator' || by?.type === 'platform'
  const via = isPortal ? 'portal' : isStaff && agent.startsWith(cliAgent) ? 'cli' : 'api'
  return { via, requestId: request.id, address: plainAddress(request.ip) }
}
