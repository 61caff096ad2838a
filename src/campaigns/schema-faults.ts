/** What the schema of a form has found wrong, for a route that tells it together with the rules beyond the schema. */
import type { FastifyRequest } from 'fastify'
import { faultMessages } from '../http/validation.ts'

/** @throws the fault of a path or query, which ends the request at once */
export function schemaFaults(request: Pick<FastifyRequest, 'validationError'>): string[] {
  const { validationError } = request
  if (!validationError) return []
  if (validationError.validationContext !== 'body') throw validationError
  return faultMessages(validationError.validation as never)
}
