/** Knows which tables are large enough to keep plans for them (`Statement.plannedOnce`). */

/**
 * A table with at least this many rows counts as large. In a large table, an index is always the cheapest way to find
 * one row, so a plan that uses the index can be kept.
 */
const grownRows = 1_000

/**
 * Finds the tables that have at least `grownRows` rows. For a partitioned table, one partition of that size is enough:
 * PostgreSQL's automatic `analyze` counts the rows of each partition, but not of the whole table.
 */
export const findGrown = `
  select relname as name from pg_class t where relname = any($1) and (relkind = 'r' and reltuples >= ${grownRows}
    or relkind = 'p' and exists (
      select from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = t.oid and p.reltuples >= ${grownRows}))`

const lookEveryMs = 5_000

/**
 * Knows which tables have grown to `grownRows` rows, as of the last `analyze`.
 *
 * @param find returns which of the tables have grown
 * @returns a function that never waits: it answers from memory, and refreshes the memory in the background
 */
export function createGrownTables(find: (tables: string[]) => Promise<{ name: string }[]>) {
  const grown = new Set<string>()
  const small = new Set<string>()
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const look = () => {
    lookedAtMs = performance.now()
    find([...small]).then(
      found => {
        for (const { name } of found) {
          small.delete(name)
          grown.add(name)
        }
      },
      // The database cannot be reached. The caller's own statement reports this, and a later call looks again.
      () => {},
    )
  }
  return (tables: readonly string[]): boolean => {
    const unknown = tables.filter(table => !grown.has(table))
    for (const table of unknown) small.add(table)
    // `look` asks the database for the sizes of all small tables, also those of other statements. Otherwise a frequent
    // statement could cause every call of `look`, and the tables of a rare statement would never be looked up.
    if (unknown.length > 0 && performance.now() - lookedAtMs > lookEveryMs) look()
    return unknown.length === 0
  }
}
