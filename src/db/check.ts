/** A rule over what the database holds, as a query that finds what breaks it. */
import type { Queryable } from './database.ts'

export type Check = {
  name: string
  /** What to say when nothing breaks it. */
  holds: string
  /** A query of one column `fault`: plain words, without secrets. */
  faults: string
}

export type CheckResult = { name: string; ok: boolean; detail: string }

/** More faults of one check than anybody reads are counted but not named. */
const namedFaults = 10

export async function runCheck(database: Queryable, { name, holds, faults }: Check): Promise<CheckResult> {
  const rows = await database.query<{ fault: string; total: number }>(
    `select fault, count(*) over () as total from (${faults}) as f limit ${namedFaults}`,
  )
  const named = rows.map(({ fault }) => fault)
  return checkResult({ name, holds }, named, rows[0]?.total ?? 0)
}

/** @param total how many faults there are, of which `faults` are some */
export function checkResult(
  { name, holds }: Pick<Check, 'name' | 'holds'>,
  faults: readonly string[],
  total: number,
): CheckResult {
  if (total === 0) return { name, ok: true, detail: holds }
  const named = faults.slice(0, namedFaults)
  const more = total > named.length ? [`and ${total - named.length} more`] : []
  return { name, ok: false, detail: [...named, ...more].join('; ') }
}

/** Words of ours as SQL literals, for `in (...)`. */
export const listed = (words: readonly string[]): string => words.map(word => `'${word}'`).join(', ')
