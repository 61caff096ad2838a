/**
 * The one interface to PostgreSQL, embedded or not. A lost connection or a deadlock becomes `DomainError('unavailable')`
 * (`errors.ts`), and the next call opens a new connection.
 *
 * Statements and transactions that fail because of others (deadlocks, serialisation failures) are tried three times.
 */
import pg from 'pg'
import { DomainError } from '../errors.ts'
import { hasLostAgainstOthers, isLost, mapError } from './errors.ts'
import { createGrownTables, findGrown } from './grown-tables.ts'
import { parseInstant } from './instants.ts'
import { createHearing, endWhenSilent, isSilence } from './silence.ts'
import { lendingSocket } from './streaming/copy-out.ts'
import { applicationName } from './versions.ts'

/**
 * Each connection parses a named statement once.
 *
 * `plannedOnce` lists the tables that a statement reads. Use it only for the busiest statements, where planning is half the work.
 * Once all these tables have grown, the connection keeps the statement's plan, even if their sizes change. So the statement must
 * leave the planner little choice: it finds rows by one index, each within `lateral (... offset 0)` or by `= any`. Write further
 * conditions on indexed columns so that no index fits them (`is not distinct from $1`, `|| ''`).
 */
export type Statement = { name: string; text: string; plannedOnce?: readonly string[] }

export type Queryable = {
  /** Runs a statement and returns its rows. Use unnamed text for SQL that runs seldom. */
  query<Row extends object>(statement: Statement | string, values?: unknown[]): Promise<Row[]>
  /** Like `query`, but each row is a list of values: for the busiest statements, where column names cost as much as values. */
  tuples<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** Runs a statement and returns the number of rows that it changed. */
  execute(statement: Statement | string, values?: unknown[]): Promise<number>
}

export type Database = Queryable & {
  /** Runs `work` in one transaction; it may run again, up to three times. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>
  /**
   * Runs `work` on a connection outside the pool and without time limits, for long streams and locks.
   *
   * @param left an abort ends the connection and the statement that runs on it
   */
  dedicated<T>(work: (client: pg.Client) => Promise<T>, left?: AbortSignal): Promise<T>
  /**
   * Runs `work` on a connection without time limits that is made for `copyAsJson`. The connection is kept for some seconds,
   * because opening one took half of the time to the first byte.
   */
  longRead<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /**
   * For reads that must not delay anything else. They have a few connections of their own for each kind.
   *
   * @param left an abort ends the connection and the statement that runs on it
   */
  aside(left: AbortSignal, kind: AsideKind): Queryable
  /** The same database with a pool of its own. Connections outside the pools are shared. */
  apart(connections: number): Database
  /** The connection of a long transaction, when this database was made inside one: `longTransaction` then joins it. */
  joined?: pg.Client
  /** Opens a new connection that belongs to the caller and may stay open (notifications). */
  connect(): Promise<pg.Client>
  /** How many connections all pools have at this moment. */
  pool(): { total: number; idle: number; waiting: number }
  /** How many connections the pools can open, without those of `dedicated` and `connect`. */
  maxConnections(): number
  /** Whether a statement has succeeded within the last second and no connection was lost since. */
  isHeard(): boolean
  close(): Promise<void>
}

/** `short`: quick reads by people. `long`: reads that may take long. */
export type AsideKind = 'short' | 'long'

export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    // Safe for bigint: our ids and counts stay far below 2^53.
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number
    if (oid === pg.types.builtins.TIMESTAMPTZ && format !== 'binary') return parseInstant
    return pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

const connectTimeoutMs = 3_000
const heardLatelyMs = 1_000
const statementTimeoutMs = 10_000
/** How long a statement waits for locks of others. */
const lockTimeoutMs = 3_000
const asideLimits = {
  short: { connections: 4, statementMs: 3_000, lockMs: 2_000, waitMs: 3_000 },
  // Bounds the wait for a connection.
  long: { connections: 3, statementMs: 30_000, lockMs: lockTimeoutMs, waitMs: 10_000 },
} as const
/** More than any concurrency limit of long reads allows. */
const maxLongReads = 8
/** The server ends a statement in time by itself. If not even that arrives, the connection is silent. */
const silenceMs = statementTimeoutMs + 500

/**
 * The settings of each session. They are set after the connection is made, because poolers drop startup options, and so that ours
 * win over options in the address.
 */
const sessionSettings = {
  timezone: 'UTC',
  jit: 'off',
  idle_in_transaction_session_timeout: '60000',
  // Plan for the current values and sizes: a plan made on an empty table stays bad until `analyze`.
  plan_cache_mode: 'force_custom_plan',
}
const plannedOnce = {
  plan_cache_mode: 'force_generic_plan',
  ...Object.fromEntries(
    ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort'].map(way => [`enable_${way}`, 'off']),
  ),
}
/** The server ends the statement when its connection is gone, and uses at most one processor for it. */
const endedWithReader = {
  client_connection_check_interval: '1000',
  max_parallel_workers_per_gather: '0',
}
const limitedTo = (statementMs: number, lockMs: number) => ({
  statement_timeout: String(statementMs),
  lock_timeout: String(lockMs),
})

