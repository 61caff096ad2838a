/**
 * Puts the platform together from its settings: database, keys, clock, caches, jobs, and the HTTP app. It makes no
 * decisions; it only says which part gets which dependencies.
 */
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { loadFactorKeys } from '../access/factors/factors.ts'
import { createLogins, type LoginFailure } from '../access/logins.ts'
import { createRefusals } from '../access/refusals.ts'
import { createActivity } from '../access/sessions/activity.ts'
import { createAddressLimit, createThrottle, createWrongCodes } from '../access/throttle.ts'
import { createTokenKeys, ensureTokenKey } from '../access/token-keys.ts'
import { findTokenKeys } from '../access/token-keys-store.ts'
import { createTokens } from '../access/tokens.ts'
import { makeCheckpoint } from '../audit-log/checkpoints.ts'
import { ensureAuditKey, findAuditKeys } from '../audit-log/keys.ts'
import { createRefusalSums } from '../audit-log/refusal-sums.ts'
import { createSeldomEntries } from '../audit-log/seldom.ts'
import { createClock, databaseTime, followDatabaseClock, machineOffsetMs, realMs, realNow } from '../clock.ts'
import { type Config, type Service, services } from '../config.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Database, Queryable } from '../db/database.ts'
import { pendingMigrations } from '../db/migrate.ts'
import { bindMode } from '../db/mode.ts'
import { listen } from '../db/notifications.ts'
import { DomainError } from '../errors.ts'
import { createCatalogue } from '../esim/catalogue.ts'
import { createActivationReads } from '../esim/orders/activation-reads.ts'
import { createAvailability } from '../esim/orders/availability.ts'
import { createOrders } from '../esim/orders/operations.ts'
import { countHolders } from '../esim/orders/reserve-store.ts'
import { createOrderLookUp } from '../esim/sold/order-look-up.ts'
import { readStockDesk } from '../esim/stock/desk.ts'
import { createSealing, loadIndexKey } from '../esim/stock/sealing.ts'
import { createStock } from '../esim/stock/stock.ts'
import { countWaitingEvents } from '../events/sequence-store.ts'
import { recoverOutbox } from '../events/tick-store.ts'
import { createFeedWaiters } from '../events/waiting.ts'
import { createCostlyReads, createPageReads } from '../http/limits/costly-reads.ts'
import { createAnswers } from '../idempotency/answers.ts'
import type { Logger } from '../log.ts'
import { createPeopleMails } from '../people/mail/mails.ts'
import { followSharedClock } from '../sandbox/operations.ts'
import { createSealer } from '../sealing.ts'
import { isLoopback } from '../settings/loopback.ts'
import { lateSeconds } from '../statements/closing.ts'
import { countCampaigns, countLapsed, findAuditState } from '../upkeep/state-store.ts'
import { createAddressRules } from '../webhooks/addresses.ts'
import { deliverWaiting } from '../webhooks/delivering.ts'
import { webhookPurpose } from '../webhooks/endpoints.ts'
import { handOverAll } from '../webhooks/hand-over-store.ts'
import { countEndpoints } from '../webhooks/operator-store.ts'
import { createSender } from '../webhooks/sender.ts'
import { startDelivering } from '../webhooks/worker.ts'
import { type AppDeps, createApp } from './app.ts'
import { lookAtStock, numberEvents, runDue, startJobs } from './jobs.ts'
import { createMetrics } from './metrics.ts'
import {
  bringToVersion,
  openConfiguredDatabase,
  requireOwnSessions,
  warnOfTooFewConnections,
} from './opened-database.ts'
import { createLimits, createMailer, createPeoplePost, readAuthorities } from './outside-services.ts'
import { createProcessMetrics } from './process-metrics.ts'

export type Platform = {
  app: FastifyInstance
  /** The app on ADMIN_PORT; null without that setting, and when no service runs there. */
  adminApp: FastifyInstance | null
  metrics: ReturnType<typeof createMetrics>
  database: Database
  deps: AppDeps
  /** Starts background jobs. Call it after loading sample data, which is back-dated. */
  startJobs(): void
  /** From now on the process reports that it is not ready. */
  drain(): void
  /** Ends everything in order: requests, jobs, mail, database. */
  close(): Promise<void>
}

