/** The parts of a platform. Each is made from the settings and from parts that were made before it. */

import { loadFactorKeys } from '../access/factors/factors.ts'
import type { LoginFailure } from '../access/proofs.ts'
import type { RefusalSums } from '../access/refusal-sums.ts'
import { createRefusals } from '../access/refusals.ts'
import { createActivity } from '../access/sessions/activity.ts'
import { createLanguageLimit, createSettingsLimit } from '../access/settings-limit.ts'
import { createTokenKeys, ensureTokenKey } from '../access/token-keys.ts'
import { findTokenKeys } from '../access/token-keys-store.ts'
import { createTokens } from '../access/tokens.ts'
import { type CheckpointDeps, makeCheckpoint } from '../audit-log/checkpoints.ts'
import { ensureAuditKey } from '../audit-log/keys.ts'
import { type Clock, createClock, databaseTime, followDatabaseClock, machineOffsetMs, realMs } from '../clock.ts'
import type { Config, Service } from '../config.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Database } from '../db/database.ts'
import { pendingMigrations } from '../db/migrate.ts'
import { bindMode } from '../db/mode.ts'
import { listen } from '../db/notifications.ts'
import type { Pools } from '../db/pools.ts'
import { DomainError } from '../errors.ts'
import { createCatalogue } from '../esim/catalogue.ts'
import { createActivationReads } from '../esim/orders/activation-reads.ts'
import { createOrders } from '../esim/orders/operations.ts'
import { countHolders } from '../esim/orders/reserve-store.ts'
import { readStockDesk } from '../esim/stock/desk.ts'
import { createSealing, loadIndexKey } from '../esim/stock/sealing.ts'
import { createStock } from '../esim/stock/stock.ts'
import { countWaitingEvents } from '../events/sequence-store.ts'
import { createFeedWaiters } from '../events/waiting.ts'
import { createAnswers } from '../idempotency/answers.ts'
import type { Logger } from '../log.ts'
import { recoverOutbox } from '../outbox/tick-store.ts'
import { createPeopleMails } from '../people/mail/mails.ts'
import { followSharedClock } from '../sandbox/operations.ts'
import { requireMasterKey } from '../sealed-keys.ts'
import { createSealer } from '../sealing.ts'
import { lateSeconds } from '../statements/closing.ts'
import { countCampaigns, countLapsed, findAuditState } from '../upkeep/state-store.ts'
import { createAddressRules } from '../webhooks/addresses.ts'
import { countEndpoints } from '../webhooks/operator-store.ts'
import { createSender } from '../webhooks/sender.ts'
import { webhookPurpose } from '../webhooks/stored-secrets.ts'
import { startDelivering } from '../webhooks/worker.ts'
import { createFailureLog } from './failure-log.ts'
import { type JobDeps, numberEvents, startJobs } from './jobs.ts'
import { createMetrics } from './metrics.ts'
import {
  bringToVersion,
  requireOwnSessions,
  waitForRecovery,
  warnOfNoTemporaryTables,
  warnOfTooFewConnections,
} from './opened-database.ts'
import { createLimits, createMailer, createPeoplePost, expectAnchorFile, readAuthorities } from './outside-services.ts'
import { createProcessMetrics } from './process-metrics.ts'

/** The input from which every part is made. */
export type Start = {
  config: Config & { operatorKey: string }
  /** The services that this process runs. */
  running: readonly Service[]
  logger: Logger
  onError(error: unknown): void
  /**
   * The functions that end the parts. Each part adds its function at the front, so that the part created last ends
   * first.
   */
  closers: (() => Promise<void>)[]
}

export type Parts = {
  start: Start
  pools: Pools
  clock: Clock
  access: Awaited<ReturnType<typeof createAccess>>
  outside: Outside
  monitoring: Monitoring
  sales: Sales
  campaigns: ReturnType<typeof createCampaigns>
  webhooks: Webhooks
  worker: ReturnType<typeof createWorker>
  refusalSums: RefusalSums
}

type Outside = Awaited<ReturnType<typeof createOutside>>
type Monitoring = ReturnType<typeof createMonitoring>
type Sales = Awaited<ReturnType<typeof createSales>>
type Webhooks = Awaited<ReturnType<typeof createWebhooks>>

