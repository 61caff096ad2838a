/** Who makes a change, beside what the operation works with. */
import type { FastifyRequest } from 'fastify'
import { originOf } from '../../audit-log/request/origin.ts'

/** @param request of whatever types its route has given it */
export const by = <Deps extends object>(deps: Deps, request: unknown) => ({
  ...deps,
  origin: originOf(request as FastifyRequest),
})
