/** The pools of connections of one process. */
import type { Database } from './database.ts'

/** The number of connections for tokens, logins, and the queries that each process makes every few seconds. */
const accessConnections = 3

export type Pools = ReturnType<typeof createPools>

/**
 * Makes the pools of connections. Sales use the pool of `database`. Tokens, the readiness check and all other work have
 * pools of their own, so that none of them waits for another. Add new pools here: `perkline doctor` calls this function
 * to count the connections of a process.
 *
 * @param poolSize the setting DATABASE_POOL, with which `database` was opened
 */
export const createPools = (database: Database, poolSize: number) => ({
  database,
  access: database.apart(accessConnections),
  readiness: database.apart(1),
  others: database.apart(Math.ceil(poolSize / 2), Math.ceil(poolSize / 5)),
  background: database.aside(new AbortController().signal, 'long'),
})