/** How often each process looks for changes in the database, in case a notification of a change was lost. */
const pollMs = 2_000
/** If the machine's clock and the database's clock differ by more than this at the start, a warning is logged. */
const maxOffsetSeconds = 60

/** Checks the database and its master key, brings its schema to this version, and begins to use the database's clock. */
export async function prepareDatabase({ config, logger }: Start, { database, access }: Pools): Promise<Clock> {
  await waitForRecovery(database, logger)
  await requireOwnSessions(database)
  await warnOfTooFewConnections(database, config, logger)
  await warnOfNoTemporaryTables(database, logger)
  await requireMasterKey(database, config.masterKeys)
  await bringToVersion(database, config.migrateOnStart, logger)
  await recoverOutbox(database)
  await bindMode(database, config.mode)
  await followDatabaseClock(() => access.query(databaseTime))
  warnOfOffset(logger)
  return createClock()
}

/**
 * Warns when the machine's clock differs too much from the database's clock. The log uses the machine's clock, and the
 * rules use the database's clock, so a large difference would confuse readers of the log.
 */
function warnOfOffset(logger: Logger): void {
  const offsetSeconds = Math.round(machineOffsetMs() / 1000)
  if (Math.abs(offsetSeconds) > maxOffsetSeconds)
    logger.warn(
      { offsetSeconds },
      'the clock of this machine differs from the database’s; the rules use the database’s',
    )
}

/** Creates the parts that identify callers and refuse those who have lost access: keys, tokens and sessions. */
export async function createAccess({ config, running, logger, onError, closers }: Start, { database, access }: Pools) {
  const { masterKeys } = config
  await ensureTokenKey(database, masterKeys, realMs())
  await ensureAuditKey(database, masterKeys)
  const mayIssue = running.includes('auth') || running.includes('portal')
  const tokenKeys = createTokenKeys({
    readKeys: () => findTokenKeys(access),
    masterKeys,
    mayIssue,
    onUnproven: (keyId, err) =>
      logger.error({ keyId, err }, 'MASTER_KEY does not prove a token key in the database: its tokens are refused'),
  })
  const activity = createActivity(access, onError)
  closers.unshift(() => activity.close())
  return {
    tokenKeys,
    /** True when this process can sign tokens, or when it issues no tokens. */
    canIssue: () => !mayIssue || tokenKeys.canSign(realMs()),
    tokens: createTokens(tokenKeys),
    refusals: createRefusals(access, config.platformMfa),
    activity,
    factorKeys: await loadFactorKeys(database, masterKeys),
  }
}

/** Creates the connections to services outside the platform: the mail server, and Redis for shared limits. */
export async function createOutside({ config, logger, closers }: Start, database: Database) {
  await expectAnchorFile(config.auditAnchorFile, logger)
  const mailer = await createMailer(config, database, logger)
  closers.unshift(() => mailer.close())
  const peoplePost = await createPeoplePost(config, logger)
  closers.unshift(() => peoplePost.close())
  const limits = await createLimits(config, logger)
  closers.unshift(() => limits.close())
  const { masterKeys } = config
  const mails = createPeopleMails({ masterKeys, post: peoplePost.post, addresses: config, counter: limits.counter })
  return {
    mailer,
    mails,
    limits,
    countSettingsChange: createSettingsLimit(limits.counter),
    countLanguageChange: createLanguageLimit(limits.counter),
  }
}

/** Creates the metrics, and the check whether this process is ready. */
export function createMonitoring(
  { config, running, logger }: Start,
  { pools, clock, access, outside }: Pick<Parts, 'pools' | 'clock' | 'access' | 'outside'>,
) {
  const { background } = pools
  const waiters = createFeedWaiters(pools.others)
  const log = createFailureLog(logger, {
    failed: 'a metric could not be read; it keeps its last value for 5 minutes',
    succeeded: 'a metric that could not be read is read again',
  })
  const metrics = createMetrics({
    log,
    pool: pools.database.pool,
    countStock: () => readStockDesk({ database: background, clock }),
    countHolders: () => countHolders(background, clock.now()),
    countWaiting: () => countWaitingEvents(background),
    lateSeconds: () => lateSeconds(background, clock.now()),
    countFeedWaiting: waiters.count,
    countEndpoints: () => countEndpoints(background),
  })
  const readiness = createReadiness(pools.readiness, access)
  const processMetrics = createProcessMetrics(metrics.registry, {
    log,
    instance: config.instance,
    isReady: async () => (await readiness.notReady()) === null,
    servesPartners: running.some(service => service !== 'worker' && service !== 'admin'),
    countPending: async () => (await pendingMigrations(background)).length,
    findAudit: () => findAuditState(background),
    countCampaigns: () => countCampaigns(background),
    countLapsed: () => countLapsed(background, clock.now()),
    sharesLimits: outside.limits.isShared,
  })
  const drain = () => {
    readiness.drain()
    waiters.stop()
  }
  return { ...readiness, drain, waiters, metrics, processMetrics }
}

