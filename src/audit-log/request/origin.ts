/** The origin of what a request does, for the audit log. */
import type { FastifyRequest } from 'fastify'
import { traceOf } from '../../access/request/trace.ts'
import { type Origin, operatorOrigin, originOfCaller } from '../origin.ts'

/** A request without a caller, which exists only below `/admin`, has used the operator's key. */
export const originOf = (request: FastifyRequest): Origin =>
  request.caller ? originOfCaller(request.caller) : operatorOrigin(traceOf(request))
