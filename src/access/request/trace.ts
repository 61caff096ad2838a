/** By which way a request came, for the audit log. */
import type { FastifyRequest } from 'fastify'
import type { Trace } from '../caller.ts'

/** How the commands call themselves. */
export const cliAgent = 'perkline-cli'

export function traceOf(request: FastifyRequest): Trace {
  const { authorization, 'user-agent': agent = '' } = request.headers
  const via = authorization === undefined ? 'portal' : agent.startsWith(cliAgent) ? 'cli' : 'api'
  return { via, requestId: request.id, address: request.ip }
}
