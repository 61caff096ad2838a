/** Sends events of a feed again (contract/webhooks.md, "The log"). */
import { randomUUID } from 'node:crypto'
import type { Account } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { type BrokenRule, broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { typesOf } from '../events/catalogue.ts'
import { requireTypeFilters } from '../events/type-filters.ts'
import { requireForm } from '../form-errors.ts'
import { isDateAlone, readBound, readInstant } from '../text/instant.ts'
import { accountOfEndpoint, type Endpoint, isDeleted } from './endpoint-store.ts'
import { type By, lockEndpoint, note, readEndpoint } from './endpoints.ts'
import * as store from './replay-store.ts'

export type Replay = {
  endpointId: string
  /** The first and the last event to send again, both included. Each is the sequence or the timestamp of an event. */
  from: number | Date
  to: number | Date | null
  /** null: the types that the endpoint receives */
  types: string[] | null
  only: 'failed' | 'all'
}

const maxReplayed = 100_000
const dayMs = 86_400_000

/** The body of a replay. */
type ReplayForm = { from: number | string; to?: number | string; types?: string[]; only: Replay['only'] }

/**
 * Reads the body of a replay, and reports all errors at once.
 *
 * @param schemaErrors the errors of its schema
 * @throws DomainError 'invalid' for unknown types, a text that is no instant, and a range that ends before it begins
 */
export function readReplay(body: ReplayForm, schemaErrors: readonly BrokenRule[]): Omit<Replay, 'endpointId'> {
  // If the schema has refused the body, its content can be anything.
  const { from, to, types, only } = body ?? {}
  const readEdges = () => ({ from: readEdge('from', from), to: to === undefined ? null : readEdge('to', to) })
  requireForm(schemaErrors, [
    [['from'], () => readEdge('from', from)],
    [['to'], () => to !== undefined && readEdge('to', to)],
    [['from', 'to'], () => requireOrder(readEdges())],
    [['types'], () => requireTypeFilters(types ?? [], index => `types.${index}`)],
  ])
  return { ...readEdges(), types: types ?? null, only }
}

/**
 * Reads the first or last event of a replay. A date without a time means that whole day in UTC.
 *
 * @throws DomainError 'invalid' for a text that is no instant
 */
function readEdge(field: 'from' | 'to', input: number | string): number | Date {
  if (typeof input === 'number') return input
  const at = field === 'from' ? readBound(input) : readInstant(input)
  if (at === null) throw new DomainError('invalid', [broken(field, 'sequence-or-instant')])
  return field === 'to' && isDateAlone(input) ? new Date(at.getTime() + dayMs - 1) : at
}

/**
 * Sends events again. Each gets a new delivery as soon as there is room.
 *
 * @throws DomainError 'not-found' when there is no such endpoint; 'conflict' for a disabled or deleted endpoint; 'limit-reached' when
 *   10 of its replays are unfinished; 'invalid' when more than 100,000 events would be sent
 */
export function replayEvents(
  { database, origin }: { database: Database } & By,
  account: Account | null,
  given: Replay,
): Promise<{ replayId: string; deliveries: number }> {
  const which = { account, endpointId: given.endpointId }
  return database.transaction(async transaction => {
    const seen = await requireReplayable(transaction, which, readEndpoint)
    const replay = await rangeOf(transaction, seen, given)
    const counted = await count(transaction, seen, replay)
    // The count can take seconds, so lock the endpoint only after it. While the endpoint is locked, no process can
    // record successes, even of other accounts, because one statement records successes of several endpoints. The
    // number in the answer can be slightly wrong, because failed deliveries are selected later, when the events are
    // handed over.
    const endpoint = await requireReplayable(transaction, which, lockEndpoint)
    const { deliveries, first, last } = counted
    const found = { ...replay, from: first ?? replay.from, through: last ?? replay.through }
    if (deliveries > 0) await store.insertReplay(transaction, found)
    await note(transaction, origin, {
      action: 'endpoint.replayed',
      endpoint,
      change: { deliveries: [null, deliveries] },
    })
    return { replayId: replay.replayId, deliveries }
  })
}

function requireOrder({ from, to }: Pick<Replay, 'from' | 'to'>): void {
  const isReversed = typeof from === typeof to && to !== null && to < from
  if (isReversed) throw new DomainError('invalid', ['to must not be before from'])
}

/**
 * Checks that an endpoint is neither deleted nor disabled, and has room for a replay.
 *
 * @param read reads the endpoint, and may lock it
 * @throws DomainError 'conflict' for a deleted or disabled endpoint; 'limit-reached' when it has too many unfinished replays
 */
async function requireReplayable(
  transaction: Queryable,
  { account, endpointId }: { account: Account | null; endpointId: string },
  read: typeof readEndpoint,
): Promise<Endpoint> {
  if (await isDeleted(transaction, account, endpointId)) throw new DomainError('conflict', 'The endpoint is deleted')
  const endpoint = await read(transaction, account, endpointId)
  if (endpoint.status === 'disabled') throw new DomainError('conflict', 'The endpoint is disabled: enable it first')
  if ((await store.countReplays(transaction, endpointId)) >= store.maxReplays)
    throw new DomainError('limit-reached', `${store.maxReplays} replays of the endpoint are unfinished`)
  return endpoint
}

async function rangeOf(
  transaction: Queryable,
  endpoint: Endpoint,
  { from, to, types, only }: Replay,
): Promise<store.ReplayParams> {
  const owner = accountOfEndpoint(endpoint)
  const first = typeof from === 'number' ? from : await store.firstSequenceSince(transaction, owner, from)
  const last = to instanceof Date ? await store.lastSequenceUntil(transaction, owner, to) : to
  const wanted = types ?? endpoint.eventTypes
  return {
    replayId: randomUUID(),
    endpointId: endpoint.endpointId,
    from: first ?? endpoint.lastSequence + 1,
    through: Math.min(last ?? (to === null ? endpoint.lastSequence : 0), endpoint.lastSequence),
    since: from instanceof Date ? from : null,
    until: to instanceof Date ? to : null,
    types: wanted === null ? null : typesOf(wanted),
    onlyFailed: only === 'failed',
  }
}

/** Counts the deliveries of a replay. @throws DomainError 'invalid' when there are more than 100,000 */
async function count(transaction: Queryable, endpoint: Endpoint, replay: store.ReplayParams): Promise<store.Counted> {
  const counted = await store.countReplayed(transaction, accountOfEndpoint(endpoint), replay, maxReplayed + 1)
  if (counted.deliveries <= maxReplayed) return counted
  throw new DomainError('invalid', [broken('from', 'max-replayed', { max: maxReplayed })])
}
