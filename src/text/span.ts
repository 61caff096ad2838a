/** Time ranges in the queries of lists. A date alone means that whole day, UTC. */
import { type BrokenRule, broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { endOf, instantRule, readBound } from './instant.ts'
import { instantParameter } from './instant-parameter.ts'

/** A range of time. It includes `from` but not `until`; null: no bound. */
export type Span = { from: Date | null; until: Date | null }

const instant = (description: string) => instantParameter(description, '2026-11-21T00:00:00Z')

export const spanParameters = {
  dateFrom: instant('Only what was made at or after this time; a date alone means midnight UTC'),
  dateTo: instant('Only what was made before this time; a date alone means up to the end of that day, UTC'),
}

/** The parameters of a time range in lists of the Partner API, which have other names than `spanParameters`. */
export const fromToParameters = {
  from: instant('Only what happened at or after this time; a date alone means midnight UTC'),
  to: instant('Only what happened before this time; a date alone means up to the end of that day, UTC'),
}

/**
 * Reads `dateFrom` and `dateTo`.
 * @throws DomainError 'invalid' for invalid dates, and for an end that is not after the start
 */
export const readSpan = ({ dateFrom, dateTo }: { dateFrom?: string; dateTo?: string }): Span =>
  readBounds(['dateFrom', dateFrom], ['dateTo', dateTo])

/** Reads `from` and `to` like `readSpan`. @throws as `readSpan` */
export const readFromTo = ({ from, to }: { from?: string; to?: string }): Span => readBounds(['from', from], ['to', to])

/**
 * Query parameters for a span of instants, `<name>From` and `<name>To`.
 * @param done a participle for the descriptions, such as `confirmed`: what was done at these instants
 */
export const betweenParameters = <Name extends string>(name: Name, done: string) =>
  ({
    [`${name}From`]: instant(`Only what was ${done} at or after it; a date alone means midnight UTC`),
    [`${name}To`]: instant(`Only what was ${done} before it; a date alone means up to the end of that day, UTC`),
  }) as Record<`${Name}${'From' | 'To'}`, ReturnType<typeof instant>>

/** Reads the parameters of `betweenParameters`. @throws as `readSpan` */
export const readBetween = <From extends string, To extends string>(
  params: Partial<Record<From | To, string | undefined>>,
  from: From,
  to: To,
): Span => readBounds([from, params[from]], [to, params[to]])

type Bound = [field: string, text: string | undefined]

function readBounds(...bounds: [from: Bound, to: Bound]): Span {
  const errors: BrokenRule[] = []
  const [from, to] = bounds.map(([field, text]) => {
    const found = text === undefined ? null : readBound(text)
    if (text !== undefined && found === null) errors.push({ field, ...instantRule })
    return found
  }) as [Date | null, Date | null]
  if (errors.length > 0) throw new DomainError('invalid', errors)
  const [[start], [end, text = '']] = bounds
  const until = to && endOf(text, to)
  if (from && until && until <= from) throw new DomainError('invalid', [broken(end, 'after', { field: start })])
  return { from, until }
}
