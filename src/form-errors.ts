/** Reports all errors of a request's form at once (contract/http.md, "Request bodies"). */
import { type BrokenRule, ruleMessage } from './error-rules.ts'
import { DomainError } from './errors.ts'

/**
 * A check, and the fields that it reads. The check throws a DomainError 'invalid' when one of these fields is wrong.
 */
type FormCheck = readonly [fields: readonly string[], check: () => unknown]

/**
 * Makes all checks of a form. A check is skipped when the schema has already refused a field that the check reads.
 *
 * @param schemaErrors the errors of the form's schema
 * @throws DomainError 'invalid' with the errors of the schema and of all checks
 */
export function requireForm(schemaErrors: readonly BrokenRule[], checks: readonly FormCheck[]): void {
  const refused = new Set(schemaErrors.map(({ field }) => field.split('.')[0]))
  const found = refused.has('body')
    ? []
    : checks.filter(([fields]) => !fields.some(field => refused.has(field))).flatMap(([, check]) => errorsOf(check))
  const errors = new Map([...schemaErrors, ...found].map(error => [textOf(error), error]))
  if (errors.size > 0) throw new DomainError('invalid', [...errors.values()])
}

const textOf = (error: string | BrokenRule): string => (typeof error === 'string' ? error : ruleMessage(error))

function errorsOf(check: () => unknown): readonly (string | BrokenRule)[] {
  try {
    check()
    return []
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'invalid') throw error
    return error.rules.length > 0 ? error.rules : [error.details].flat()
  }
}