function createReadiness(database: Database, { canIssue, refusals }: Pick<Parts['access'], 'canIssue' | 'refusals'>) {
  let draining = false
  // Concurrent callers share one check.
  const ask = createSharedRead(() => database.query('select 1'))
  return {
    isStopping: () => draining,
    drain() {
      draining = true
    },
    /** Why this process cannot take requests now; null when it can. */
    async notReady(): Promise<string | null> {
      if (draining) return 'stopping'
      return ask().then(
        () => {
          // Without the revocations, every request with a token is refused.
          if (refusals.stale()) return 'revocations could not be read for 10 seconds'
          return canIssue() ? null : 'no key to sign tokens with'
        },
        () => 'the database is away',
      )
    },
  }
}

/** Creates the catalogue, the stock and the orders of eSIM sales. */
export async function createSales(
  { config, onError, closers }: Start,
  { pools, clock, outside, monitoring }: Pick<Parts, 'pools' | 'clock' | 'outside' | 'monitoring'>,
) {
  const { database } = pools
  const catalogue = createCatalogue(pools.access)
  const sealing = createSealing(config.masterKeys, await loadIndexKey(database, config.masterKeys))
  const activationReads = createActivationReads({ database, onError })
  closers.unshift(() => activationReads.close())
  const orders = createOrders({
    database,
    clock,
    catalogue,
    stock: createStock({ database, clock, onError }),
    sealing,
    mailer: outside.mailer,
    activationReads,
    msisdnDays: config.retention.msisdnDays,
    openReservations: config.openReservations,
    reservationShare: config.reservationShare,
    observe: monitoring.metrics,
    onError,
  })
  return { catalogue, sealing, orders }
}

/**
 * Listens for notifications of the database. When another process has changed data, this process updates its copy in
 * memory.
 */
export async function listenForChanges(
  { config, logger, onError, closers }: Start,
  { pools, clock, access, monitoring, sales }: Pick<Parts, 'pools' | 'clock' | 'access' | 'monitoring' | 'sales'>,
): Promise<void> {
  const { refusals, tokenKeys } = access
  const { failed, succeeded } = createFailureLog(logger)
  const job = 'notifications'
  const notifications = await listen({
    database: pools.database,
    pollMs,
    onPoll: query => followDatabaseClock(() => query(databaseTime)),
    onError: error => (error instanceof DomainError ? failed(job, error) : onError(error)),
    onListening: () => succeeded(job),
    onReconnect: () => monitoring.processMetrics.recovery(),
    onConnected: () => refusals.distrust(),
    handlers: {
      access: async () => void (await Promise.all([refusals.refresh(), tokenKeys.refresh()])),
      catalogue: () => sales.catalogue.refresh(),
      events: () => monitoring.waiters.wake(),
      ...(config.mode === 'sandbox' && { clock: () => followSharedClock(pools.access, clock) }),
    },
  })
  closers.unshift(() => notifications.stop())
}

export const createCampaigns = ({ config }: Start, { pools, clock }: Pick<Parts, 'pools' | 'clock'>) => ({
  database: pools.others,
  clock,
  completeAfterMs: config.completeAfterDays * 86_400_000,
  answers: createAnswers({
    database: pools.others,
    masterKeys: config.masterKeys,
    hours: config.idempotencyHours,
  }),
  pending: { campaigns: config.pendingCampaigns, bytes: config.pendingCampaignMib * 1024 * 1024 },
})

