/**
 * The one interface over PostgreSQL, embedded or not. Rules elsewhere see rows and SQL; a lost connection or a deadlock becomes
 * `DomainError('unavailable')` (`errors.ts`), and the next call finds a new connection by itself.
 *
 * Statements and transactions that lose against others (deadlocks, serialisation failures) are tried three times.
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
 * A statement with a lasting name is parsed once for each connection.
 *
 * `plannedOnce` is for the busiest ones, of which the planning would be half the work: the tables that they read. From the time on
 * when all of these are known to have grown, the statement's plan is kept, whatever their sizes become; so the statement must leave
 * little choice. Rows are found by one index, each within `lateral (... offset 0)` or by `= any`; what must hold besides, and has an
 * index too, is asked in a way that none serves (`is not distinct from $1`, `|| ''`).
 */
export type Statement = { name: string; text: string; plannedOnce?: readonly string[] }

export type Queryable = {
  /** Runs a statement and gives its rows; unnamed text is for SQL that runs seldom. */
  query<Row extends object>(statement: Statement | string, values?: unknown[]): Promise<Row[]>
  /** As `query`, each row being the list of its values: for the busiest statements, where names cost as much as values. */
  tuples<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** Runs a statement and gives the number of rows that it touched. */
  execute(statement: Statement | string, values?: unknown[]): Promise<number>
}

export type Database = Queryable & {
  /** Runs `work` in one transaction; it may run again, up to three times. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>
  /**
   * Runs `work` on a connection of its own, outside the pool and without time limits: for long streams and locks.
   *
   * @param left when it aborts, the connection ends, and the statement under way with it
   */
  dedicated<T>(work: (client: pg.Client) => Promise<T>, left?: AbortSignal): Promise<T>
  /**
   * Runs `work` on a connection without time limits that is made for `copyAsJson`. It is kept for some seconds: making one, and what
   * its server process reads first, was half of the time to the first byte.
   */
  longRead<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /**
   * For reads for which nothing else is to wait: on a few connections of their own, one kind beside the other.
   *
   * @param left when it aborts, the statement under way ends, with its connection
   */
  aside(left: AbortSignal, kind: AsideKind): Queryable
  /** The same database by connections of its own, which nobody else takes; what is outside of the pool is shared. */
  apart(connections: number): Database
  /** Of a database that was lent for one long transaction, the connection in it: `longTransaction` then joins that one. */
  joined?: pg.Client
  /** A new, connected client of the caller's own, for one that stays open (notifications). */
  connect(): Promise<pg.Client>
  /** The connections of all pools as they are now. */
  pool(): { total: number; idle: number; waiting: number }
  /** How many connections there can be at once, but for those that `dedicated` and `connect` make. */
  mostConnections(): number
  /** Whether a statement has succeeded within the last second, and none was lost since. */
  isHeard(): boolean
  close(): Promise<void>
}

/** Reads by people, which are short; and reads that may take long. */
export type AsideKind = 'short' | 'long'

export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    // bigint: our ids and counts stay far below 2^53.
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number
    if (oid === pg.types.builtins.TIMESTAMPTZ && format !== 'binary') return parseInstant
    return pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

const connectTimeoutMs = 3_000
const heardLatelyMs = 1_000
const statementTimeoutMs = 10_000
/** For so long a statement waits for what others hold. */
const lockTimeoutMs = 3_000
const asideLimits = {
  short: { connections: 4, statementMs: 3_000, lockMs: 2_000, waitMs: 3_000 },
  // Others are before it for so long at most.
  long: { connections: 3, statementMs: 30_000, lockMs: lockTimeoutMs, waitMs: 10_000 },
} as const
/** More than any limit of reads at once lets through. */
const mostLongReads = 8
/** The server ends a statement in time by itself; one that is not even told of that has fallen silent. */
const silenceMs = statementTimeoutMs + 500

/**
 * The settings of each session. They are set once the connection stands: poolers do not pass on what is asked for at its start, and
 * so ours hold where the address has options of its own.
 */
const usualSession = {
  timezone: 'UTC',
  jit: 'off',
  idle_in_transaction_session_timeout: '60000',
  // Plans are made for the values and sizes of the moment: one made on an empty table stays bad until `analyze`.
  plan_cache_mode: 'force_custom_plan',
}
const plannedOnce = {
  plan_cache_mode: 'force_generic_plan',
  ...Object.fromEntries(
    ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort'].map(way => [`enable_${way}`, 'off']),
  ),
}
/** The server ends the statement of a connection that is gone, and gives each no more than one processor. */
const endedWithReader = {
  client_connection_check_interval: '1000',
  max_parallel_workers_per_gather: '0',
}
const limitedTo = (statementMs: number, lockMs: number) => ({
  statement_timeout: String(statementMs),
  lock_timeout: String(lockMs),
})

async function beginSession(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  const text = Object.entries({ ...usualSession, ...settings }).map(([name, value]) => `set ${name} = '${value}'`)
  await client.query({ text: text.join('; '), query_timeout: connectTimeoutMs } as pg.QueryConfig)
}

/** To the driver a name in the address is worth more than the one that it is told besides. */
function withoutName(connection: Connection): Connection {
  if (!('connectionString' in connection) || !URL.canParse(connection.connectionString)) return connection
  const address = new URL(connection.connectionString)
  if (!address.searchParams.has('application_name')) return connection
  address.searchParams.delete('application_name')
  return { connectionString: address.href }
}

/**
 * Opens the database lazily: no connection is made before the first statement.
 *
 * @param options.connection where it is
 * @param options.poolSize connections that short statements share, at least 2; half of them is for the busiest ones
 * @param options.onLost told when an idle connection breaks (the pool replaces it); not any more once it is being closed
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
    // A connection may break at any moment, also between two statements, and says so by an event that must find a listener; whichever
    // statement is next fails by itself.
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
    max: mostLongReads,
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

  /** Runs what has no time limit, for as long as the connection is not a lost one. */
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
          // One that was kept may have fallen silent meanwhile; it gets as long as making a new one may take.
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
    mostConnections: () => sum(pools.map(pool => pool.options.max)),
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
    // After a lost connection there is nothing to roll back, and the first error is the one to tell.
    if (!isLost(error)) await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Ends the statement of a reader that has left: the server stops it, and the connection is not used again. */
async function untilLeft<T, Client extends pg.ClientBase>(
  client: Client,
  left: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const gone = new DomainError('unavailable', 'The reader has left')
  if (left.aborted) throw gone
  // With a statement under way this closes the socket at once.
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

/** The query interface over a client that the caller holds. */
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
 * Takes the rows out of the driver's result. Each result outlives its statement until old memory is collected, and all the rows of a
 * busy process would be moved to there with it: a twentieth of its work.
 */
function takeRows<Row>(result: { rows: Row[] }): Row[] {
  const { rows } = result
  result.rows = []
  return rows
}

const mostTries = 3

async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      const lost = error instanceof DomainError && hasLostAgainstOthers(error.cause)
      if (!lost || tried === mostTries) throw error
    }
  }
}
