/** Reading an account's feed (contract/events.md, "The feed"). */
import type { Account } from '../caller.ts'
import type { Database, Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { typesOf } from './catalogue.ts'
import { type Feed, findEvent, findEvents, findFeed } from './feed-store.ts'
import type { FeedWaiters } from './waiting.ts'

/** Numbers all events written so far. Waits while another process is numbering events. */
export type NumberAllEvents = () => Promise<void>

export type FeedDeps = { database: Database; waiters: FeedWaiters; numberAllEvents: NumberAllEvents }

export type FeedParams = {
  /** Events after this position are read. `now` reads no events and returns only the position of the current end. */
  after: number | 'now'
  limit: number
  /** Types and groups of types to read. They must exist. An empty list means all types. */
  types: readonly string[]
  waitSeconds: number
  /** The feed that `after` belongs to. */
  feedId: string | undefined
  /** Aborts when the reader closes the connection. */
  signal: AbortSignal
}

export type FeedPage = {
  /** The JSON texts of the events. Each element has one event or more, joined by commas (`feed-store.ts`). */
  texts: string[]
  count: number
  nextAfter: number
  lastSequence: number
  oldestSequence: number
  feedId: string
  hasMore: boolean
}

/** The maximum number of events that one answer with a filter examines. */
const maxExamined = 10_000
const maxBytes = 1024 * 1024

/**
 * A page of the feed, oldest event first.
 *
 * @throws DomainError 'feed-restarted' and 'events-removed' as `requireFeed`; 'too-many' when the request would wait,
 *   but too many requests of the account are already waiting
 */
export async function readFeed(deps: FeedDeps, account: Account, params: FeedParams): Promise<FeedPage> {
  const types = params.types.length === 0 ? null : typesOf(params.types)
  const { after } = params
  if (after === 'now') {
    // Number all recorded events first. Otherwise events of changes made before this request could later get a position
    // after the end that we return.
    await deps.numberAllEvents()
    return atEnd(await requireFeed(deps, account, null, params.feedId))
  }
  const first = await readPage(deps, account, { ...params, after, types })
  if (params.waitSeconds === 0 || first.count > 0 || first.hasMore) return first
  const endTurn = deps.waiters.take(account)
  try {
    return await untilFound(deps, account, { ...params, after, types }, first)
  } finally {
    endTurn()
  }
}

type ReadParams = Omit<FeedParams, 'after' | 'types'> & { after: number; types: readonly string[] | null }

async function untilFound(deps: FeedDeps, account: Account, params: ReadParams, first: FeedPage): Promise<FeedPage> {
  const endsAtMs = performance.now() + params.waitSeconds * 1000
  let page = first
  while (page.count === 0 && !page.hasMore) {
    const ms = endsAtMs - performance.now()
    const hasGrown = ms > 0 && (await deps.waiters.wait(account, page.nextAfter, ms, params.signal))
    // Read again even if the wait found no event: the feeds may have restarted meanwhile, and a restart does not end
    // the wait.
    page = await readPage(deps, account, { ...params, after: page.nextAfter })
    if (!hasGrown) break
  }
  return page
}

async function readPage(deps: FeedDeps, account: Account, params: ReadParams): Promise<FeedPage> {
  const { after, limit, types, feedId } = params
  const through = types === null ? Number.MAX_SAFE_INTEGER : after + maxExamined
  const { feed, texts, count, examined } = await findEvents(deps.database, account, { after, through, limit, types })
  requirePosition(feed, after, feedId)
  // If the page is too large, try half as many events. A page of one event fits, because no event is larger than the limit.
  if (texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0) > maxBytes)
    return readPage(deps, account, { ...params, limit: Math.floor(count / 2) })
  return { ...ends(feed), texts, count, nextAfter: examined, hasMore: examined < feed.last }
}

const ends = ({ feedId, last, removedThrough }: Feed) => ({
  lastSequence: last,
  oldestSequence: removedThrough + 1,
  feedId,
})
const atEnd = (feed: Feed): FeedPage => ({ ...ends(feed), texts: [], count: 0, nextAfter: feed.last, hasMore: false })

/**
 * Finds the feed of an account, and checks that it can be read from a position.
 *
 * @param after the position; null: the current end, which always exists
 * @param feedId the feed that the reader expects; undefined: any
 * @throws DomainError 'feed-restarted' for another feed, or for a position after its end; 'events-removed' when events
 *   after the position were removed because of their age
 */
export async function requireFeed(
  { database }: { database: Queryable },
  account: Account,
  after: number | null,
  feedId: string | undefined,
): Promise<Feed> {
  const feed = await findFeed(database, account)
  requirePosition(feed, after, feedId)
  return feed
}

function requirePosition(feed: Feed, after: number | null, feedId: string | undefined): void {
  if ((feedId !== undefined && feedId.toLowerCase() !== feed.feedId) || (after !== null && after > feed.last))
    throw new DomainError(
      'feed-restarted',
      'This feed has begun anew: read all objects again, then follow the new feed',
      {
        facts: { feedId: feed.feedId, lastSequence: feed.last },
      },
    )
  if (after !== null && after < feed.removedThrough)
    throw new DomainError('events-removed', `Events before ${feed.removedThrough + 1} are over their retention`, {
      facts: { oldestSequence: feed.removedThrough + 1 },
    })
}

/** @returns the event's JSON text @throws DomainError 'not-found', also for an event that was removed because of its age */
export async function readEvent(
  { database }: Pick<FeedDeps, 'database'>,
  account: Account,
  eventId: string,
): Promise<string> {
  const event = await findEvent(database, account, eventId)
  if (event === null) throw new DomainError('not-found', 'There is no such event')
  return event
}
