/** Closes all statements of a generated database, so that its platform closes none while it is measured. */
import { createClock } from '../../src/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { closeStatements } from '../../src/statements/closing.ts'
import { makeAllLines } from '../../src/statements/lines-store.ts'

const linesWithinMs = 3_600_000
const twoYearsMs = 2 * 365 * 86_400_000

/**
 * Puts all sales of each bank into one statement, as if two years had passed. Without it, a platform would close a
 * statement of each bank and day in the background while it is measured.
 */
export async function closeAllSales(database: Database): Promise<void> {
  await makeAllLines(database, linesWithinMs)
  const clock = { ...createClock(), now: () => new Date(Date.now() + twoYearsMs) }
  while (await closeStatements({ database, clock }, true));
}
