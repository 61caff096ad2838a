/** Adds the origin of a change (who makes it, and through which interface) to the dependencies of an operation. */
import type { FastifyRequest } from 'fastify'
import { originOf } from '../../audit-log/request/origin.ts'

/** @param request a request of any route; its type differs between routes */
export const withOrigin = <Deps extends object>(deps: Deps, request: unknown) => ({
  ...deps,
  origin: originOf(request as FastifyRequest),
})
