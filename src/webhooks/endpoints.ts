/** What partners do with their endpoints (contract/webhooks.md, "Endpoints"). */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { fingerprintOf, hashSecret } from '../access/secrets.ts'
import type { CountSettingsChange } from '../access/settings-limit.ts'
import type { Account } from '../caller.ts'
import type { Clock } from '../clock.ts'
import type { Database, Queryable } from '../db/database.ts'
import { type BrokenRule, broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { requireFeed } from '../events/feed.ts'
import { findFeed } from '../events/feed-store.ts'
import { typeFilterErrors } from '../events/type-filters.ts'
import type { EntryChange } from '../outbox/audit-entry.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { listChange } from '../outbox/bounded-change.ts'
import { type RecordedEvent, recordEvents } from '../outbox/event-writing.ts'
import { clockOrigin, type Origin } from '../outbox/origin.ts'
import type { RecordedAccount } from '../outbox/rows.ts'
import type { Sealer } from '../sealing.ts'
import * as store from './endpoint-store.ts'
import { makeSecret, shownSecret } from './signing.ts'
import { openSecret, placeOf } from './stored-secrets.ts'
import { type UrlRules, urlError } from './urls.ts'

export type EndpointDeps = {
  database: Database
  clock: Clock
  sealer: Sealer
  urls: UrlRules
  countSettingsChange: CountSettingsChange
}
/** The actor, for the audit log. */
export type By = { origin: Origin }

/** Writes an entry about an endpoint into its owner's audit log. */
export async function note(
  transaction: Queryable,
  origin: Origin,
  { action, endpoint, change = {} }: { action: string; endpoint: Owned; change?: EntryChange },
): Promise<void> {
  await recordEntries(transaction, origin, [
    { action, object: { type: 'endpoint', id: endpoint.endpointId }, change, owner: ownerOf(endpoint) },
  ])
}

type Owned = Pick<store.Endpoint, 'endpointId' | 'accountType' | 'accountId'>

/** The owner in the form of the audit log. */
export function ownerOf({ accountType, accountId }: Pick<Owned, 'accountType' | 'accountId'>): RecordedAccount {
  if (accountType === 'platform') return { type: 'platform', id: null }
  return { type: accountType === 'bank' ? 'bank' : 'merchant', id: accountId }
}

export type Fields = {
  url: string
  description?: string | null
  eventTypes?: string[] | null
  order?: store.EndpointOrder
}

const notFound = () => new DomainError('not-found', 'There is no such endpoint')

/** Reads an endpoint. @throws DomainError 'not-found', also for another account's endpoint */
export async function readEndpoint(
  database: Queryable,
  account: Account | null,
  endpointId: string,
): Promise<store.Endpoint> {
  const endpoint = await store.findEndpoint(database, account, endpointId)
  if (endpoint === null) throw notFound()
  return endpoint
}

/** Like `readEndpoint`, but locks the endpoint until the transaction ends. */
export async function lockEndpoint(
  transaction: Queryable,
  account: Account | null,
  endpointId: string,
): Promise<store.Endpoint> {
  const endpoint = await store.lockEndpoint(transaction, account, endpointId)
  if (endpoint === null) throw notFound()
  return endpoint
}

/**
 * Checks the fields of a changed endpoint, and reports all errors at once. `changeEndpoint` relies on this check.
 *
 * @param form.body what was sent
 * @param form.schemaErrors the errors of its schema; the fields that they name are not checked again
 * @throws DomainError 'invalid' when there is any error
 */
export function requireFields(urls: UrlRules, form: EndpointForm): void {
  const errors = errorsOf(urls, form)
  if (errors.length > 0) throw new DomainError('invalid', errors)
}

type EndpointForm = { body: unknown; schemaErrors: readonly BrokenRule[] }

/**
 * Checks the fields of a new endpoint, and reports all errors at once. `createEndpoint` relies on this check.
 *
 * @throws DomainError 'invalid' when there is any error. The list of errors then also names a `startAfter` that is
 * after the end of the feed
 */
export async function requireNewFields(
  { database, urls }: Pick<EndpointDeps, 'database' | 'urls'>,
  account: Account,
  form: EndpointForm,
): Promise<void> {
  const errors = errorsOf(urls, form)
  if (errors.length === 0) return
  // If there is no other error, `createEndpoint` checks `startAfter`.
  const startAfter = form.schemaErrors.some(({ field }) => field === 'startAfter' || field === 'body')
    ? undefined
    : (form.body as { startAfter?: number | 'now' }).startAfter
  const { last } = await findFeed(database, account)
  const late = typeof startAfter === 'number' && startAfter > last
  throw new DomainError('invalid', late ? [...errors, broken('startAfter', 'max', { max: last })] : errors)
}

function errorsOf(urls: UrlRules, form: EndpointForm): BrokenRule[] {
  const { schemaErrors } = form
  const wrong = new Set(schemaErrors.map(({ field }) => field.split('.')[0]))
  const { url, eventTypes } = (wrong.has('body') ? {} : form.body) as Partial<Fields>
  const error = url === undefined || wrong.has('url') ? null : urlError(urls, url)
  const types = wrong.has('eventTypes') ? [] : (eventTypes ?? [])
  return [
    ...schemaErrors,
    ...(error === null ? [] : [{ field: 'url', ...error }]),
    ...typeFilterErrors(types, index => `eventTypes.${index}`),
  ]
}

/**
 * Creates an endpoint. It receives the events after `startAfter`.
 *
 * @returns the endpoint and its secret, which is not shown again
 * @throws DomainError 'invalid' for a position after the end of the feed; 'events-removed' when events after the
 *   position were removed because of their age; 'limit-reached' when the account has the maximum number of endpoints;
 *   'too-many' after too many changes within an hour
 */
export async function createEndpoint(
  deps: EndpointDeps & By,
  account: Account,
  { startAfter, ...fields }: Fields & { startAfter: number | 'now' },
): Promise<store.Endpoint & { secret: string }> {
  await deps.countSettingsChange(deps.origin, ownerOf({ accountType: account.type, accountId: account.id }))
  return deps.database.transaction(async transaction => {
    await store.lockAccount(transaction, account)
    const position = await startOf(transaction, account, startAfter)
    if ((await store.findEndpoints(transaction, account)).length >= store.maxEndpoints)
      throw new DomainError('limit-reached', `An account has at most ${store.maxEndpoints} endpoints`)
    const endpointId = randomUUID()
    const { url, description = null, eventTypes = null, order = 'concurrent' } = withoutRepetitions(fields)
    await store.insertEndpoint(transaction, { endpointId, account, url, description, eventTypes, order, position })
    const secret = await addSecret(transaction, deps.sealer, endpointId)
    const endpoint = await readEndpoint(transaction, account, endpointId)
    await note(transaction, deps.origin, {
      action: 'endpoint.created',
      endpoint,
      change: { url: [null, originOfUrl(url)], secret: [null, fingerprint(secret)] },
    })
    return { ...endpoint, secret }
  })
}

/** The fields, without repeated event types. */
const withoutRepetitions = <Some extends Partial<Fields>>(fields: Some): Some =>
  fields.eventTypes ? { ...fields, eventTypes: [...new Set(fields.eventTypes)] } : fields

async function startOf(transaction: Queryable, account: Account, startAfter: number | 'now'): Promise<number> {
  const { last } = await findFeed(transaction, account)
  if (startAfter === 'now') return last
  if (startAfter > last) throw new DomainError('invalid', [broken('startAfter', 'max', { max: last })])
  await requireFeed({ database: transaction }, account, startAfter, undefined)
  return startAfter
}

async function addSecret(transaction: Queryable, sealer: Sealer, endpointId: string): Promise<string> {
  const secret = makeSecret()
  const secretId = randomUUID()
  const sealed = sealer.seal(secret, placeOf(endpointId, secretId))
  await store.insertSecret(transaction, { endpointId, secretId, sealed })
  return shownSecret(secret)
}

const fingerprint = (shown: string): string => fingerprintOf(hashSecret(shown))

/**
 * Changes the given fields of an endpoint.
 *
 * @param requireExpected checks the version of the locked endpoint. It returns nothing, and throws when the caller has seen another
 *   version
 * @throws DomainError 'not-found' when the account has no such endpoint; 'too-many' after too many changes within an hour; and the
 *   error of `requireExpected`
 */
export async function changeEndpoint(
  { database, countSettingsChange, origin }: Omit<EndpointDeps, 'urls'> & By,
  account: Account,
  {
    endpointId,
    requireExpected,
    ...wanted
  }: { endpointId: string; change: Partial<Fields>; requireExpected(endpoint: store.Endpoint): void },
): Promise<store.Endpoint> {
  const change = withoutRepetitions(wanted.change)
  const seen = await readEndpoint(database, account, endpointId)
  requireExpected(seen)
  if (changedNames(seen, change).length > 0) await countSettingsChange(origin, ownerOf(seen))
  return database.transaction(async transaction => {
    const before = await lockEndpoint(transaction, account, endpointId)
    requireExpected(before)
    const names = changedNames(before, change)
    if (names.length === 0) return before
    await store.updateEndpoint(transaction, endpointId, change)
    const values = Object.fromEntries(names.map(name => [name, shownChange(name, before, change)]))
    await note(transaction, origin, { action: 'endpoint.changed', endpoint: before, change: values })
    return readEndpoint(transaction, account, endpointId)
  })
}

const changedNames = (before: store.Endpoint, change: Partial<Fields>): (keyof Fields)[] =>
  (Object.keys(change) as (keyof Fields)[]).filter(name => !isDeepStrictEqual(before[name], change[name]))

/**
 * The change of a field for the audit log. A URL is shortened to its origin, because its path or query may contain a
 * partner's secret.
 */
function shownChange(name: keyof Fields, before: store.Endpoint, after: Partial<Fields>): EntryChange[string] {
  if (name === 'eventTypes') return listChange(before.eventTypes, after.eventTypes ?? null)
  const shown = (value: string | null | undefined) => (name === 'url' && value ? originOfUrl(value) : (value ?? null))
  return [shown(before[name]), shown(after[name])]
}
const originOfUrl = (url: string): string => new URL(url).origin

export type Switching = { endpointId: string; by: 'partner' | 'operator' }

/**
 * Enables an endpoint. It continues at its position, or with the events from now on.
 *
 * @param account null: the operator acts, on any account's endpoint
 * @throws DomainError 'not-found' when there is no such endpoint; 'conflict' for a partner whose endpoint the operator has disabled;
 *   'events-removed' when events after the endpoint's position were removed because of their age
 */
export function enableEndpoint(
  { database, clock, origin }: Pick<EndpointDeps, 'database' | 'clock'> & By,
  account: Account | null,
  { endpointId, by, resume }: Switching & { resume: 'position' | 'now' },
): Promise<store.Endpoint> {
  return database.transaction(async transaction => {
    const endpoint = await lockEndpoint(transaction, account, endpointId)
    if (endpoint.disabledReason === 'operator' && by === 'partner')
      throw new DomainError('conflict', 'The operator has disabled this endpoint, and only the operator enables it')
    if (endpoint.status === 'enabled') return endpoint
    if (resume === 'position' && endpoint.position < endpoint.removedThrough)
      throw new DomainError(
        'events-removed',
        'Events since it was disabled are over their retention: resume with now',
        {
          facts: { oldestSequence: endpoint.removedThrough + 1 },
        },
      )
    if (resume === 'now') await store.skipPending(transaction, endpointId)
    const position = resume === 'now' ? endpoint.lastSequence : endpoint.position
    await store.enableEndpoint(transaction, { endpointId, position })
    const state = { reason: null, failingSince: null }
    await recordEvents(transaction, [endpointEvent('endpoint.enabled', endpoint, state, clock.now())])
    await note(transaction, origin, { action: 'endpoint.enabled', endpoint, change: { resume: [null, resume] } })
    return readEndpoint(transaction, account, endpointId)
  })
}

/** Disables an endpoint. If the operator does it, only the operator can enable it again. */
export function disableEndpoint(
  { database, clock, origin }: Pick<EndpointDeps, 'database' | 'clock'> & By,
  account: Account | null,
  { endpointId, by }: Switching,
): Promise<store.Endpoint> {
  return database.transaction(async transaction => {
    const endpoint = await lockEndpoint(transaction, account, endpointId)
    if (endpoint.status === 'disabled' && (by === 'partner' || endpoint.disabledReason === 'operator')) return endpoint
    await disable(transaction, endpoint, { reason: by, now: clock.now() }, origin)
    return readEndpoint(transaction, account, endpointId)
  })
}

/**
 * Records that an endpoint is disabled and writes the event.
 *
 * @param transaction holds the endpoint's lock
 * @param disabling.now by the platform's clock, read while the lock is held
 */
export async function disable(
  transaction: Queryable,
  endpoint: Pick<store.Endpoint, 'endpointId' | 'accountType' | 'accountId' | 'failingSince'>,
  { reason, now }: { reason: store.DisabledReason; now: Date },
  origin: Origin = clockOrigin,
): Promise<void> {
  await note(transaction, origin, { action: 'endpoint.disabled', endpoint, change: { reason: [null, reason] } })
  await store.disableEndpoint(transaction, { endpointId: endpoint.endpointId, reason })
  const { failingSince } = endpoint
  await recordEvents(transaction, [endpointEvent('endpoint.disabled', endpoint, { reason, failingSince }, now)])
}

/**
 * Builds an event about an endpoint. Its time is never before `failingSince`, even if a process with a faster clock has
 * set `failingSince`.
 */
export function endpointEvent(
  type: 'endpoint.failing' | 'endpoint.disabled' | 'endpoint.enabled',
  { endpointId, accountType, accountId }: Pick<store.Endpoint, 'endpointId' | 'accountType' | 'accountId'>,
  { reason, failingSince }: { reason: store.DisabledReason | null; failingSince: Date | null },
  now: Date,
): RecordedEvent {
  const owner = { bank: { banks: [accountId] }, retailer: { merchants: [accountId] }, platform: {} }[accountType]
  const data = { endpointId, reason, failingSince: failingSince?.toISOString() ?? null }
  const at = failingSince !== null && failingSince > now ? failingSince : now
  return { type, at, ...owner, platform: true, data }
}

/**
 * Gives an endpoint a new secret. Until the overlap ends, requests are signed with both.
 *
 * @throws DomainError 'not-found' when there is no such endpoint; 'too-many' after too many changes within an hour
 */
export async function rotateSecret(
  { database, sealer, countSettingsChange, origin }: Omit<EndpointDeps, 'urls'> & By,
  account: Account | null,
  { endpointId, overlapMs }: { endpointId: string; overlapMs: number },
): Promise<{ endpoint: store.Endpoint; rotated: { secret: string; previousValidUntil: string } }> {
  await countSettingsChange(origin, ownerOf(await readEndpoint(database, account, endpointId)))
  return database.transaction(async transaction => {
    const endpoint = await lockEndpoint(transaction, account, endpointId)
    const ended = await store.endSecrets(transaction, endpoint.endpointId, overlapMs)
    const secret = await addSecret(transaction, sealer, endpoint.endpointId)
    const rotated = { secret, previousValidUntil: ended.validUntil.toISOString() }
    // A secret that cannot be decrypted can be rotated too. It has no fingerprint.
    const previous = openSecret(sealer, { endpointId: endpoint.endpointId, ...ended })
    const change = {
      secret: [previous && fingerprint(shownSecret(previous)), fingerprint(secret)],
      previousValidUntil: [null, rotated.previousValidUntil],
    } as const
    await note(transaction, origin, { action: 'endpoint.secret_rotated', endpoint, change })
    return { endpoint: await readEndpoint(transaction, account, endpointId), rotated }
  })
}

/**
 * Deletes an endpoint and keeps its log.
 *
 * @throws DomainError 'not-found' when there is no such endpoint
 */
export function removeEndpoint(
  { database, origin }: Pick<EndpointDeps, 'database'> & By,
  account: Account,
  endpointId: string,
): Promise<void> {
  return database.transaction(async transaction => {
    const endpoint = await lockEndpoint(transaction, account, endpointId)
    await note(transaction, origin, { action: 'endpoint.deleted', endpoint })
    await store.deleteEndpoint(transaction, endpointId)
  })
}
