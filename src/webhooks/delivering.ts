/**
 * Carries out deliveries: claims due ones, sends them and records the outcome. No transaction is open during a request.
 * If a process is killed, its deliveries are claimed again when their leases end.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '../caller.ts'
import type { Clock } from '../clock.ts'
import { realMs, realNow } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { testTypes } from '../events/catalogue.ts'
import { findFeed } from '../events/feed-store.ts'
import { sampleOf } from '../events/samples.ts'
import { type Sealer, SealingError } from '../sealing.ts'
import * as store from './delivery-store.ts'
import { findEndpoint, findSecrets, maxEndpoints, type SecretOfEndpoint } from './endpoint-store.ts'
import { disable, lockEndpoint } from './endpoints.ts'
import { failuresOfRetry, probedFrom, probeWait, retryAfterMs, waitAfter } from './schedule.ts'
import type { Attempted, Sender } from './sender.ts'
import { signatures } from './signing.ts'
import { placeOf } from './stored-secrets.ts'

export type DeliveringDeps = {
  database: Database
  clock: Clock
  sealer: Sealer
  sender: Sender
  isSandbox: boolean
  observe: { attempt(outcome: string): void; delivered(delaySeconds: number): void }
}

/** Makes the only attempt of a test. */
export async function attemptTest(deps: DeliveringDeps, claimed: store.Claimed): Promise<void> {
  const secrets = await openSecretsOf(deps, claimed.endpointId)
  // An endpoint that was deleted meanwhile has no secrets. Nothing is sent unsigned.
  if (secrets.length > 0) await attempt(deps, claimed, { secrets, isTest: true })
}

/**
 * Sends one claimed delivery. A failure is recorded here; the caller records a success.
 *
 * @returns the success; null after a failure
 */
export async function attempt(
  deps: DeliveringDeps,
  claimed: store.Claimed,
  { secrets, isTest = false }: { secrets: readonly Secret[]; isTest?: boolean },
): Promise<store.Delivered | null> {
  const { body, eventId, url, endpointId, attempt } = claimed
  const { deliveryId, day } = claimed
  const at = realNow()
  if (body === null) {
    await store.recordAttempt(deps.database, { deliveryId, day, attempt, at, ...lost }, ended)
    return null
  }
  const timestamp = Math.floor(at.getTime() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Perkline-Webhooks/1',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(validAt(secrets, at), { id: eventId, timestamp, body }),
    'perkline-endpoint-id': endpointId,
    'perkline-attempt': String(attempt),
  }
  const attempted = await deps.sender.send(url, headers, body)
  deps.observe.attempt(attempted.outcome)
  const isDelivered = attempted.outcome === 'delivered'
  if (isDelivered && claimed.recordedAt) deps.observe.delivered((realMs() - claimed.recordedAt.getTime()) / 1000)
  if (isDelivered && !isTest) return { deliveryId, day, attempt, at, endpointId, ...attempted }
  await deps.database.transaction(transaction => record(deps, transaction, { claimed, at, attempted, isTest }))
  return null
}

/** The result when the event cannot be sent, because it was removed due to its age. */
const lost = { outcome: 'interrupted', durationMs: 0, statusCode: null, responseExcerpt: null } as const
const ended = { state: 'failed', waitMs: null, failures: 0 } as const

export type Secret = { secret: KeyObject; validUntil: Date | null }

const validAt = (secrets: readonly Secret[], at: Date): KeyObject[] =>
  secrets.filter(({ validUntil }) => validUntil === null || validUntil > at).map(({ secret }) => secret)

/**
 * Decrypts the secrets of endpoints, the newest first. An endpoint whose secrets cannot be decrypted is left out.
 *
 * @param onError called with the error of each endpoint that is left out
 */
