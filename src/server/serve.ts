/** Runs the platform until it is told to stop (contract/contract/contract/operations.md, "Two commands"). */
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError, environment, readConfig, type Service, services, startedByNpm, withKeys } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { DomainError } from '../errors.ts'
import { recoverOutbox } from '../events/tick-store.ts'
import { createLogger, terminalStream } from '../log.ts'
import { settingsAdvice } from '../settings/advice.ts'
import { expectFree, listenAt } from './listening.ts'
import { giveBackMemory } from './memory.ts'
import { serveMetrics } from './metrics.ts'
import { whenParentEnds } from './parent.ts'
import { createPlatform, openConfiguredDatabase, requireOwnSessions } from './platform.ts'

/** Whoever still hangs then will not end by itself: requests have 30 s, then all else is closed. */
const endWithinMs = 45_000
/** What was logged last is read by then, or by nobody. */
const readWithinMs = 1_000
/** In live mode: how long a load balancer may take to see that this process is not ready any more. */
const noticeMs = 3_000

/**
 * @param only names of services with commas; undefined: all
 * @throws ConfigError, SchemaError, SealingError, or an Error when it can't listen
 */
export async function serve(only: string | undefined): Promise<void> {
  const env = environment()
  const config = withKeys(readConfig(env))
  const onTerminal = process.stdout.isTTY === true
  const logger = createLogger(config.logLevel, onTerminal ? await terminalStream() : undefined)
  for (const advice of settingsAdvice(config, env)) logger.warn(advice)
  // What nobody caught ends the process, but through the log: an error printed as it is might carry values of rows.
  process.on('uncaughtException', error => {
    logger.fatal({ err: error }, 'uncaught error')
    process.exit(1)
  })
  const platform = await createPlatform(config, logger, readServices(only)).catch(startError)
  const metricsServer = config.metrics && (await serveMetrics(platform.metrics, config.metrics))
  const signalled = untilStopped(startedByNpm(env), reason => {
    logger.info({ reason }, 'stopping')
    platform.drain()
  })
  try {
    if (config.sampleData) {
      await expectFree(config)
      if (config.admin) await expectFree(config.admin, 'ADMIN_PORT')
    }
    const samples = config.sampleData && (await (await import('../sandbox/samples.ts')).loadSamples(platform, logger))
    giveBackMemory()
    platform.startJobs()
    if (platform.adminApp && config.admin) await listenAt(platform.adminApp, config.admin, 'ADMIN_PORT')
    await listenAt(platform.app, { host: config.host, port: config.port })
    logger.info({ address: config.publicUrl, mode: config.mode, services: platform.deps.services }, 'ready')
    const { welcome } = await import('./welcome.ts')
    process.stdout.write(welcome(config, samples || null, onTerminal))
  } catch (error) {
    await platform.close()
    throw error
  }
  // Only now: samples that are half-way there would be loaded again by the next start.
  await signalled
  if (config.mode === 'live') await wait(noticeMs)
  metricsServer?.close()
  await platform.close()
  logger.info('stopped')
  // Lines that nobody reads would keep the process alive.
  setTimeout(() => process.exit(), readWithinMs).unref()
}

/** Brings the database to this version and ends (`perkline migrate`). @param json true: what was applied as one JSON value */
export async function migrateOnly(json: boolean): Promise<void> {
  const config = readConfig(environment())
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel))
  try {
    await requireOwnSessions(database).catch(startError)
    const applied = await migrate(database).catch(startError)
    await recoverOutbox(database)
    process.stdout.write(
      json
        ? `${JSON.stringify({ applied })}\n`
        : applied.length === 0
          ? 'The database is already at this version.\n'
          : `Applied ${applied.length} migration${applied.length === 1 ? '' : 's'}: ${applied.join(', ')}.\n`,
    )
  } finally {
    await close()
  }
}

function readServices(only: string | undefined): Service[] | null {
  if (only === undefined) return null
  const names = only.split(',').map(name => name.trim())
  const unknown = names.filter(name => !(services as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new ConfigError([`--only must name some of ${services.join(', ')}; not ${unknown.join(', ')}`])
  return names as Service[]
}

/** A database that is away means something else at the start than to a request. */
function startError(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'unavailable') throw refusal(error) ?? error
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string }
  const reason = message || code || 'no answer'
  throw (
    refusal(error.cause) ?? new Error(`The database can't be reached (${reason}): check DATABASE_URL, and that it runs`)
  )
}

/** PostgreSQL's: no such database, no such user or a wrong password, no permission, no connections allowed. */
const isRefusal = (code: string): boolean => /^(?:3D000|28...|42501|55000)$/.test(code)

const refusal = (error: unknown): Error | null =>
  error instanceof Error && 'code' in error && isRefusal(String(error.code))
    ? new Error(`The database refuses (${error.message}): check DATABASE_URL, and what its user may do`)
    : null

/** npm passes the signal of a terminal on to a process that has had it already. */
const sameSignalMs = 1_000

/**
 * Resolves once a signal asks to stop, or the end of the parent does where that counts; a later second signal ends the process at
 * once.
 */
function untilStopped(withParent: boolean, begin: (reason: string) => void): Promise<void> {
  return new Promise(resolve => {
    let stoppingSince: number | null = null
    const onSignal = (reason: NodeJS.Signals | 'the end of the parent process') => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince > sameSignalMs) process.exit(1)
        return
      }
      stoppingSince = performance.now()
      const late = setTimeout(() => process.exit(1), noticeMs + endWithinMs)
      late.unref()
      begin(reason)
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    if (withParent) whenParentEnds(() => onSignal('the end of the parent process'))
  })
}
