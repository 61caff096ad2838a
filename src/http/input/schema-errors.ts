/** Returns the schema errors of a body or query, for a route that reports them together with its own rules. */
import type { FastifyRequest } from 'fastify'
import type { BrokenRule } from '../../error-rules.ts'
import { schemaRules } from './validation.ts'

/**
 * @param part the part of the request whose errors are returned
 * @throws the validation error if it is about another part of the request
 */
export function schemaErrors(
  request: Pick<FastifyRequest, 'validationError'>,
  part: 'body' | 'querystring' = 'body',
): BrokenRule[] {
  const { validationError } = request
  if (!validationError) return []
  if (validationError.validationContext !== part) throw validationError
  return schemaRules(validationError.validation)
}