export async function openSecrets(
  { database, sealer }: DeliveringDeps,
  endpointIds: readonly string[],
  onError: (error: unknown) => void,
): Promise<Map<string, Secret[]>> {
  const byEndpoint = Map.groupBy(await findSecrets(database, endpointIds), ({ endpointId }) => endpointId)
  const opened = new Map<string, Secret[]>()
  for (const [endpointId, ofEndpoint] of byEndpoint) {
    try {
      const open = ({ secretId, sealed, validUntil }: SecretOfEndpoint) => ({
        secret: createSecretKey(sealer.open(sealed, placeOf(endpointId, secretId))),
        validUntil,
      })
      opened.set(endpointId, ofEndpoint.map(open))
    } catch (error) {
      onError(new SealingError(`The secrets of the endpoint ${endpointId} cannot be decrypted`, { cause: error }))
    }
  }
  return opened
}

async function openSecretsOf(deps: DeliveringDeps, endpointId: string): Promise<Secret[]> {
  const opened = await openSecrets(deps, [endpointId], error => {
    throw error
  })
  return opened.get(endpointId) ?? []
}

type Ending = { claimed: store.Claimed; at: Date; attempted: Attempted; isTest: boolean }

async function record(
  deps: DeliveringDeps,
  transaction: Queryable,
  { claimed, at, attempted, isTest }: Ending,
): Promise<void> {
  const { endpointId } = claimed
  const health = await store.lockHealth(transaction, endpointId)
  const isProbe = (health?.failedInRow ?? 0) >= probedFrom
  const isCurrent = await store.recordAttempt(
    transaction,
    { ...claimed, at, ...attempted },
    nextOf(claimed, attempted, { isProbe, isTest }),
  )
  // A test does not affect the endpoint's health. Neither does an outdated attempt: its delivery was skipped, or this
  // process was frozen, and another process has begun the next attempt.
  if (isTest || health === null || !isCurrent) return
  const willProbe = health.failedInRow + 1 >= probedFrom
  const probeMs = willProbe ? probeWait(health.probes) : null
  const now = deps.clock.now()
  await store.noteFailure(transaction, { endpointId, now, probeMs })
  if (attempted.statusCode === 410 && health.status === 'enabled') {
    const endpoint = await findEndpoint(transaction, null, endpointId)
    if (endpoint) await disable(transaction, endpoint, { reason: 'gone', now })
  }
}

function nextOf(
  { failures }: store.Claimed,
  { outcome, statusCode, retryAfter }: Attempted,
  { isProbe, isTest }: { isProbe: boolean; isTest: boolean },
): Parameters<typeof store.recordAttempt>[2] {
  if (outcome === 'delivered') return { state: 'delivered', waitMs: null, failures }
  if (isTest) return { state: 'failed', waitMs: null, failures }
  // A finished delivery that somebody retries gets one attempt, even while its endpoint is being probed.
  const isOnce = failures >= failuresOfRetry
  // After a 410 the delivery stays pending, because the receiver may come back. A failed probe also leaves it pending,
  // because a probe says nothing about the event.
  if (statusCode === 410 || (isProbe && !isOnce)) return { state: 'pending', waitMs: 0, failures }
  const waitMs = waitAfter(failures + 1, retryAfterMs(statusCode, retryAfter, realNow()), Math.random())
  return waitMs === null
    ? { state: 'failed', waitMs: null, failures: failures + 1 }
    : { state: 'pending', waitMs, failures: failures + 1 }
}

/**
 * Creates the delivery of a test, independent of waiting deliveries. It is already claimed for its only attempt, which
 * the caller must make (`attemptTest`).
 *
 * @throws DomainError 'not-found' when the account has no such endpoint; 'invalid' for an unknown type; 'too-many' when
 *   the endpoint or the account has had too many tests within a minute
 */
