/**
 * The one interface over PostgreSQL, embedded or not. Rules elsewhere see rows and SQL; a lost connection or a deadlock becomes
 * `DomainError('unavailable')` (`errors.ts`), and the next call finds a new connection by itself.
 *
 * Statements and transactions that lose against others (deadlocks, serialisation failures) are tried three times.
 */
import pg from 'pg'
import { DomainError } from '../errors.ts'
import { lendingSocket } from './copy-out.ts'
import { hasLostAgainstOthers, isLost, mapError } from './errors.ts'
import { createGrownTables, findGrown } from './grown-tables.ts'
import { parseInstant } from './instants.ts'
import { createHearing, endWhenSilent, isSilence } from './silence.ts'

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
   * For reads that may take long, and for which nothing else is to wait: on a few connections of their own, each statement for 30
   * seconds at most.
   *
   * @param left when it aborts, the statement under way ends, with its connection
   */
  aside(left: AbortSignal): Queryable
  /** Of a database that was lent for one long transaction, the connection in it: `longTransaction` then joins that one. */
  joined?: pg.Client
  /** A new, connected client of the caller's own, for one that stays open (notifications). */
  connect(): Promise<pg.Client>
  pool(): { total: number; idle: number; waiting: number }
  /** Whether a statement has succeeded within the last second, and none was lost since. */
  isHeard(): boolean
  close(): Promise<void>
}

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
const asideConnections = 3
const asideTimeoutMs = 30_000
/** Others are before it for so long at most. */
const asideWaitMs = 10_000
/** More than any limit of reads at once lets through. */
const mostLongReads = 16
/** The server ends a statement in time by itself; one that is not even told of that has fallen silent. */
const silenceMs = statementTimeoutMs + 500

const session = '-c timezone=UTC -c jit=off -c idle_in_transaction_session_timeout=60000'
// Plans are made for the values and sizes of the moment: one made on an empty table stays bad until `analyze`.
const plannedAnew = `${session} -c plan_cache_mode=force_custom_plan`
const plannedOnce =
  `${session} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off ` +
  '-c enable_mergejoin=off -c enable_sort=off -c jit=off'

/**
 * To the driver what an address says is worth more than what it is told besides: options of whoever runs us come before ours
 * instead, so that both hold, and ours where they differ.
 */
function withoutOptions(connection: Connection): { connection: Connection; ownOptions: string } {
  if (!('connectionString' in connection) || !URL.canParse(connection.connectionString))
    return { connection, ownOptions: '' }
  const address = new URL(connection.connectionString)
  const ownOptions = address.searchParams.get('options')
  const isNamed = address.searchParams.has('application_name')
  if (ownOptions === null && !isNamed) return { connection, ownOptions: '' }
  for (const name of ['options', 'application_name']) address.searchParams.delete(name)
  return { connection: { connectionString: address.href }, ownOptions: ownOptions ?? '' }
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
  const { connection, ownOptions } = withoutOptions(options.connection)
  const client = {
    ...connection,
    types,
    application_name: 'perkline',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    options: `${ownOptions} ${plannedAnew}`,
  }
  let closing = false
  const { listen, lost, heardWithin, foundSilent, maySpeak } = createHearing()
  const limited = { query_timeout: silenceMs, statement_timeout: statementTimeoutMs }
  const makePool = (settings: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ ...client, idleTimeoutMillis: 60_000, ...settings })
    pool.on('error', error => {
      if (!closing) options.onLost?.(error)
    })
    // A connection may break at any moment, also between two statements, and says so by an event that must find a listener; whichever
    // statement is next fails by itself.
    pool.on('connect', connected => {
      connected.on('error', lost)
      listen(connected)()
    })
    return pool
  }
  const busiest = makePool({
    ...limited,
    max: Math.floor(options.poolSize / 2),
    options: `${ownOptions} ${plannedOnce}`,
  })
  const usual = makePool({ ...limited, max: Math.ceil(options.poolSize / 2) })
  const pools = [busiest, usual]
  const asides = makePool({
    max: asideConnections,
    statement_timeout: asideTimeoutMs,
    query_timeout: asideTimeoutMs + 500,
    connectionTimeoutMillis: asideWaitMs,
    // The server ends the statement of a connection that is gone, and gives each no more than one processor.
    options: `${ownOptions} ${plannedAnew} -c client_connection_check_interval=1000 -c max_parallel_workers_per_gather=0 -c jit=off`,
  })
  const longReads = makePool({ max: mostLongReads, idleTimeoutMillis: 10_000, stream: lendingSocket })
  const haveGrown = createGrownTables(async tables => (await usual.query(findGrown, [tables])).rows)
  const poolFor = (statement: Statement | string): pg.Pool =>
    typeof statement !== 'string' && statement.plannedOnce && haveGrown(statement.plannedOnce) ? busiest : usual

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

  return {
    query: (statement, values) =>
      tryAgain(() => withClient(poolFor(statement), client => rows(client, statement, values))),
    tuples: (statement, values) =>
      tryAgain(() => withClient(poolFor(statement), client => tuples(client, statement, values))),
    execute: (statement, values) =>
      tryAgain(() =>
        withClient(poolFor(statement), async client => (await send(client, statement, values)).rowCount ?? 0),
      ),
    transaction: work => tryAgain(() => withClient(usual, client => inTransaction(client, work))),

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

    aside(left) {
      const run = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
        withClient(asides, client => untilLeft(client, left, work))
      return {
        query: (statement, values) => run(client => rows(client, statement, values)),
        tuples: (statement, values) => run(client => tuples(client, statement, values)),
        execute: (statement, values) => run(async client => (await send(client, statement, values)).rowCount ?? 0),
      }
    },

    connect,
    pool: () => ({
      total: sum(pools.map(({ totalCount }) => totalCount)),
      idle: sum(pools.map(({ idleCount }) => idleCount)),
      waiting: sum(pools.map(({ waitingCount }) => waitingCount)),
    }),
    isHeard: () => heardWithin(heardLatelyMs),
    async close() {
      closing = true
      await Promise.all([...pools, asides, longReads].map(pool => pool.end()))
    },
  }
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
