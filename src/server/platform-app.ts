/** Makes the dependencies of the HTTP app from the parts of a platform. */

import { fileURLToPath } from 'node:url'
import type { FactorNews } from '../access/factors/factors.ts'
import { isKnownAddress } from '../access/login-store.ts'
import { createLoginQueues, createLogins } from '../access/logins.ts'
import { createHashingPlaces } from '../access/passwords/hashing-places.ts'
import { createProofs } from '../access/proofs.ts'
import {
  createAddressLimit,
  createLinkConflicts,
  createLoginLimit,
  createThrottle,
  createWrongCodes,
} from '../access/throttle.ts'
import { createBatchedEntries } from '../audit-log/batched-entries.ts'
import { findAuditKeys } from '../audit-log/keys.ts'
import { createHistoryCursors } from '../campaigns/history/cursors.ts'
import { realNow } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { createAvailability } from '../esim/orders/availability.ts'
import { createOrderLookUp } from '../esim/sold/order-look-up.ts'
import { createCostlyReads, createPageReads } from '../http/limits/costly-reads.ts'
import { canMailQrCodes } from '../partners/mailed-banks.ts'
import { isOpenToOthers } from '../settings/loopback.ts'
import { deliverWaiting } from '../webhooks/delivering.ts'
import { handOverAll } from '../webhooks/hand-over-store.ts'
import type { AppDeps } from './app.ts'
import { lookAtStock, runDue } from './jobs.ts'
import { createFailureObserver, type Parts } from './platform-parts.ts'

type LoginDeps = ReturnType<typeof createLoginDeps>

const portalFolder = fileURLToPath(new URL('../../portal/dist', import.meta.url))

/** Makes the dependencies of logins: second factors, and the throttles of logins and tokens. */
export function createLoginDeps({ start, pools, access, outside, monitoring, refusalSums }: Parts) {
  const { config, logger } = start
  const { counter } = outside.limits
  const wrongCodes = createWrongCodes(
    (name, ...limit) => counter(`wrong-codes-${name}`, ...limit),
    (userId, address) => isKnownAddress(pools.access, userId, address),
  )
  const observeFailure = createFailureObserver(logger)
  const factors = {
    database: pools.access,
    factorKeys: access.factorKeys,
    platformMfa: config.platformMfa,
    wrongCodes,
    proofs: createProofs({ database: pools.access, wrongCodes, refusalSums, observeFailure }),
    notifyPerson: (transaction: Queryable, userId: string, news: FactorNews) => {
      const used = (login: string) => ({ kind: 'recovery-code-used' as const, login, at: realNow().toISOString() })
      return news === 'recovery-code-used'
        ? outside.mails.notifyPerson(transaction, userId, used)
        : outside.mails.notifyChange(transaction, userId, news)
    },
    countOwnChange: outside.mails.countOwnChange,
  }
  const logins = {
    ...factors,
    tokens: access.tokens,
    refusals: access.refusals,
    refusalSums,
    malformed: createAddressLimit((...limit) => counter('malformed', ...limit)),
    gatewayThrottle: createThrottle((name, ...limit) => counter(`gateway-${name}`, ...limit)),
    loginLimit: createLoginLimit((...limit) => counter('logins', ...limit)),
    loginThrottle: createThrottle((name, ...limit) => counter(`login-${name}`, ...limit)),
    observeToken: monitoring.metrics.token,
    observeFailure,
    queues: createLoginQueues(),
    hashingPlaces: createHashingPlaces(),
    linkConflicts: createLinkConflicts((...limit) => counter('link-conflicts', ...limit)),
  }
  return { factors, logins }
}

/** @param admitsStaff whether the platform's staff may log in to this app */
export const createLoginsFor = ({ logins }: LoginDeps, admitsStaff: boolean): AppDeps['access'] => ({
  logins: createLogins({ ...logins, admitsStaff }),
})

