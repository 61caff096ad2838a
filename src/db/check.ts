/** A rule over what the database holds, as a query that finds what breaks it. */
import type { Queryable } from './database.ts'

export type Check = {
  /** For programs: clients name the check in their own language by it. It never changes. */
  code: string
  name: string
  /** What to say when nothing breaks it. */
  holds: string
  /** A query of one column `fault`: plain words, without secrets. */
  faults: string
}

/** `params`: the figures in `detail`, when the check holds and has any. */
export type CheckResult = { code: string; name: string; ok: boolean; detail: string; params?: Record<string, number> }

/** More faults of one check than anybody reads are counted but not named. */
const namedFaults = 10

export async function runCheck(database: Queryable, { faults, ...check }: Check): Promise<CheckResult> {
  const rows = await database.query<{ fault: string; total: number }>(
    `select fault, count(*) over () as total from (${faults}) as f limit ${namedFaults}`,
  )
  const named = rows.map(({ fault }) => fault)
  return checkResult(check, named, rows[0]?.total ?? 0)
}

/** @param total how many faults there are, of which `faults` are some */
export function checkResult(
  { code, name, holds, params }: Omit<Check, 'faults'> & Pick<CheckResult, 'params'>,
  faults: readonly string[],
  total: number,
): CheckResult {
  if (total === 0) return { code, name, ok: true, detail: holds, ...(params && { params }) }
  const named = faults.slice(0, namedFaults)
  const more = total > named.length ? [`and ${total - named.length} more`] : []
  return { code, name, ok: false, detail: [...named, ...more].join('; ') }
}

/** Words of ours as SQL literals, for `in (...)`. */
export const listed = (words: readonly string[]): string => words.map(word => `'${word}'`).join(', ')