/**
 * Creates the dependencies for sending to webhook endpoints (`deps`), and the additional ones for changing endpoints
 * (`ofEndpoints`).
 */
export async function createWebhooks(
  { config, closers }: Start,
  { pools, clock, outside, monitoring }: Pick<Parts, 'pools' | 'clock' | 'outside' | 'monitoring'>,
) {
  const isSandbox = config.mode === 'sandbox'
  const { allowedAddresses, ports, caFile } = config.webhooks
  const addresses = createAddressRules([...allowedAddresses, ...(isSandbox ? ['127.0.0.0/8', '::1'] : [])])
  const sender = createSender({ rules: addresses, ca: await readAuthorities(caFile) })
  closers.unshift(async () => sender.close())
  const { attempt, delivered } = monitoring.metrics
  const deps = {
    database: pools.others,
    clock,
    sealer: createSealer(config.masterKeys, webhookPurpose),
    sender,
    isSandbox,
    observe: { attempt, delivered },
  }
  const { countSettingsChange } = outside
  return { deps, ofEndpoints: { urls: { addresses, ports, isSandbox }, countSettingsChange } }
}

/** Logs each failed login. */
export const createFailureObserver =
  (logger: Pick<Logger, 'warn'>) =>
  (failure: LoginFailure): void =>
    logger.warn(failure, 'a login failed')

/** Creates the background jobs and deliveries. They run if this process has the service `worker`. */
export function createWorker(
  { config, running, logger, onError, closers }: Start,
  {
    pools,
    outside,
    monitoring,
    sales,
    campaigns,
    webhooks,
    refusalSums,
  }: Pick<Parts, 'pools' | 'outside' | 'monitoring' | 'sales' | 'campaigns' | 'webhooks' | 'refusalSums'>,
) {
  const { others } = pools
  const people = {
    database: others,
    mails: outside.mails,
    countSettingsChange: outside.countSettingsChange,
    publicUrl: config.publicUrl,
    staffUrl: config.staffUrl,
    platformMfa: config.platformMfa,
  }
  const checkpoints = {
    database: others,
    clock: campaigns.clock,
    masterKeys: config.masterKeys,
    anchorFile: config.auditAnchorFile,
    onAnchored: monitoring.processMetrics.anchored,
    onAnchorFailed: monitoring.processMetrics.anchorFailed,
    logger,
  }
  let delivering: ReturnType<typeof startDelivering> | null = null
  const jobDeps = {
    ...campaigns,
    retention: config.retention,
    sealing: sales.sealing,
    logger,
    people,
    eventDays: config.eventRetentionDays,
    auditYears: config.auditYears,
    checkpoints,
    refusalSums,
    observeFailure: createFailureObserver(logger),
    observeEvents: monitoring.metrics.events,
    observe: monitoring.metrics,
    onHandedOver: () => delivering?.wake(),
  } satisfies JobDeps
  const { failed, succeeded } = createFailureLog(logger)
  const { jobStarts, jobSucceeds } = monitoring.processMetrics
  const observer = {
    jobStarts,
    jobSucceeds(job: string, seconds: number) {
      jobSucceeds(job, seconds)
      succeeded(job)
    },
  }
  let started: readonly { stop(): Promise<void> }[] = []
  const start = () => {
    if (!running.includes('worker')) return
    if (config.auditAnchorFile !== null) monitoring.processMetrics.anchored()
    delivering = startDelivering(webhooks.deps, config.webhooks.concurrency, onError)
    started = [delivering, startJobs(jobDeps, failed, observer)]
  }
  closers.unshift(() => stopWorker(started, checkpoints))
  const numberAllEvents = async () => {
    while ((await numberEvents(jobDeps, true)) === true);
  }
  return { start, people, checkpoints, jobDeps, numberAllEvents }
}

async function stopWorker(started: readonly { stop(): Promise<void> }[], checkpoints: CheckpointDeps): Promise<void> {
  if (started.length === 0) return
  await Promise.all(started.map(each => each.stop()))
  // Sign a checkpoint before the process ends, so that everything the process has done is covered.
  await makeCheckpoint(checkpoints).catch((error: unknown) =>
    checkpoints.logger.warn(
      { err: error },
      'no checkpoint could be made at the stop: the next one covers what was done',
    ),
  )
}
