/** Where what a request does comes from. */
import type { FastifyRequest } from 'fastify'
import { traceOf } from '../../access/request/trace.ts'
import { type Origin, operatorOrigin, originOfCaller } from '../origin.ts'

/** Below `/admin` a request without a caller has shown the operator's key. */
export const originOf = (request: FastifyRequest): Origin =>
  request.caller ? originOfCaller(request.caller) : operatorOrigin(traceOf(request))
