/** Opens the database that the settings name, checks its server, and brings its schema to this version. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { migrate, pendingMigrations, SchemaError } from '../db/migrate.ts'
import { countConnections, hasOwnSessions, mayMakeTemporaryTables } from '../db/server-check.ts'
import { type Connection, findUnreadableFile } from '../db/session.ts'
import type { Logger } from '../log.ts'
import { isStarting } from './start-error.ts'

const startAgainMs = 1_000
/** How long a start waits for the schema before it logs that it waits. */
const silentMs = 5_000

/** Opens the database of the settings: a server, or the embedded one, which is started and kept running. */
export async function openConfiguredDatabase(
  config: Config,
  logger: Logger,
): Promise<{ database: Database; close(): Promise<void> }> {
  const open = (connection: Connection) =>
    openDatabase({
      connection,
      poolSize: config.databasePool,
      onLost: error => logger.warn({ err: error }, 'a database connection was lost'),
    })
  if (config.databaseUrl !== null) {
    const unreadable = findUnreadableFile(config.databaseUrl)
    if (unreadable !== null)
      throw new ConfigError([`DATABASE_URL names a file of certificates or a key that can't be read (${unreadable})`])
    const database = open({ connectionString: config.databaseUrl })
    return { database, close: () => database.close() }
  }
  const server = await keepEmbeddedDatabase(config.dataDir, logger)
  const database = open(server.connection)
  return {
    database,
    async close() {
      await database.close()
      await server.stop()
    },
  }
}

/**
 * Starts the embedded server, and starts it again whenever it ends. If the server can't start, for example because the
 * disk is full, this function tries again until it can. Meanwhile callers get 503, and nobody has to restart the
 * platform.
 */
async function keepEmbeddedDatabase(dataDir: string, logger: Logger) {
  const { startEmbeddedDatabase } = await import('../db/embedded/server.ts')
  let server = await startEmbeddedDatabase({ dataDir })
  const { connection } = server
  const socketFolder = connection.host
  let isStopping = false
  let starting = Promise.resolve()

  const startAgain = async (reason: string): Promise<void> => {
    logger.error({ reason }, 'the embedded database has ended and is being restarted')
    for (let tried = 1; !isStopping; tried++) {
      const again = await startEmbeddedDatabase({ dataDir, socketFolder }).catch((error: unknown) => {
        // Logged only once: the error repeats every second, and the log may be on the same full disk.
        if (tried === 1)
          logger.error({ err: error }, 'the embedded database does not start; trying again until it does')
        return null
      })
      if (again) {
        server = again
        logger.info({ tried }, 'the embedded database is running again')
        return watch()
      }
      await wait(startAgainMs)
    }
  }
  const watch = () =>
    void server.ended.then(reason => {
      starting = startAgain(reason)
    })
  watch()
  return {
    connection,
    async stop() {
      isStopping = true
      await starting
      await server.stop()
    },
  }
}

/** How long a start waits for a database server that is itself starting, for example after a crash. */
const recoveryMs = 60_000

/**
 * Waits while the database server reports that it is starting or recovering.
 *
 * @throws the server's last error after a minute
 */
export async function waitForRecovery(database: Database, logger: Logger): Promise<void> {
  const giveUpAtMs = performance.now() + recoveryMs
  for (let tried = 1; ; tried++) {
    try {
      await database.execute('select')
      return
    } catch (error) {
      if (!isStarting(error) || performance.now() > giveUpAtMs) throw error
      if (tried === 1)
        logger.warn('the database server is still starting or recovering; this start waits up to a minute')
      await wait(startAgainMs)
    }
  }
}

/**
 * Checks that each connection has its own database session.
 * @throws ConfigError when a pooler shares sessions between clients
 */
export async function requireOwnSessions(database: Database): Promise<void> {
  if (await hasOwnSessions(database)) return
  throw new ConfigError([
    'DATABASE_URL leads through a pooler that gives each transaction another session (as PgBouncer does with ' +
      'pool_mode=transaction): settings and prepared statements of a session would not hold. Use pool_mode=session, or the ' +
      'address of the server itself',
  ])
}

/** Warns when the server accepts fewer connections than this process may open. */
export async function warnOfTooFewConnections(database: Database, config: Config, logger: Logger): Promise<void> {
  const { needed, allowed } = await countConnections(database)
  if (needed > allowed)
    logger.warn(
      `DATABASE_POOL=${config.databasePool} lets this process open up to ${needed} connections, but the database server takes ` +
        `${allowed} (max_connections less what it reserves): set DATABASE_POOL lower, or max_connections higher`,
    )
}

/** Warns when the user of the database may not make temporary tables. Uploads, imports and the audit need them. */
export async function warnOfNoTemporaryTables(database: Database, logger: Logger): Promise<void> {
  if (!(await mayMakeTemporaryTables(database)))
    logger.warn(
      'The user of DATABASE_URL may not make temporary tables, so uploads, imports and the audit fail: ' +
        '`grant temporary on database ... to ...` allows it',
    )
}

const schemaWait =
  'this start is still bringing the database to this version: that takes long on large tables, or it waits for another process ' +
  'that does it, or for a lock that somebody holds (the runbook shows how to find who)'

/** Migrates the database. @throws SchemaError when it needs a migration and must not be migrated at a start */
export async function bringToVersion(database: Database, mayMigrate: boolean, logger: Logger): Promise<void> {
  if (mayMigrate) {
    const waits = setTimeout(() => logger.warn(schemaWait), silentMs)
    const applied = await migrate(database).finally(() => clearTimeout(waits))
    if (applied.length > 0) logger.info({ migrations: applied }, 'database migrated to this version')
    return
  }
  const pending = await pendingMigrations(database)
  if (pending.length > 0)
    throw new SchemaError('The database is not at this version: run `perkline migrate`, or set MIGRATE_ON_START=1')
}
