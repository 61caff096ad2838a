/** Checks the types of events, and groups of types, that a caller names. */
import { type BrokenRule, broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { shownText } from '../text/shown-text.ts'
import { isTypeFilter } from './catalogue.ts'

/** @param fieldOf returns the name of the request field that has the filter with this index */
export const typeFilterErrors = (filters: readonly string[], fieldOf: (index: number) => string): BrokenRule[] =>
  filters.flatMap((filter, index) =>
    isTypeFilter(filter) ? [] : [broken(fieldOf(index), 'event-types', { type: shownText(filter) })],
  )

/** @throws DomainError 'invalid' that names each filter that is neither a type nor a group */
export function requireTypeFilters(filters: readonly string[], fieldOf: (index: number) => string): void {
  const errors = typeFilterErrors(filters, fieldOf)
  if (errors.length > 0) throw new DomainError('invalid', errors)
}