export function createAppDeps(parts: Parts, login: LoginDeps): AppDeps {
  const { start, pools, clock, outside, monitoring, sales, worker } = parts
  const { config, running, logger } = start
  const reads = { pageReads: createPageReads(pools.database), costlyReads: createCostlyReads(pools.database) }
  const history = { historyCursors: createHistoryCursors(config.masterKeys) }
  const callers = callersOf(parts)
  const guard = guardOf(parts)
  const { others } = pools
  return {
    door: config.admin === null ? 'all' : 'partners',
    isLive: config.mode === 'live',
    services: running,
    logger,
    metrics: monitoring.metrics,
    trustedProxies: config.trustedProxies,
    publicUrl: config.publicUrl,
    auditKeys: () => findAuditKeys(others),
    access: createLoginsFor(login, config.admin === null),
    people: { ...worker.people, factors: login.factors, countLanguageChange: outside.countLanguageChange },
    campaigns: { ...callers, ...reads, ...history, ...parts.campaigns },
    esim: {
      ...callers,
      clock,
      catalogue: sales.catalogue,
      orders: sales.orders,
      availability: createAvailability({ database: pools.database, clock }),
      rateLimiter: outside.limits.rateLimiter,
    },
    partner: { ...reads, ...callers, ...partnerDeps(parts) },
    admin: { ...reads, ...guard, ...history, ...adminDeps(parts), people: worker.people },
    accountLimiter: outside.limits.accountLimiter,
    portalFolder,
    sandbox: config.mode === 'sandbox' ? sandboxDeps(parts, isOpenToOthers(config) ? guard : null) : null,
    isStopping: monitoring.isStopping,
    notReady: monitoring.notReady,
  }
}

/** The dependencies that authenticate partners and people. */
const callersOf = ({ start, access, refusalSums }: Parts) => ({
  tokens: access.tokens,
  refusals: access.refusals,
  refusalSums,
  activity: access.activity,
  publicUrl: start.config.publicUrl,
})

/** The dependencies that authenticate partners, people and the operator. */
const guardOf = (parts: Parts) => ({
  ...callersOf(parts),
  operatorKeys: [parts.start.config.operatorKey, ...parts.start.config.furtherOperatorKeys],
  keyGuesses: createAddressLimit((...limit) => parts.outside.limits.counter('operator-key', ...limit)),
})

const partnerDeps = ({ start, pools, clock, monitoring, sales, webhooks, worker }: Parts) => ({
  database: pools.others,
  clock,
  // Uses the connection pool of sales to read single orders, because its connections already have plans for these
  // statements.
  orderLookUp: createOrderLookUp({
    database: pools.database,
    clock,
    catalogue: sales.catalogue,
    msisdnDays: start.config.retention.msisdnDays,
  }),
  masterKeys: worker.checkpoints.masterKeys,
  feed: { database: pools.others, waiters: monitoring.waiters, numberAllEvents: worker.numberAllEvents },
  webhooks: {
    ...webhooks.deps,
    ...webhooks.ofEndpoints,
    onError: start.onError,
    numberAllEvents: worker.numberAllEvents,
  },
})

const adminDeps = ({ start: { config, running }, pools, clock, monitoring, sales, webhooks, worker }: Parts) => ({
  batchedEntries: createBatchedEntries(pools.others),
  checkpoints: worker.checkpoints,
  auditYears: config.auditYears,
  database: pools.others,
  clock,
  webhooks: { ...webhooks.deps, ...webhooks.ofEndpoints },
  mailsQrCodes: canMailQrCodes(config),
  catalogue: sales.catalogue,
  sealing: sales.sealing,
  retention: config.retention,
  numberAllEvents: worker.numberAllEvents,
  support: {
    mode: config.mode,
    services: running,
    instance: config.instance.name,
    settingsGiven: config.settingsGiven,
    readMetrics: () => monitoring.metrics.registry.metrics(),
  },
  masterKeys: config.masterKeys,
  platformMfa: config.platformMfa,
})

/** @param guard the dependencies that authenticate callers who move the clock; null: everybody may move it */
const sandboxDeps = (
  { pools, clock, webhooks, worker }: Parts,
  guard: ReturnType<typeof guardOf> | null,
): NonNullable<AppDeps['sandbox']> => ({
  database: pools.others,
  clock,
  beforeMove: () => lookAtStock(worker.jobDeps),
  runDue: () => runDue(worker.jobDeps),
  async deliverWebhooks(endsAtMs) {
    await worker.numberAllEvents()
    while (await handOverAll(worker.jobDeps.database));
    return deliverWaiting(webhooks.deps, endsAtMs)
  },
  guard,
})
