/**
 * Finds out which versions of the program use a database at the same time. Each connection carries its program's
 * version in its name. A migration may contain the line `-- serves: 0.3`. Once this migration is applied, no process of
 * an older version may serve. Without the line, all versions may serve.
 */
import { version } from '../version.ts'
import { applicationName, program } from './application-name.ts'
import type { Queryable } from './database.ts'

/**
 * The application name of the connection on which a process gets notifications. Each serving process has one such
 * connection, so `countServing` counts these connections.
 */
export const listenerName = `${applicationName}:news`

/** Versions before 0.3 did not report their version. */
const versionBeforeNames = '0.2'

/** The release before this one, from which installations upgrade. A test compares it with the changelog. */
export const previousVersion = '0.2'

/** @returns the lowest version that may serve once this migration is applied; null: every version */
export const servesOf = (sql: string): string | null => /^-- serves: (\d+\.\d+)$/m.exec(sql)?.[1] ?? null

/** Whether this program may serve on a schema for which `lowest` is the oldest allowed version. */
export const mayServe = (lowest: string): boolean => compareVersions(version, lowest) >= 0

/** The versions of the programs that are connected to this database now, such as `0.2`, the oldest first. */
export async function connectedVersions(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and (application_name = $1 or application_name like $1 || '/%')`,
    [program],
  )
  const versions = rows.map(({ name }) => name.split('/')[1]?.split('.').slice(0, 2).join('.') ?? versionBeforeNames)
  return [...new Set(versions)].sort(compareVersions)
}

/**
 * How many processes serve on this database. Connections of 0.2 have no names of their own; the one that gets notifications shows
 * the statement `listen`. If it shows nothing, because another role uses it, the processes of 0.2 count as one.
 */
export async function countServing(database: Queryable): Promise<number> {
  const [row] = await database.query<{ serving: number }>(
    `select (count(*) filter (where application_name <> $1)
             + greatest(count(*) filter (where application_name = $1 and query like 'listen %'),
                        count(distinct application_name) filter (where application_name = $1)))::int as serving
     from pg_stat_activity
     where datname = current_database() and (application_name = $1 or application_name like $1 || '/%:news')`,
    [program],
  )
  return row?.serving ?? 0
}

/** Compares two versions. @returns a number below 0 when `a` is the older one */
export function compareVersions(a: string, b: string): number {
  const [partsOfA, partsOfB] = [a, b].map(text => text.split('.').map(Number))
  for (const [index, part] of (partsOfA ?? []).entries()) {
    const difference = part - (partsOfB?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** @returns the `versions` that may not serve once migrations with these texts are applied */
export function refusedBy(texts: readonly string[], versions: readonly string[]): string[] {
  const lowest = texts
    .flatMap(sql => servesOf(sql) ?? [])
    .sort(compareVersions)
    .at(-1)
  return lowest === undefined ? [] : versions.filter(each => compareVersions(each, lowest) < 0)
}
