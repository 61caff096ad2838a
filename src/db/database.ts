/**
 * The one interface to PostgreSQL, embedded or not. A lost connection or a deadlock becomes
 * `DomainError('unavailable')` (`errors.ts`), and the next call opens a new connection.
 *
 * After a deadlock or a serialisation failure, statements and transactions are repeated, up to three tries in all.
 */
import pg from 'pg'
import { DomainError } from '../errors.ts'
import { hasLostAgainstOthers, isLost, mapError, notReached } from './errors.ts'
import { createGrownTables, findGrown } from './grown-tables.ts'
import {
  beginSession,
  type Connection,
  clientSettings,
  connectTimeoutMs,
  endedWithReader,
  limitedTo,
  openClient,
  plannedOnce,
} from './session.ts'
import { createHearing, isSilence } from './silence.ts'
import { lendingSocket } from './streaming/copy-out.ts'
import { giveUp, watched } from './watching.ts'

/**
 * A named statement, which each connection parses only once.
 *
 * `plannedOnce` lists the tables that the statement reads. Once all of them are large (`grown-tables.ts`), a connection plans
 * the statement once and keeps the plan, even if the sizes of the tables change. Use it only for the busiest statements,
 * where planning is half the work. The plan must stay good, so write the statement in a way that leaves the planner
 * little choice: find the rows of each table by one index, within `lateral (... offset 0)` or by `= any`. Write further
 * conditions on indexed columns in a form that no index supports (`is not distinct from $1`, `|| ''`). With an empty
 * list the plan is kept from the first execution on; use it for a statement whose plan is also good while its tables are small.
 */
export type Statement = { name: string; text: string; plannedOnce?: readonly string[] }

export type Queryable = {
  /** Runs a statement and returns its rows. Use unnamed text for SQL that runs seldom. */
  query<Row extends object>(statement: Statement | string, values?: unknown[]): Promise<Row[]>
  /**
   * Like `query`, but each row is a list of values without column names. Use it for the busiest statements, where
   * reading the names takes as long as reading the values.
   */
  tuples<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** Runs a statement and returns the number of rows that it changed. */
  execute(statement: Statement | string, values?: unknown[]): Promise<number>
}

/** Reads on a few connections of their own. Each statement has a snapshot of its own, unless it runs within `snapshot`. */
export type Aside = Queryable & {
  /**
   * Runs `work` in one snapshot: all its statements see the same moment. They share one connection, so start each after
   * the one before has ended, and wait for nothing else meanwhile. There are few connections, so work that waits for a
   * second one could wait for ever.
   */
  snapshot<T>(work: (database: Queryable) => Promise<T>): Promise<T>
}

