/** Finds out who makes a request, and from where, so that the audit log can record it. */
import type { FastifyRequest } from 'fastify'
import { traceOf } from '../../access/request/trace.ts'
import { type Origin, operatorOrigin, originOfCaller } from '../../outbox/origin.ts'

/**
 * Returns the origin of a request. Only the holder of the operator's key sends requests without a caller, and only
 * below `/admin`.
 */
export const originOf = (request: FastifyRequest): Origin =>
  request.caller ? originOfCaller(request.caller) : operatorOrigin(traceOf(request, 'operator'))

/**
 * Adds the origin of a request to the dependencies of an operation.
 *
 * @param request a request of any route; its type differs between routes
 */
export const withOrigin = <Deps extends object>(deps: Deps, request: unknown) => ({
  ...deps,
  origin: originOf(request as FastifyRequest),
})
