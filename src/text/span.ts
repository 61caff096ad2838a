/** Spans of time in the queries of lists: from an instant on, and up to another; a date alone means that whole day, UTC. */

import Type from 'typebox'
import { type BrokenRule, broken, mustBe } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { instantPattern, instantRule, isDateAlone, readInstant } from './instant.ts'

/** Half-open; null: no bound. */
export type Span = { from: Date | null; until: Date | null }

const instant = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      ...mustBe(instantRule.rule, instantRule.params),
      'x-documented': { pattern: instantPattern },
      description,
      examples: ['2026-11-21T00:00:00Z'],
    }),
  )

export const spanParameters = {
  dateFrom: instant('Only what was made at or after it; a date alone means midnight UTC'),
  dateTo: instant('Only what was made before it; a date alone means up to the end of that day, UTC'),
}

const dayMs = 86_400_000

/** @throws DomainError 'invalid' for what is no date, and for an end that is not after the start */
export function readSpan(given: { dateFrom?: string; dateTo?: string }): Span {
  const faults: BrokenRule[] = []
  const read = (field: 'dateFrom' | 'dateTo'): Date | null => {
    const text = given[field]
    if (text === undefined) return null
    const found = readInstant(text)
    if (found === null) faults.push({ field, ...instantRule })
    return found
  }
  const [from, to] = [read('dateFrom'), read('dateTo')]
  if (faults.length > 0) throw new DomainError('invalid', faults)
  const until = to && (isDateAlone(given.dateTo ?? '') ? new Date(to.getTime() + dayMs) : to)
  if (from && until && until <= from)
    throw new DomainError('invalid', [broken('dateTo', 'after', { field: 'dateFrom' })])
  return { from, until }
}
