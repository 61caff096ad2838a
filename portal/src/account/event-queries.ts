/** Queries of the pages about events, below `/partner/v1`. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import type { FeedEvent } from '../webhooks/types.ts'

/** Where a page of the feed begins: `through` is its newest sequence number, `oldest` is the oldest of the feed. */
type Place = { feedId: string; through: number; oldest: number }
/** `lookedTo`: the lowest sequence number that was examined. */
export type FeedPage = { data: FeedEvent[]; lookedTo: number; next: Place | null }

const pageSize = 50
/**
 * The number of events in a range if there is a filter. It is larger than a page, because most events may not match the
 * filter. A page reads at most `maxWindows` ranges.
 */
const windowSize = 1_000
const maxWindows = 10

/** The account's feed, newest first. @param type a type or a group (`order.*`); undefined: all */
export const feedQuery = (type: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['feed', type],
    initialPageParam: null as Place | null,
    queryFn: async ({ pageParam, signal }) => readBack(pageParam ?? (await findEnd(signal)), type, signal),
    getNextPageParam: ({ next }) => next,
  })

async function findEnd(signal: AbortSignal): Promise<Place> {
  const end = await answer(api.GET('/partner/v1/events', { params: { query: { after: 'now' } }, signal }))
  return { feedId: end.feedId, through: end.lastSequence, oldest: end.oldestSequence }
}

/**
 * Reads a page of the feed backwards. The API returns events only in ascending order, so we read ranges of events from
 * the end of the feed to its start, and reverse each range.
 */
async function readBack(place: Place, type: string | undefined, signal: AbortSignal): Promise<FeedPage> {
  const { feedId, oldest } = place
  const size = type === undefined ? pageSize : windowSize
  const data: FeedEvent[] = []
  let through = place.through
  for (let windows = 0; windows < maxWindows && data.length < pageSize && through >= oldest; windows++) {
    const after = Math.max(through - size, oldest - 1)
    data.push(...(await readWindow({ feedId, after, through }, type, signal)).reverse())
    through = after
  }
  return { data, lookedTo: through + 1, next: through >= oldest ? { ...place, through } : null }
}

type Window = { feedId: string; after: number; through: number }

/**
 * The events after `after` up to `through`, oldest first. One answer holds at most 1 MiB, so several requests may be
 * needed.
 */
async function readWindow(
  { feedId, after, through }: Window,
  type: string | undefined,
  signal: AbortSignal,
): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let at = after; at < through; ) {
    const query = { feedId, after: String(at), limit: through - at, ...(type !== undefined && { type: [type] }) }
    const { data, nextAfter } = await answer(api.GET('/partner/v1/events', { params: { query }, signal }))
    events.push(...data.filter(({ sequence }) => sequence <= through))
    if (nextAfter <= at) break
    at = nextAfter
  }
  return events
}
