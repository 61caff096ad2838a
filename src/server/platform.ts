/**
 * Puts the platform together from its settings: database, keys, clock, caches, jobs, and the HTTP app. It contains no
 * rules; it only says which part gets which dependencies.
 */
import type { FastifyInstance } from 'fastify'
import { createRefusalSums } from '../access/refusal-sums.ts'
import { type Config, type Service, services } from '../config.ts'
import type { Database } from '../db/database.ts'
import { createPools } from '../db/pools.ts'
import { DomainError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type AppDeps, createApp } from './app.ts'
import { createFailureLog } from './failure-log.ts'
import type { Metrics } from './metrics.ts'
import { openConfiguredDatabase } from './opened-database.ts'
import { createAppDeps, createLoginDeps, createLoginsFor } from './platform-app.ts'
import {
  createAccess,
  createCampaigns,
  createMonitoring,
  createOutside,
  createSales,
  createWebhooks,
  createWorker,
  listenForChanges,
  type Parts,
  prepareDatabase,
  type Start,
} from './platform-parts.ts'

export type Platform = {
  app: FastifyInstance
  /**
   * The app at ADMIN_PORT. It is null without that setting, or when this process runs none of the services of that app.
   */
  adminApp: FastifyInstance | null
  metrics: Metrics
  database: Database
  deps: AppDeps
  /** Starts background jobs. Call it after the sample data was loaded, because that data has times in the past. */
  startJobs(): void
  /** From now on the process reports that it is not ready. */
  drain(): void
  /** Ends everything in order: requests, jobs, mail, database. */
  close(): Promise<void>
}

/**
 * @param config with its keys filled in (`withKeys`)
 * @param only the services that this process runs; null: all
 * @throws ConfigError for wrong settings; SchemaError when this version cannot use the database; SealingError when the
 *   master keys do not belong to the database. Each error has a message for the operator
 */
export async function createPlatform(
  config: Config & { operatorKey: string },
  logger: Logger,
  only: readonly Service[] | null = null,
): Promise<Platform> {
  const { failed } = createFailureLog(logger)
  const onError = (error: unknown) => {
    if (!(error instanceof DomainError)) logger.error({ err: error }, 'unexpected error')
    else failed('background', error)
  }
  const { database, close: closeDatabase } = await openConfiguredDatabase(config, logger)
  const closers: Start['closers'] = [closeDatabase]
  const close = async () => {
    const errors: unknown[] = []
    for (const closer of closers) await closer().catch(error => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
  try {
    const parts = await createParts({ config, running: only ?? services, logger, onError, closers }, database)
    const { app, adminApp, deps } = await createApps(parts)
    const { drain, metrics } = parts.monitoring
    return { app, adminApp, metrics, database, deps, startJobs: parts.worker.start, drain, close }
  } catch (error) {
    await close().catch(onError)
    throw error
  }
}

/**
 * Creates all parts. Each part adds a function to `closers`. These functions run in reverse order, so that no part
 * ends before the parts that use it.
 */
async function createParts(start: Start, database: Database): Promise<Parts> {
  const pools = createPools(database, start.config.databasePool)
  const clock = await prepareDatabase(start, pools)
  const access = await createAccess(start, pools)
  const outside = await createOutside(start, database)
  const monitoring = createMonitoring(start, { pools, clock, access, outside })
  const sales = await createSales(start, { pools, clock, outside, monitoring })
  await listenForChanges(start, { pools, clock, access, monitoring, sales })
  const campaigns = createCampaigns(start, { pools, clock })
  const webhooks = await createWebhooks(start, { pools, clock, outside, monitoring })
  const refusalSums = createRefusalSums(pools.others, start.onError)
  const worker = createWorker(start, { pools, outside, monitoring, sales, campaigns, webhooks, refusalSums })
  // Closers run from the front, so this one runs before the worker signs its last checkpoint. The checkpoint then
  // covers the audit log entries that this closer writes.
  start.closers.unshift(() => refusalSums.close())
  return { start, pools, clock, access, outside, monitoring, sales, campaigns, webhooks, worker, refusalSums }
}

/** Creates the app of this process, and with ADMIN_PORT a second one for the operator's staff. */
async function createApps(parts: Parts): Promise<Pick<Platform, 'app' | 'adminApp' | 'deps'>> {
  const { config, running, closers } = parts.start
  const logins = createLoginDeps(parts)
  const deps = createAppDeps(parts, logins)
  const app = await createApp(deps)
  const adminApp = hasAdminApp(config, running)
    ? await createApp({ ...deps, door: 'staff', access: createLoginsFor(logins, true), sandbox: null })
    : null
  const apps = adminApp === null ? [app] : [app, adminApp]
  for (const each of apps) await each.ready()
  closers.unshift(async () => {
    parts.monitoring.waiters.stop()
    await Promise.all(apps.map(each => closeWithin(config.shutdown.limitMs, each)))
  })
  return { app, adminApp, deps }
}

/** Whether any service of this process is served at ADMIN_PORT. */
const hasAdminApp = ({ admin }: Config, running: readonly Service[]): boolean =>
  admin !== null && (running.includes('admin') || running.includes('portal'))

/** Closes the app, and cuts off requests that are still running after the time limit. */
async function closeWithin(ms: number, app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close().finally(() => clearTimeout(late))
}
