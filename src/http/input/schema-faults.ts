/** What the schema of a form has found wrong, for a route that tells it together with the rules beyond the schema. */
import type { FastifyRequest } from 'fastify'
import type { BrokenRule } from '../../error-rules.ts'
import { schemaRules } from './validation.ts'

/**
 * @param part where the form is
 * @throws the fault of another part, which ends the request at once
 */
export function schemaFaults(
  request: Pick<FastifyRequest, 'validationError'>,
  part: 'body' | 'querystring' = 'body',
): BrokenRule[] {
  const { validationError } = request
  if (!validationError) return []
  if (validationError.validationContext !== part) throw validationError
  return schemaRules(validationError.validation as never)
}