async function beginSession(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  const text = Object.entries({ ...sessionSettings, ...settings }).map(([name, value]) => `set ${name} = '${value}'`)
  await client.query({ text: text.join('; '), query_timeout: connectTimeoutMs } as pg.QueryConfig)
}

/** Removes the application name from the address, because the driver prefers it to the name that we pass. */
function withoutName(connection: Connection): Connection {
  if (!('connectionString' in connection) || !URL.canParse(connection.connectionString)) return connection
  const address = new URL(connection.connectionString)
  if (!address.searchParams.has('application_name')) return connection
  address.searchParams.delete('application_name')
  return { connectionString: address.href }
}

/**
 * Opens the database lazily: the first statement makes the first connection.
 *
 * @param options.connection where it is
 * @param options.poolSize connections that short statements share, at least 2; half of them serve the busiest statements
 * @param options.onLost called when an idle connection breaks (the pool replaces it), but not while the database is being closed
 */
export function openDatabase(options: {
  connection: Connection
  poolSize: number
  onLost?: (error: Error) => void
}): Database {
  const client = {
    ...withoutName(options.connection),
    types,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  }
  let closing = false
  const { listen, lost, heardWithin, foundSilent, maySpeak } = createHearing()
  const pools: pg.Pool[] = []
  const makePool = ({ session, ...settings }: pg.PoolConfig & { session: Record<string, string> }): pg.Pool => {
    const onConnect = (fresh: pg.ClientBase) => beginSession(fresh, session)
    const pool = new pg.Pool({ ...client, idleTimeoutMillis: 60_000, ...settings, onConnect } as pg.PoolConfig)
    pool.on('error', error => {
      if (!closing) options.onLost?.(error)
    })
    // A connection may break at any moment, also between statements, and then emits an event that needs a listener. The next
    // statement fails by itself.
    pool.on('connect', connected => {
      connected.on('error', lost)
      listen(connected)()
    })
    pools.push(pool)
    return pool
  }
  const makeUsual = (connections: number, session: Record<string, string> = {}): pg.Pool =>
    makePool({
      max: connections,
      query_timeout: silenceMs,
      session: { ...session, ...limitedTo(statementTimeoutMs, lockTimeoutMs) },
    })
  const makeAside = ({ connections, statementMs, lockMs, waitMs }: (typeof asideLimits)[AsideKind]): pg.Pool =>
    makePool({
      max: connections,
      query_timeout: statementMs + 500,
      connectionTimeoutMillis: waitMs,
      session: { ...limitedTo(statementMs, lockMs), ...endedWithReader },
    })
  const busiest = makeUsual(Math.floor(options.poolSize / 2), plannedOnce)
  const usual = makeUsual(Math.ceil(options.poolSize / 2))
  const asides = { short: makeAside(asideLimits.short), long: makeAside(asideLimits.long) }
  const longReads = makePool({
    max: maxLongReads,
    idleTimeoutMillis: 10_000,
    stream: lendingSocket,
    session: { lock_timeout: String(lockTimeoutMs) },
  })
  const haveGrown = createGrownTables(async tables => (await usual.query(findGrown, [tables])).rows)

  const takeClient = async (pool: pg.Pool): Promise<pg.PoolClient> => {
    for (;;) {
      const client = await pool.connect()
      if (maySpeak(client)) return client
      client.release(true)
    }
  }

  const withClient = async <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await takeClient(pool).catch(mapError)
    const heard = listen(client)
    try {
      const result = await work(client)
      heard()
      client.release()
      return result
    } catch (error) {
      if (isSilence(error)) foundSilent()
      const isGone = isLost(error)
      if (isGone) lost()
      client.release(isGone)
      return mapError(error)
    }
  }

  const connect = async (): Promise<pg.Client> => {
    const own = new pg.Client(client)
    own.on('error', () => {})
    await own.connect().catch(mapError)
    await beginSession(own, {}).catch(async error => {
      await own.end().catch(() => {})
      mapError(error)
    })
    return own
  }

  /** Runs work without a time limit, and ends it when its connection has fallen silent. */
  const watched = async <T, Client extends pg.ClientBase>(
    own: Client,
    work: (client: Client) => Promise<T>,
  ): Promise<T> => {
    const unwatch = endWhenSilent(own, async () => void (await connect()).end().catch(() => {}))
    try {
      return await work(own).catch(mapError)
    } finally {
      unwatch()
    }
  }

  const outsideOfPools: Omit<Database, keyof Queryable | 'transaction'> = {
    async dedicated(work, left) {
      const own = await connect()
      try {
        return await watched(own, client => (left ? untilLeft(client, left, work) : work(client)))
      } finally {
        await own.end().catch(() => {})
      }
    },
    async longRead(work) {
      const client = await takeClient(longReads).catch(mapError)
      const heard = listen(client)
      try {
        const result = await watched(client, async own => {
          // A kept connection may have fallen silent meanwhile; it gets as long as opening a new one may take.
          await own.query({ text: 'select 1', query_timeout: connectTimeoutMs } as pg.QueryConfig)
          return work(own)
        })
        heard()
        client.release()
        return result
      } catch (error) {
        if (error instanceof DomainError && isSilence(error.cause)) foundSilent()
        client.release(true)
        throw error
      }
    },

    aside(left, kind) {
      const run = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
        withClient(asides[kind], client => untilLeft(client, left, work))
      return {
        query: (statement, values) => run(client => rows(client, statement, values)),
        tuples: (statement, values) => run(client => tuples(client, statement, values)),
        execute: (statement, values) => run(async client => (await send(client, statement, values)).rowCount ?? 0),
      }
    },

    apart(connections) {
      const own = makeUsual(connections)
      return databaseOf(() => own, own)
    },
    connect,
    pool: () => ({
      total: sum(pools.map(({ totalCount }) => totalCount)),
      idle: sum(pools.map(({ idleCount }) => idleCount)),
      waiting: sum(pools.map(({ waitingCount }) => waitingCount)),
    }),
    maxConnections: () => sum(pools.map(pool => pool.options.max)),
    isHeard: () => heardWithin(heardLatelyMs),
    async close() {
      closing = true
      await Promise.all(pools.map(pool => pool.end()))
    },
  }

  const databaseOf = (poolFor: (statement: Statement | string) => pg.Pool, own: pg.Pool): Database => ({
    ...outsideOfPools,
    query: (statement, values) =>
      tryAgain(() => withClient(poolFor(statement), client => rows(client, statement, values))),
    tuples: (statement, values) =>
      tryAgain(() => withClient(poolFor(statement), client => tuples(client, statement, values))),
    execute: (statement, values) =>
      tryAgain(() =>
        withClient(poolFor(statement), async client => (await send(client, statement, values)).rowCount ?? 0),
      ),
    transaction: work => tryAgain(() => withClient(own, client => inTransaction(client, work))),
  })
  const isPlannedOnce = (statement: Statement | string): boolean =>
    typeof statement !== 'string' && statement.plannedOnce !== undefined && haveGrown(statement.plannedOnce)
  return databaseOf(statement => (isPlannedOnce(statement) ? busiest : usual), usual)
}

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0)

