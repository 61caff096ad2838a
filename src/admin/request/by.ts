/** Adds who makes a change to an operation's dependencies. */
import type { FastifyRequest } from 'fastify'
import { originOf } from '../../audit-log/request/origin.ts'

/** @param request of any route, whatever its types */
export const by = <Deps extends object>(deps: Deps, request: unknown) => ({
  ...deps,
  origin: originOf(request as FastifyRequest),
})