export async function testEndpoint(
  deps: DeliveringDeps,
  account: Account,
  { endpointId, type }: { endpointId: string; type: string },
): Promise<{ claimed: store.Claimed }> {
  const known = testTypes.find(one => one.type === type)
  if (!known) throw new DomainError('invalid', [broken('type', 'event-type')])
  const claimed = await deps.database.transaction(async transaction => {
    await lockEndpoint(transaction, account, endpointId)
    const tests = await store.countTests(transaction, account, endpointId)
    if (tests.ofEndpoint >= testsAMinute)
      throw tooManyTests(`An endpoint is sent ${testsAMinute} tests a minute at most`)
    if (tests.ofAccount >= testsOfAccountAMinute)
      throw tooManyTests(`The endpoints of an account are sent ${testsOfAccountAMinute} tests a minute at most`)
    const { feedId } = await findFeed(transaction, account)
    const eventId = await newEventId(transaction)
    const event = {
      id: eventId,
      type,
      timestamp: deps.clock.now().toISOString(),
      sequence: 0,
      feedId,
      mode: deps.isSandbox ? 'sandbox' : 'live',
      test: true,
      data: sampleOf(known, account.type),
    }
    return store.insertTest(transaction, { account, endpointId, eventId, type, body: JSON.stringify(event) })
  })
  return { claimed }
}

async function newEventId(database: Queryable): Promise<string> {
  const [row] = await database.query<{ id: string }>('select uuid_at(now()) as id')
  if (!row) throw new Error('A select without a table has one row')
  return row.id
}

const probesAtOnce = 10
const testsAMinute = 10
/**
 * The maximum number of tests of an account in a minute, for all its endpoints together. Without this limit, an account
 * could flood an address with tests by deleting and recreating an endpoint.
 */
const testsOfAccountAMinute = maxEndpoints * testsAMinute

const tooManyTests = (text: string) => new DomainError('too-many', text, { retryAfterSeconds: 60 })

/**
 * Makes one attempt of each delivery that waits at enabled endpoints. If an endpoint takes one request at a time, only
 * its oldest delivery is attempted. Running attempts are neither repeated nor counted. While an endpoint has the
 * maximum number of running attempts, its deliveries wait.
 *
 * @param endsAtMs no attempt begins after this time (`performance.now()`)
 * @returns how many were attempted
 * @throws the first error, after the attempts of all endpoints
 */
export async function deliverWaiting(deps: DeliveringDeps, endsAtMs: number): Promise<number> {
  const endpoints = await store.findPendingEndpoints(deps.database)
  let attempted = 0
  const results = await Promise.allSettled(
    endpoints.map(async endpointId => {
      attempted += await deliverOf(deps, endpointId, endsAtMs)
    }),
  )
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed) throw failed.reason
  return attempted
}

/**
 * How often to look again at an endpoint that another statement has locked, or that has the maximum number of running
 * requests.
 */
const lookAgainMs = 100

async function deliverOf(deps: DeliveringDeps, endpointId: string, endsAtMs: number): Promise<number> {
  const tried: string[] = []
  const claims = [{ endpointId, max: probesAtOnce, held: 0 }]
  let delivered: store.Delivered[] = []
  for (let isOver = false; !isOver; ) {
    isOver = performance.now() > endsAtMs || (tried.length > 0 && (await store.isOneOnly(deps.database, endpointId)))
    const claimed = await store.recordAndClaim(deps.database, {
      delivered,
      claims: isOver ? [] : claims,
      early: true,
      but: tried,
    })
    delivered = []
    if (!isOver && claimed.length === 0 && (await store.hasWaiting(deps.database, endpointId, tried))) {
      await sleep(lookAgainMs)
      continue
    }
    isOver ||= claimed.length === 0
    tried.push(...claimed.map(({ deliveryId }) => deliveryId))
    const secrets = isOver ? [] : await openSecretsOf(deps, endpointId)
    // There are no secrets when the loop is over, or when the endpoint was deleted meanwhile. Nothing is sent unsigned.
    if (secrets.length === 0) break
    const results = await Promise.all(claimed.map(one => attempt(deps, one, { secrets })))
    delivered = results.filter(result => result !== null)
  }
  return tried.length
}
