/** How connections to PostgreSQL are made, and the settings of their sessions. */
import pg from 'pg'
import { applicationName } from './application-name.ts'
import { mapError, notReached } from './errors.ts'
import { parseInstant } from './instants.ts'

export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    // A bigint can be read as a number, because our ids and counts stay far below 2^53.
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number
    if (oid === pg.types.builtins.TIMESTAMPTZ && format !== 'binary') return parseInstant
    return pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

/**
 * Checks the files that an address can name: sslrootcert, sslcert and sslkey. The driver reads them when it makes a
 * client.
 * @returns the system's message about a file that can't be read; null when all files can be read
 */
export function findUnreadableFile(connectionString: string): string | null {
  try {
    new pg.Client(addressFor({ connectionString }))
    return null
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    return message
  }
}

/** How long a connection may take to open. */
export const connectTimeoutMs = 3_000

/**
 * The settings of each session. We set them after the connection is made, because poolers drop startup options. Set in
 * this way, they also override options in the address and defaults of the role, the database or the server.
 */
const sessionSettings = {
  timezone: 'UTC',
  // These settings decide how PostgreSQL writes values as text. Some statements store such texts, so all sessions must
  // write the same.
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  extra_float_digits: '1',
  intervalstyle: 'postgres',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  jit: 'off',
  // Zero means no limit: for long work, and for the connection for notifications, which is mostly idle. The pools set
  // limits of their own.
  idle_in_transaction_session_timeout: '60000',
  idle_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
  // Plan each statement for its values and the present table sizes. A plan made on an empty table stays bad until `analyze`.
  plan_cache_mode: 'force_custom_plan',
}
/**
 * Session settings for the busiest statements: each is planned once per connection, and prefers indexes and nested
 * loops.
 */
export const plannedOnce = {
  plan_cache_mode: 'force_generic_plan',
  ...Object.fromEntries(
    ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort'].map(way => [`enable_${way}`, 'off']),
  ),
}
/**
 * Session settings for a read whose reader may leave: the server stops the statement when its connection is gone, and
 * uses at most one processor for it.
 */
export const endedWithReader = {
  client_connection_check_interval: '1000',
  max_parallel_workers_per_gather: '0',
}
/** Time limits of a session, in milliseconds; they are set as text. */
export const limitedTo = (statementMs: number, lockMs: number) => ({
  statement_timeout: String(statementMs),
  lock_timeout: String(lockMs),
})

/** Switches off the limit `transaction_timeout`. Servers before version 17 do not know this setting, and `set` would fail there. */
const noTransactionLimit = `select set_config('transaction_timeout', '0', false)
  where current_setting('transaction_timeout', true) is not null`

/** The server process that runs a session, and when it began: a later process may get the same `pid`. */
type ServerSession = { pid: number; startedAt: string }

const serverSessions = new WeakMap<pg.ClientBase, ServerSession>()
const findServerSession = `select pid, backend_start::text as "startedAt" from pg_stat_activity where pid = pg_backend_pid()`

/** The session of a connection on the server. The driver's own `processID` may be an invented number of a pooler. */
export const serverSessionOf = (client: pg.ClientBase): ServerSession | undefined => serverSessions.get(client)

/** Sends a new connection the settings of every session (`sessionSettings`), and the given ones, which have precedence. */
export async function beginSession(client: pg.ClientBase, settings: Record<string, string>): Promise<void> {
  const texts = Object.entries({ ...sessionSettings, ...settings }).map(([name, value]) => `set ${name} = '${value}'`)
  const text = [...texts, noTransactionLimit, findServerSession].join('; ')
  // The driver returns a list of results, one for each statement.
  const results: unknown = await client.query({ text, query_timeout: connectTimeoutMs } as pg.QueryConfig)
  const session = (results as pg.QueryResult<ServerSession>[]).at(-1)?.rows[0]
  if (session) serverSessions.set(client, session)
}

/** Modes that the driver treats as verify-full, with a long warning about its next version. */
const verifiedModes = ['prefer', 'require', 'verify-ca']

/**
 * Removes the application name from the address, because the driver prefers it to the name that we pass. Writes the modes
 * that mean verify-full as verify-full, so that their meaning stays and the driver does not warn.
 */
function addressFor(connection: Connection): Connection {
  if (!('connectionString' in connection) || !URL.canParse(connection.connectionString)) return connection
  const address = new URL(connection.connectionString)
  const { searchParams } = address
  const meansFull =
    verifiedModes.includes(searchParams.getAll('sslmode').at(-1) ?? '') &&
    searchParams.getAll('uselibpqcompat').at(-1) !== 'true'
  if (!searchParams.has('application_name') && !meansFull) return connection
  searchParams.delete('application_name')
  if (meansFull) searchParams.set('sslmode', 'verify-full')
  return { connectionString: address.href }
}

/** The driver's settings for any connection to the database. */
export const clientSettings = (connection: Connection) => ({
  ...addressFor(connection),
  types,
  application_name: applicationName,
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
})

/**
 * Opens a connection outside the pools.
 * @throws DomainError 'unavailable' when the database cannot be reached
 */
export async function openClient(connection: Connection): Promise<pg.Client> {
  const own = new pg.Client(clientSettings(connection))
  own.on('error', () => {})
  await own.connect().catch(notReached)
  await beginSession(own, {}).catch(async error => {
    await own.end().catch(() => {})
    mapError(error)
  })
  return own
}