export type Database = Queryable & {
  /** Runs `work` in one transaction. After a deadlock or a serialisation failure it runs again, at most three times in all. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>
  /**
   * Runs `work` on a connection outside the pool and without time limits, for long streams and locks.
   *
   * @param signal an abort ends the connection and the statement that runs on it
   */
  dedicated<T>(work: (client: pg.Client) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs `work` on a connection without time limits, which `copyAsJson` can use. Each kind of long read has connections
   * of its own. A connection stays open for some seconds after its use, because opening one took half of the time to
   * the first byte.
   */
  longRead<T>(kind: LongReadKind, work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /**
   * A database for reads that must not delay other work. Each kind of these reads has a few connections of its own.
   *
   * @param signal an abort ends the connection and the statement that runs on it
   */
  aside(signal: AbortSignal, kind: AsideKind): Aside
  /**
   * Returns the same database with a new pool for statements and transactions. It shares all other connections with
   * this one.
   *
   * @param busiest the size of a second pool, which keeps the plans of the busiest statements
   *   (`Statement.plannedOnce`); 0: no such pool
   */
  apart(connections: number, busiest?: number): Database
  /**
   * The connection of a long transaction. It is set only inside one; a nested `longTransaction` then joins that
   * transaction.
   */
  joined?: pg.Client
  /** Opens a new connection that belongs to the caller and may stay open (notifications). */
  connect(): Promise<pg.Client>
  /** How many connections all pools have now, how many of them are idle, and how many callers wait for a connection. */
  pool(): { total: number; idle: number; waiting: number }
  /** How many connections the pools can open, without those of `dedicated` and `connect`. */
  maxConnections(): number
  /** Whether a statement has succeeded within the last second and no connection was lost since. */
  isHeard(): boolean
  close(): Promise<void>
}

/** `short`: quick reads by people. `long`: reads that may take long. */
export type AsideKind = 'short' | 'long'
/** `lists`: the long lists that banks poll. `files`: files that are sent while they are read. */
export type LongReadKind = 'lists' | 'files'

const heardLatelyMs = 1_000
const statementTimeoutMs = 10_000
/** How long a statement waits for the locks of other transactions. */
const lockTimeoutMs = 3_000
const asideLimits = {
  short: { connections: 4, statementMs: 3_000, lockMs: 2_000, waitMs: 3_000 },
  // `waitMs` also limits how long a read waits for one of these few connections.
  long: { connections: 3, statementMs: 30_000, lockMs: lockTimeoutMs, waitMs: 10_000 },
} as const
/**
 * The number of connections for each kind of long read. It also limits the concurrent reads, so no read waits for a
 * connection.
 */
export const longReadConnections: Record<LongReadKind, number> = { lists: 4, files: 4 }
/**
 * How long to wait for the server's answer to a statement. This is longer than the server's own limit for statements.
 * If not even the server's error arrives in this time, the connection is silent.
 */
const silenceMs = statementTimeoutMs + 500

type Options = {
  connection: Connection
  poolSize: number
  onLost?: (error: Error) => void
}
type Hearing = ReturnType<typeof createHearing>
type Pools = ReturnType<typeof createPools>

/** Makes pools, and keeps a list of them. */
function createPools({ connection, onLost }: Omit<Options, 'poolSize'>, { listen, lost }: Hearing) {
  const client = clientSettings(connection)
  let closing = false
  const pools: pg.Pool[] = []
  const make = ({ session, ...settings }: pg.PoolConfig & { session: Record<string, string> }): pg.Pool => {
    const onConnect = (fresh: pg.ClientBase) => beginSession(fresh, session)
    const pool = new pg.Pool({ ...client, idleTimeoutMillis: 60_000, ...settings, onConnect } as pg.PoolConfig)
    pool.on('error', error => {
      if (!closing) onLost?.(error)
    })
    // A connection can break between two statements. It then emits `error`, and without a listener this event would end
    // the process. The listener only notes the loss: the next statement on the connection fails by itself.
    pool.on('connect', connected => {
      connected.on('error', lost)
      listen(connected)()
    })
    pools.push(pool)
    return pool
  }
  return {
    make,
    count: () => ({
      total: sum(pools.map(({ totalCount }) => totalCount)),
      idle: sum(pools.map(({ idleCount }) => idleCount)),
    }),
    maxConnections: () => sum(pools.map(pool => pool.options.max)),
    async close() {
      closing = true
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
}

/** The pool for short statements and transactions. */
const makeUsual = ({ make }: Pools, connections: number, session: Record<string, string> = {}): pg.Pool =>
  make({
    max: connections,
    query_timeout: silenceMs,
    session: { ...session, ...limitedTo(statementTimeoutMs, lockTimeoutMs) },
  })

const makeAside = ({ make }: Pools, kind: AsideKind): pg.Pool => {
  const { connections, statementMs, lockMs, waitMs } = asideLimits[kind]
  return make({
    max: connections,
    query_timeout: statementMs + 500,
    connectionTimeoutMillis: waitMs,
    session: { ...limitedTo(statementMs, lockMs), ...endedWithReader },
  })
}

const makeLongReads = ({ make }: Pools, kind: LongReadKind): pg.Pool =>
  make({
    max: longReadConnections[kind],
    idleTimeoutMillis: 10_000,
    stream: lendingSocket,
    session: { lock_timeout: String(lockTimeoutMs) },
  })

type Clients = ReturnType<typeof createClients>

/** Lends the connections of pools, and closes those that are lost or silent. */
function createClients(connection: Connection, { listen, lost, foundSilent, maySpeak }: Hearing) {
  let waiting = 0
  const take = async (pool: pg.Pool): Promise<pg.PoolClient> => {
    waiting++
    try {
      for (;;) {
        const client = await pool.connect()
        if (maySpeak(client)) return client
        client.release(true)
      }
    } finally {
      waiting--
    }
  }
  return {
    take,
    waiting: () => waiting,
    async run<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
      const client = await take(pool).catch(notReached)
      const heard = listen(client)
      try {
        const result = await work(client)
        heard()
        client.release()
        return result
      } catch (error) {
        if (isSilence(error)) {
          foundSilent()
          giveUp(connection, client)
        }
        const isGone = isLost(error)
        if (isGone) lost()
        client.release(isGone)
        return mapError(error)
      }
    },
  }
}

/** Makes the method `longRead` of a `Database`. */
function createLongRead(
  connection: Connection,
  longReads: Record<LongReadKind, pg.Pool>,
  clients: Clients,
  hearing: Hearing,
): Database['longRead'] {
  return async (kind, work) => {
    const client = await clients.take(longReads[kind]).catch(notReached)
    const heard = hearing.listen(client)
    try {
      const result = await watched(connection, client, async own => {
        // A kept connection may have become silent meanwhile, so it is tested. The test may take as long as opening a new one.
        await own.query({ text: 'select 1', query_timeout: connectTimeoutMs } as pg.QueryConfig)
        return work(own)
      })
      heard()
      client.release()
      return result
    } catch (error) {
      if (error instanceof DomainError && isSilence(error.cause)) hearing.foundSilent()
      client.release(true)
      throw error
    }
  }
}

/** Makes the method `dedicated` of a `Database`. */
const createDedicated =
  (connection: Connection): Database['dedicated'] =>
  async (work, signal) => {
    const own = await openClient(connection)
    return watched(connection, own, async client => {
      try {
        return await (signal ? untilLeft(client, signal, work) : work(client))
      } finally {
        // `end` runs inside `watched`, because on a lost connection it would wait for the server for ever.
        await client.end().catch(() => {})
      }
    })
  }

/** Makes the method `aside` of a `Database`. */
function createAside(asides: Record<AsideKind, pg.Pool>, clients: Clients): Database['aside'] {
  return (signal, kind) => {
    const run = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
      clients.run(asides[kind], client => untilLeft(client, signal, work))
    return {
      query: (statement, values) => run(client => rows(client, statement, values)),
      tuples: (statement, values) => run(client => tuples(client, statement, values)),
      execute: (statement, values) => run(async client => (await send(client, statement, values)).rowCount ?? 0),
      snapshot: work => run(client => inTransaction(client, work, beginSnapshot)),
    }
  }
}

/**
 * Runs statements and transactions on pools. They are tried again after a deadlock or a serialisation failure.
 *
 * @param poolFor the pool of a statement
 * @param own the pool of transactions
 */
const createShared = (
  clients: Clients,
  poolFor: (statement: Statement | string) => pg.Pool,
  own: pg.Pool,
): Queryable & Pick<Database, 'transaction'> => ({
  query: (statement, values) =>
    tryAgain(() => clients.run(poolFor(statement), client => rows(client, statement, values))),
  tuples: (statement, values) =>
    tryAgain(() => clients.run(poolFor(statement), client => tuples(client, statement, values))),
  execute: (statement, values) =>
    tryAgain(() =>
      clients.run(poolFor(statement), async client => (await send(client, statement, values)).rowCount ?? 0),
    ),
  transaction: work => tryAgain(() => clients.run(own, client => inTransaction(client, work))),
})

/**
 * Opens the database lazily: the first statement makes the first connection.
 *
 * @param options.connection the address of the server, and the login
 * @param options.poolSize connections that short statements share, at least 2; half of them serve the busiest statements
 * @param options.onLost called when an idle connection breaks (the pool replaces it), but not while the database is being closed
 */
export function openDatabase(options: Options): Database {
  const { connection, poolSize } = options
  const hearing = createHearing()
  const pools = createPools(options, hearing)
  const clients = createClients(connection, hearing)
  const busiest = makeUsual(pools, Math.floor(poolSize / 2), plannedOnce)
  const usual = makeUsual(pools, Math.ceil(poolSize / 2))
  const asides = { short: makeAside(pools, 'short'), long: makeAside(pools, 'long') }
  const longReads = { lists: makeLongReads(pools, 'lists'), files: makeLongReads(pools, 'files') }
  const haveGrown = createGrownTables(async tables => (await usual.query(findGrown, [tables])).rows)
  const isPlannedOnce = (statement: Statement | string): boolean =>
    typeof statement !== 'string' && statement.plannedOnce !== undefined && haveGrown(statement.plannedOnce)

  const outsideOfPools: Omit<Database, keyof Queryable | 'transaction'> = {
    dedicated: createDedicated(connection),
    longRead: createLongRead(connection, longReads, clients, hearing),
    aside: createAside(asides, clients),
    apart(connections, busiest = 0) {
      const own = makeUsual(pools, connections)
      const keeping = busiest > 0 ? makeUsual(pools, busiest, plannedOnce) : own
      return {
        ...outsideOfPools,
        ...createShared(clients, statement => (isPlannedOnce(statement) ? keeping : own), own),
      }
    },
    connect: () => openClient(connection),
    pool: () => ({ ...pools.count(), waiting: clients.waiting() }),
    maxConnections: pools.maxConnections,
    isHeard: () => hearing.heardWithin(heardLatelyMs),
    close: pools.close,
  }
  const shared = createShared(clients, statement => (isPlannedOnce(statement) ? busiest : usual), usual)
  return { ...outsideOfPools, ...shared }
}

const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0)

/** Begins a transaction whose statements all see the data as they are when the first of them begins. */
export const beginSnapshot = 'begin isolation level repeatable read read only'

async function inTransaction<T>(
  client: pg.PoolClient,
  work: (transaction: Queryable) => Promise<T>,
  begin = 'begin',
): Promise<T> {
  await client.query(begin)
  try {
    const result = await work(queryable(client))
    await client.query('commit')
    return result
  } catch (error) {
    // After a lost connection there is nothing to roll back. If it is lost only now, report that, so that nobody gets the
    // connection again.
    if (!isLost(error)) await client.query('rollback')
    throw error
  }
}

/**
 * Runs `work` on a database connection. When `signal` aborts, because the reader has left, the connection is closed,
 * which stops its statement. The caller must not use the connection again.
 */
async function untilLeft<T, Client extends pg.ClientBase>(
  client: Client,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const gone = new DomainError('unavailable', 'The reader has left')
  if (signal.aborted) throw gone
  // While a statement runs, `end` closes the socket at once, so that the server stops the statement.
  const leave = () => void (client as unknown as pg.Client).end().catch(() => {})
  signal.addEventListener('abort', leave)
  try {
    return await work(client)
  } catch (error) {
    throw signal.aborted ? gone : error
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Returns a database whose statements run in the given transaction. Nested transactions join it. */
export const within = (database: Database, transaction: Queryable): Database => ({
  ...database,
  ...transaction,
  transaction: nested => nested(transaction),
})

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
 * Takes the rows out of the driver's result. The result object stays in memory until the garbage collector runs, and
 * would keep all rows with it. That would cost a busy process 5 % of its time.
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
