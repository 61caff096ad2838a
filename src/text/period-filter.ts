/** Periods in the queries of lists (contract/campaigns.md, "Bank list"): a date alone means that whole day, UTC. */
import type { BrokenRule } from '../error-rules.ts'
import { endOf, instantRule, later, readBound, readInstant } from './instant.ts'
import { instantParameter } from './instant-parameter.ts'

/**
 * The conditions of a query on the period of a campaign, which includes the campaign's `dateFrom` but not its `dateTo`.
 * A field that is null sets no condition.
 */
export type PeriodFilter = {
  startsFrom: Date | null
  endsBy: Date | null
  /** The campaign's period must overlap the time from `from` (included) to `until` (excluded). */
  active: { from: Date; until: Date } | null
}

const instant = (description: string) =>
  instantParameter(`${description} ISO 8601: with a time it needs a zone or \`Z\``, '2026-12-01T00:00:00Z')

export const periodParameters = {
  dateFrom: instant('Only campaigns that start at or after it; a date alone means midnight UTC.'),
  dateTo: instant('Only campaigns that end at or before it; a date alone means the end of that day, UTC.'),
}

export const activeOnParameter = {
  activeOn: instant(
    'Only campaigns whose period contains it; `dateFrom` is inside the period, `dateTo` outside. A date alone means that ' +
      'whole day, UTC: the period has a part of it.',
  ),
}

/** @param errors receives the errors of invalid dates */
export function readPeriodFilter(
  params: { dateFrom?: unknown; dateTo?: unknown; activeOn?: unknown },
  errors: BrokenRule[],
): PeriodFilter {
  const read = (field: keyof typeof params): Span | null => {
    const text = params[field]
    // The caller has already reported a value that is not a text.
    if (typeof text !== 'string') return null
    const from = readInstant(text)
    if (from === null) errors.push({ field, ...instantRule })
    return from && { from, until: endOf(text, from) }
  }
  const active = read('activeOn')
  const startsFrom = read('dateFrom') && readBound(String(params.dateFrom))
  return {
    startsFrom,
    endsBy: read('dateTo')?.until ?? null,
    // `activeOn` may be one instant. It becomes a period of one millisecond, the smallest unit that the platform
    // stores.
    active: active && { from: active.from, until: active.until > active.from ? active.until : later(active.from, 1) },
  }
}

type Span = { from: Date; until: Date }
