/** Which tables are large enough for plans that are kept (`Statement.plannedOnce`). */

/** With so many rows an index that finds one of them is the cheapest way to it, and stays so. */
const grownRows = 1_000

export const findGrown = `
  select relname as name from pg_class where relname = any($1) and relkind = 'r' and reltuples >= ${grownRows}`

const lookEveryMs = 5_000

/**
 * Knows which tables have grown, as of the last `analyze`.
 *
 * @param find gives those of the tables that have
 * @returns a function that never waits: it tells what is known, and looks again beside the callers
 */
export function createGrownTables(find: (tables: string[]) => Promise<{ name: string }[]>) {
  const grown = new Set<string>()
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const look = (tables: string[]) => {
    lookedAtMs = performance.now()
    find(tables).then(
      found => found.forEach(({ name }) => void grown.add(name)),
      // The database is away: that is told to those who need it, and the next look comes soon.
      () => {},
    )
  }
  return (tables: readonly string[]): boolean => {
    const unknown = tables.filter(table => !grown.has(table))
    if (unknown.length > 0 && performance.now() - lookedAtMs > lookEveryMs) look(unknown)
    return unknown.length === 0
  }
}