async function inTransaction<T>(client: pg.PoolClient, work: (transaction: Queryable) => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work(queryable(client))
    await client.query('commit')
    return result
  } catch (error) {
    // After a lost connection there is nothing to roll back; report the first error.
    if (!isLost(error)) await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Ends the statement of a reader that has left. The server stops it, and the connection is not used again. */
async function untilLeft<T, Client extends pg.ClientBase>(
  client: Client,
  left: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const gone = new DomainError('unavailable', 'The reader has left')
  if (left.aborted) throw gone
  // Closes the socket at once when a statement is running.
  const leave = () => void (client as unknown as pg.Client).end().catch(() => {})
  left.addEventListener('abort', leave)
  try {
    return await work(client)
  } catch (error) {
    throw left.aborted ? gone : error
  } finally {
    left.removeEventListener('abort', leave)
  }
}

/** The query interface on a client that the caller owns. */
export function queryable(client: pg.ClientBase): Queryable {
  return {
    query: (statement, values) => rows(client, statement, values),
    tuples: (statement, values) => tuples(client, statement, values),
    execute: async (statement, values) => (await send(client, statement, values)).rowCount ?? 0,
  }
}

const send = (client: pg.ClientBase, statement: Statement | string, values: unknown[] = []) =>
  client.query(
    typeof statement === 'string'
      ? { text: statement, values }
      : { name: statement.name, text: statement.text, values },
  )

async function rows<Row extends object>(client: pg.ClientBase, statement: Statement | string, values?: unknown[]) {
  return takeRows(await send(client, statement, values)) as Row[]
}

async function tuples<Row extends unknown[]>(client: pg.ClientBase, { name, text }: Statement, values: unknown[]) {
  return takeRows(await client.query<Row>({ name, text, values, rowMode: 'array' }))
}

/**
 * Takes the rows out of the driver's result. The result object outlives its statement until the garbage collector runs, and would
 * keep all rows alive: that costs a busy process 5 % of its time.
 */
function takeRows<Row>(result: { rows: Row[] }): Row[] {
  const { rows } = result
  result.rows = []
  return rows
}

const maxTries = 3

async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      const lost = error instanceof DomainError && hasLostAgainstOthers(error.cause)
      if (!lost || tried === maxTries) throw error
    }
  }
}