/** How often each process looks for changes whose notification got lost. */
const pollMs = 2_000
/** A start warns of a larger offset between its clock and the database's. */
const maxOffsetSeconds = 60
/** Connections for tokens, logins, and the queries that each process makes every `pollMs`. */
const accessConnections = 3
const portalFolder = fileURLToPath(new URL('../../portal/dist', import.meta.url))

/**
 * @param config with its keys filled in (`withKeys`)
 * @param only the services that this process runs; null: all
 * @throws ConfigError, SchemaError, SealingError with a message for the operator
 */
export async function createPlatform(
  config: Config & { operatorKey: string },
  logger: Logger,
  only: readonly Service[] | null = null,
): Promise<Platform> {
  const running = only ?? services
  const onError = (error: unknown) => {
    if (!(error instanceof DomainError)) logger.error({ err: error }, 'unexpected error')
    else logger.warn({ reason: error.message }, 'could not be done now; it will be tried again')
  }
  const { database, close: closeDatabase } = await openConfiguredDatabase(config, logger)
  const closers: (() => Promise<void>)[] = [closeDatabase]
  const close = async () => {
    const faults: unknown[] = []
    for (const closer of closers) await closer().catch(fault => faults.push(fault))
    if (faults.length > 0) throw faults[0]
  }

  try {
    // Sales use this pool. Other work has connections of its own, and so do tokens and the readiness check, so that
    // none of them waits for another.
    const access = database.apart(accessConnections)
    const readiness = database.apart(1)
    const others = database.apart(Math.ceil(config.databasePool / 2))
    const reads = { pageReads: createPageReads(database), costlyReads: createCostlyReads(database) }
    await requireOwnSessions(database)
    await warnOfTooFewConnections(database, config, logger)
    await bringToVersion(database, config.migrateOnStart, logger)
    await recoverOutbox(database)
    await bindMode(database, config.mode)
    await followDatabaseClock(() => access.query(databaseTime))
    warnOfOffset(logger)
    const clock = createClock()
    await ensureTokenKey(database, config.masterKeys, realMs())
    await ensureAuditKey(database, config.masterKeys)
    const mayIssue = running.includes('auth') || running.includes('portal')
    const tokenKeys = createTokenKeys({
      readKeys: () => findTokenKeys(access),
      masterKeys: config.masterKeys,
      mayIssue,
    })
    const tokens = createTokens(tokenKeys)
    const refusals = createRefusals(access, config.platformMfa)
    const activity = createActivity(access, onError)
    closers.unshift(() => activity.close())
    const factorKeys = await loadFactorKeys(database, config.masterKeys)
    const catalogue = createCatalogue(access)
    const sealing = createSealing(config.masterKeys, await loadIndexKey(database, config.masterKeys))
    const stock = createStock({ database, clock, onError })
    const inTheBackground = database.aside(new AbortController().signal, 'long')
    const waiters = createFeedWaiters(others)
    const metrics = createMetrics({
      pool: database.pool,
      countStock: () => readStockDesk({ database: inTheBackground, clock }),
      countHolders: () => countHolders(inTheBackground, clock.now()),
      countWaiting: () => countWaitingEvents(inTheBackground),
      lateSeconds: () => lateSeconds(inTheBackground, clock.now()),
      countFeedWaiting: waiters.count,
      countEndpoints: () => countEndpoints(inTheBackground),
    })
    const mailer = await createMailer(config, database, logger)
    closers.unshift(() => mailer.close())
    const peoplePost = await createPeoplePost(config, logger)
    closers.unshift(() => peoplePost.close())
    const mails = createPeopleMails({ masterKeys: config.masterKeys, post: peoplePost.post })
    const limits = await createLimits(config, logger)
    closers.unshift(() => limits.close())

    let draining = false
    // Concurrent callers share one check.
    const ask = createSharedRead(() => readiness.query('select 1'))
    const notReady = async (): Promise<string | null> => {
      if (draining) return 'stopping'
      return ask().then(
        () => null,
        () => 'the database is away',
      )
    }
    const ofProcess = createProcessMetrics(metrics.registry, {
      instance: config.instance,
      isReady: async () => (await notReady()) === null,
      countPending: async () => (await pendingMigrations(inTheBackground)).length,
      findAudit: () => findAuditState(inTheBackground),
      countCampaigns: () => countCampaigns(inTheBackground),
      countLapsed: () => countLapsed(inTheBackground, clock.now()),
      sharesLimits: limits.isShared,
    })
    const notifications = await listen({
      database,
      pollMs,
      onPoll: query => followDatabaseClock(() => query(databaseTime)),
      onError,
      onReconnect: () => ofProcess.recovery(),
      handlers: {
        access: async () => void (await Promise.all([refusals.refresh(), tokenKeys.refresh()])),
        catalogue: () => catalogue.refresh(),
        events: () => waiters.wake(),
        ...(config.mode === 'sandbox' && { clock: () => followSharedClock(access, clock) }),
      },
    })
    closers.unshift(() => notifications.stop())
    const campaigns = {
      database: others,
      clock,
      completeAfterMs: config.completeAfterDays * 86_400_000,
      answers: createAnswers({ database: others, masterKeys: config.masterKeys, hours: config.idempotencyHours }),
      pending: { campaigns: config.pendingCampaigns, bytes: config.pendingCampaignMib * 1024 * 1024 },
    }
    const { retention } = config
    const people = { database: others, mails, publicUrl: config.publicUrl, platformMfa: config.platformMfa }
    const checkpoints = {
      database: others,
      masterKeys: config.masterKeys,
      anchorFile: config.auditAnchorFile,
      logger,
    }
    const jobDeps = {
      ...campaigns,
      retention,
      people,
      eventDays: config.eventRetentionDays,
      auditYears: config.auditYears,
      checkpoints,
      observeEvents: metrics.events,
      observe: metrics,
    }
    const numberTold = async () => {
      while ((await numberEvents(jobDeps, true)) === true);
    }
    const addresses = createAddressRules([
      ...config.webhooks.allowedAddresses,
      ...(config.mode === 'sandbox' ? ['127.0.0.0/8', '::1'] : []),
    ])
    const urls = { addresses, ports: config.webhooks.ports, isSandbox: config.mode === 'sandbox' }
    const sender = createSender({ rules: addresses, ca: await readAuthorities(config.webhooks.caFile) })
    closers.unshift(async () => sender.close())
    const webhooks = {
      database: others,
      clock,
      sealer: createSealer(config.masterKeys, webhookPurpose),
      sender,
      isSandbox: config.mode === 'sandbox',
      observe: { attempt: metrics.attempt, delivered: metrics.delivered },
    }
    let delivering: { stop(): Promise<void> } | null = null
    let jobs: { stop(): Promise<void> } | null = null
    const startOwnJobs = () => {
      if (!running.includes('worker')) return
      const onJobFault = (job: string, error: unknown) =>
        logger.warn({ job, err: error }, 'a job failed and is tried again')
      delivering = startDelivering(webhooks, config.webhooks.concurrency, onError)
      jobs = startJobs(jobDeps, onJobFault, ofProcess)
    }
    closers.unshift(async () => {
      if (jobs === null) return
      await Promise.all([jobs.stop(), delivering?.stop()])
      // Sign a checkpoint before the process ends, so that it covers everything the process has done.
      await makeCheckpoint(checkpoints).catch((error: unknown) =>
        logger.warn({ err: error }, 'no checkpoint could be made at the stop: the next one covers what was done'),
      )
    })

    // Closed before the worker signs its last checkpoint, which then covers these entries.
    const refusalSums = createRefusalSums(others, onError)
    closers.unshift(() => refusalSums.close())

    const activationReads = createActivationReads({ database, onError })
    closers.unshift(() => activationReads.close())
    const orders = createOrders({
      database,
      clock,
      catalogue,
      stock,
      sealing,
      mailer,
      activationReads,
      msisdnDays: retention.msisdnDays,
      openReservations: config.openReservations,
      reservationShare: config.reservationShare,
      observe: metrics,
      onError,
    })
    const operatorKeys = [config.operatorKey, ...config.furtherOperatorKeys]
    const callers = { tokens, refusals, refusalSums, activity, publicUrl: config.publicUrl }
    const factors = {
      database: access,
      factorKeys,
      wrongCodes: createWrongCodes((...limit) => limits.counter('wrong-codes', ...limit)),
      tellOfRecovery: (transaction: Queryable, userId: string) =>
        mails.tell(transaction, userId, login => ({ kind: 'recovery-code-used', login, at: realNow().toISOString() })),
    }
    const doors = {
      ...factors,
      tokens,
      refusals,
      refusalSums,
      platformMfa: config.platformMfa,
      malformed: createAddressLimit((...limit) => limits.counter('malformed', ...limit)),
      gatewayThrottle: createThrottle((name, ...limit) => limits.counter(`gateway-${name}`, ...limit)),
      loginThrottle: createThrottle((name, ...limit) => limits.counter(`login-${name}`, ...limit)),
      observeToken: metrics.token,
      observeFailure: (failure: LoginFailure) => logger.warn(failure, 'a login failed'),
    }
    const guard = {
      ...callers,
      operatorKeys,
      keyGuesses: createAddressLimit((...limit) => limits.counter('operator-key', ...limit)),
    }
    const deps: AppDeps = {
      door: config.admin === null ? 'all' : 'partners',
      isLive: config.mode === 'live',
      services: running,
      logger,
      metrics,
      trustedProxies: config.trustedProxies,
      publicUrl: config.publicUrl,
      auditKeys: () => findAuditKeys(others),
      access: {
        logins: createLogins({ ...doors, admitsStaff: config.admin === null }),
      },
      people: { ...people, factors },
      campaigns: { ...callers, ...reads, ...campaigns },
      esim: {
        ...callers,
        clock,
        catalogue,
        orders,
        availability: createAvailability({ database, clock }),
        rateLimiter: limits.rateLimiter,
      },
      partner: {
        ...reads,
        ...callers,
        database: others,
        clock,
        // Single orders are read as sales read them, by the statements that the pool's busiest connections keep planned.
        orderLookUp: createOrderLookUp({ database, clock, catalogue, msisdnDays: retention.msisdnDays }),
        feed: { database: others, waiters, numberTold },
        webhooks: { ...webhooks, urls, onError, numberTold },
      },
      admin: {
        ...reads,
        ...guard,
        seldomEntries: createSeldomEntries(others),
        checkpoints,
        auditYears: config.auditYears,
        database: others,
        clock,
        webhooks: { ...webhooks, urls },
        catalogue,
        sealing,
        retention,
        support: {
          mode: config.mode,
          services: running,
          instance: config.instance.name,
          settingsGiven: config.settingsGiven,
          readMetrics: () => metrics.registry.metrics(),
        },
        masterKeys: config.masterKeys,
        platformMfa: config.platformMfa,
      },
      accountLimiter: limits.accountLimiter,
      portalFolder,
      sandbox:
        config.mode === 'sandbox'
          ? {
              database: others,
              clock,
              beforeMove: () => lookAtStock(jobDeps),
              runDue: () => runDue(jobDeps),
              async deliverWebhooks(endsAtMs) {
                await numberTold()
                while (await handOverAll(jobDeps.database));
                return deliverWaiting(webhooks, endsAtMs)
              },
              guard: isOpenToOthers(config) ? guard : null,
            }
          : null,
      isStopping: () => draining,
      notReady,
    }
    const app = await createApp(deps)
    const adminApp = hasAdminApp(config, running)
      ? await createApp({
          ...deps,
          door: 'staff',
          access: { logins: createLogins({ ...doors, admitsStaff: true }) },
          sandbox: null,
        })
      : null
    const apps = adminApp === null ? [app] : [app, adminApp]
    for (const each of apps) await each.ready()
    closers.unshift(async () => {
      waiters.stop()
      await Promise.all(apps.map(each => closeWithin(config.shutdown.limitMs, each)))
    })
    const drain = () => {
      draining = true
      waiters.stop()
    }
    return { app, adminApp, metrics, database, deps, startJobs: startOwnJobs, drain, close }
  } catch (error) {
    await close().catch(onError)
    throw error
  }
}

/** The rules use the database's clock, but times from the machine's clock, such as in the log, would confuse. */
function warnOfOffset(logger: Logger): void {
  const offsetSeconds = Math.round(machineOffsetMs() / 1000)
  if (Math.abs(offsetSeconds) > maxOffsetSeconds)
    logger.warn(
      { offsetSeconds },
      'the clock of this machine differs from the database’s; the rules use the database’s',
    )
}

/** Whether any service of this process is served at ADMIN_PORT. */
const hasAdminApp = ({ admin }: Config, running: readonly Service[]): boolean =>
  admin !== null && (running.includes('admin') || running.includes('portal'))

/** Whether clients on other machines can reach the platform, directly or through a proxy. */
const isOpenToOthers = ({ host, publicUrl }: Config): boolean =>
  !isLoopback(host) || !isLoopback(new URL(publicUrl).hostname)

/** Closes the app, and cuts off requests that are still running after the time limit. */
async function closeWithin(ms: number, app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close().finally(() => clearTimeout(late))
}
